"""Many avatars in one tree, and what each leaves in the world: nothing."""

import base64
import gc
import logging
import subprocess
import sys
import weakref
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
import trio.testing

from avatar_actors import (
    Attachment,
    Avatar,
    AvatarStartError,
    BridgeResponse,
    BridgeState,
    DiagnosticEvent,
    EventStream,
    Outcome,
    SettingsError,
    TextEvent,
    open_avatar,
    open_runtime,
)
from supervisors import TreeNode
from tests.fake_agents import launcher
from tests.processes.census import offspring, open_fds
from tests.runtime.home import PATIENCE, Home, script, until

AGENTS = ["acp", "claude", "gemini-headless"]
SECRET = "sk-0a1b2c3d4e5f6g7h"


async def test_many_avatars_live_in_one_tree_and_keep_their_own_answers(home: Home) -> None:
    answers: dict[str, str] = {}
    async with home.runtime() as runtime:
        before = len(offspring())

        async def live(name: str) -> None:
            avatar = await runtime.start("embedded", name, **home.options())
            for number in range(3):
                answers[f"{name}{number}"] = (
                    await avatar.chat(script({"say": f"{name}{number}"}))
                ).content

        async with trio.open_nursery() as nursery:
            for number in range(12):
                nursery.start_soon(live, f"a{number}-")
        assert len(runtime.avatars()) == 12
        assert answers == {name: name for name in answers}
        assert len(answers) == 36
        paths = Counter(node.name for node in runtime.tree().walk())
        assert (paths["bridge"], paths["warden"]) == (12, 1)
        async with trio.open_nursery() as nursery:
            for avatar in runtime.avatars():
                nursery.start_soon(avatar.stop)
        assert runtime.avatars() == []
        assert len(offspring()) == before


async def test_the_tree_is_that_of_the_design(home: Home) -> None:
    async with home.runtime() as runtime:
        await runtime.start("embedded", "aria", **home.options())
        names = {
            node.path: [child.name for child in node.children] for node in _all(runtime.tree())
        }
        assert names["runtime"] == [
            "warden",
            "runtime budget",
            "event router",
            "event logger",
            "avatars",
        ]
        assert names["runtime/avatars"] == ["aria"]
        avatar = names["runtime/avatars/aria"]
        assert avatar[-1] == "session"
        assert {"activity tracker", "rate limiter", "gatekeeper", "turn queue"} <= set(avatar)
        assert {"gatekeeper", "turn queue"} <= set(avatar)
        session = names["runtime/avatars/aria/session"]
        assert (session[0], session[-1]) == ("agent process", "bridge")


def _all(tree: TreeNode) -> list[TreeNode]:
    return list(tree.walk())


async def test_messages_that_nobody_reads_are_counted(home: Home) -> None:
    async with home.runtime() as runtime:
        assert runtime.dead_letters == 0
        avatar = await runtime.start("embedded", **home.options())
        turn_queue = next(node for node in runtime.tree().walk() if node.name == "turn queue")
        await avatar.stop()
        await turn_queue.address.tell("a letter")
        assert runtime.dead_letters > 0


async def test_the_number_of_avatars_is_limited(home: Home) -> None:
    with trio.fail_after(PATIENCE):
        async with open_runtime(max_avatars=1) as runtime:
            aria = await runtime.start("embedded", "aria", **home.options())
            with pytest.raises((AvatarStartError, SettingsError)):
                await runtime.start("embedded", "bert", **home.options())
            await aria.stop()
            bert = await runtime.start("embedded", "bert", **home.options())
            assert (await bert.chat(script({"say": "x"}))).success


@pytest.mark.parametrize("checkpoints", range(4))
async def test_a_stop_whose_caller_is_cancelled_goes_on(home: Home, checkpoints: int) -> None:
    async with home.runtime() as runtime:
        aria = await runtime.start("embedded", "aria", **home.options())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(aria.stop)
            for _ in range(checkpoints):
                await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
        await aria.wait()
        assert runtime.avatars() == []


async def test_a_name_is_free_again_after_its_avatar_stopped(home: Home) -> None:
    async with home.runtime() as runtime:
        for number in range(3):
            aria = await runtime.start("embedded", "aria", **home.options())
            assert (await aria.chat(script({"say": str(number)}))).content == str(number)
            await aria.stop()


async def test_an_avatar_lives_for_the_length_of_its_block(home: Home) -> None:
    with trio.fail_after(PATIENCE):
        async with open_avatar(**home.options()) as avatar:
            assert (await avatar.health()).state is BridgeState.READY
        assert avatar.is_down


async def test_avatars_that_come_and_go_leave_no_memory_behind(home: Home) -> None:
    def cells() -> int:
        gc.collect()
        return sum(type(each).__name__ in {"Cell", "EventStream"} for each in gc.get_objects())

    async with home.runtime() as runtime:
        counts: list[int] = []
        for number in range(4):
            avatar = await runtime.start("embedded", f"a{number}", **home.options())
            await avatar.chat(script({"say": "x"}))
            await avatar.stop()
            del avatar
            await trio.testing.wait_all_tasks_blocked()
            counts.append(cells())
        # The last one may still be held by a frame that is on its way out.
        assert counts[-1] <= counts[0] + 2, counts


async def test_avatars_that_were_stopped_are_let_go_without_another_start(home: Home) -> None:
    async with home.runtime() as runtime:
        avatars = [await runtime.start("embedded", **home.options()) for _ in range(3)]
        remembered = [weakref.ref(avatar) for avatar in avatars]
        async with trio.open_nursery() as nursery:
            while avatars:
                nursery.start_soon(avatars.pop().stop)
        await trio.testing.wait_all_tasks_blocked()
        gc.collect()
        assert [each() for each in remembered] == [None, None, None]


async def test_cancelled_subscribers_leave_no_stream_behind(home: Home) -> None:
    def streams() -> int:
        gc.collect()
        return sum(type(each) is EventStream for each in gc.get_objects())

    async with home.avatar() as aria:
        # Earlier tests of this process may have left some.
        before = streams()
        for _ in range(70):
            with trio.CancelScope() as scope:
                scope.cancel()
                async with aria.events():
                    pass
            with trio.CancelScope() as scope:
                scope.cancel()
                await aria.chat(script({"say": "never"}))
        await aria.chat(script({"say": "x"}))
        assert streams() <= before + 2
        assert (await aria.health()).waiting == 0


@pytest.mark.parametrize("agent", AGENTS)
async def test_the_working_directory_stays_as_it_was(home: Home, agent: str) -> None:
    home.put("README.md", "a project")
    async with home.avatar(agent=agent, system_prompt="Be kind.") as aria:
        assert (await aria.chat("what does this project do?")).success
        await home.kill(aria)
        await aria.chat(script({"say": "x"}))
    # The fixture compares the directory with what was put there.


async def test_the_agent_sees_only_what_it_was_given(home: Home) -> None:
    async with home.avatar(env={"GIVEN": "yes"}) as aria:
        said = await aria.chat(
            script({"echo": "env:GIVEN"}, {"say": "|"}, {"echo": "env:PYTEST_CURRENT_TEST"})
        )
    assert said.content.split("|")[0] == "yes"
    assert "test_the_agent_sees" not in said.content


async def test_a_secret_reaches_neither_an_event_nor_a_log(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    start = {"stderr": f"using key {SECRET} now\n"}
    async with (
        home.avatar(start, env={"MY_API_KEY": SECRET}) as aria,
        aria.events(capacity=10_000) as events,
    ):
        await home.kill(aria)
        await until(events, DiagnosticEvent, lambda e: "using key [secret] now" in e.message)
        garbage = base64.b64encode(f"debug: {SECRET} on stdout\n".encode()).decode()
        await aria.chat(script({"raw": {"base64": garbage}}, {"say": "x"}))
        await aria.chat(script({"raw": {"base64": garbage}}, {"kill": "SIGKILL"}))
        await aria.chat(script({"say": "again"}))
        await aria.stop()
        lines = [msgspec.json.encode(event).decode() async for event in events]
    assert len(lines) > 10
    assert [line for line in lines if SECRET in line] == []
    assert SECRET not in caplog.text


async def test_capabilities_are_what_the_agent_said(home: Home) -> None:
    told: dict[str, Any] = {}
    async with home.runtime() as runtime:
        for agent in AGENTS:
            avatar = await runtime.start(launcher.agent(agent), agent, **home.options())
            told[agent] = await avatar.capabilities()
        cannot = await runtime.start("embedded", **home.options({"no_load": True}))
        assert told["acp"].can_load_session
        assert not (await cannot.capabilities()).can_load_session
    assert told["acp"].agent == "avatar-embedded"
    assert {each.containment for each in told.values()} == {"subreaper"}
    assert (told["claude"].steering, told["acp"].steering) == (True, False)


async def test_an_attachment_that_is_accepted_arrives_and_another_is_a_clear_error(
    home: Home,
) -> None:
    text = Attachment("text/plain", b"the attached words", "notes.txt")
    sound = Attachment("audio/wav", b"RIFF", "a.wav")
    async with home.avatar() as aria:
        accepted = (await aria.capabilities()).attachments
        answer = await aria.chat(script({"echo": "prompt"}), attachments=(text,))
        assert answer.success
        assert "text" in accepted
        refused = await aria.chat(script({"say": "x"}), attachments=(sound,))
        assert (refused.outcome, "audio" in refused.error) == (Outcome.REJECTED, True)
        assert (await aria.chat(script({"say": "next"}))).content == "next"


async def test_history_holds_whole_pairs_up_to_its_limit(home: Home) -> None:
    async with home.avatar(max_history=4) as aria:
        for word in ("one", "two", "three"):
            await aria.chat(script({"say": word}))
        history = await aria.history()
        assert [message.role for message in history] == ["user", "assistant"] * 2
        assert [message.content for message in history][1::2] == ["two", "three"]
        await aria.clear_history()
        assert await aria.history() == ()
        assert (await aria.chat(script({"echo": "history"}))).content.count("one") >= 1


async def test_health_counts_what_happened(home: Home) -> None:
    async with home.avatar() as aria, aria.turn(script({"say": "go"}, {"wait": 60})) as turn:
        await until(turn, TextEvent)
        async with aria.turn("waits"):
            busy = await aria.health()
        assert (busy.state, busy.waiting, busy.is_healthy) == (BridgeState.BUSY, 1, True)
        await turn.interrupt()
        await turn.wait()
        idle = await aria.health()
        assert idle.pid in offspring()
        assert (idle.turns, idle.restarts, idle.returncode) == (1, 0, None)
        assert idle.uptime_seconds > 0


async def test_a_hundred_cancelled_turns_leave_no_descriptor(home: Home) -> None:
    async with home.avatar() as aria:
        await aria.chat(script({"say": "x"}))
        before = open_fds()
        for _ in range(100):
            with trio.move_on_after(0.001):
                await aria.chat(script({"wait": 1}))
        assert open_fds() <= before


LIGHT = """
import sys, avatar_actors
heavy = {"pydantic", "trio_asyncio", "click", "rich", "acp", "trio", "msgspec"} & set(sys.modules)
assert not heavy, heavy
from avatar_actors import open_avatar
heavy = {"pydantic", "trio_asyncio", "click", "rich", "acp", "asyncio"} & set(sys.modules)
assert not heavy, heavy
"""
EMBEDDED = """
import sys
from avatar_actors.programs.embedded import program
heavy = {"pydantic", "trio", "msgspec", "asyncio", "supervisors"} & set(sys.modules)
assert not heavy, heavy
"""


@pytest.mark.parametrize(("flags", "code"), [(["-I"], LIGHT), (["-I", "-S"], EMBEDDED)])
def test_an_import_is_light(flags: list[str], code: str) -> None:
    root = Path(__file__).resolve().parents[2]
    program = f"import sys; sys.path.insert(0, {str(root)!r})\n{code}"
    subprocess.run([sys.executable, *flags, "-c", program], check=True, timeout=60)


async def test_a_cancelled_runtime_ends_its_turns_and_says_why(home: Home) -> None:
    answers: list[BridgeResponse] = []

    async def ask(aria: Avatar) -> None:
        answers.append(await aria.chat(script({"say": "go"}, {"wait": 60})))

    async with trio.open_nursery() as nursery:
        with trio.CancelScope() as scope:
            async with home.runtime() as runtime:
                aria = await runtime.start("embedded", **home.options())
                async with aria.events(TextEvent) as texts:
                    nursery.start_soon(ask, aria)
                    await until(texts, TextEvent)
                    scope.cancel()
    [answer] = answers
    assert (answer.outcome, answer.content) == (Outcome.CANCELLED, "go")
    assert answer.error == "the runtime stops"
