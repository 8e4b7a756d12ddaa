"""Stored sessions of whole avatars: listed, continued, forked; on real processes of each wire."""

import json
import sys

import msgspec
import pytest

from avatar_actors import (
    Avatar,
    AvatarStartError,
    Continuity,
    ContinuityEvent,
    DiagnosticEvent,
    Outcome,
    Provider,
    UnknownRequest,
    Unsupported,
    list_sessions,
)
from avatar_actors.providers.embedded import embedded_provider
from tests.fake_agents import launcher
from tests.runtime.home import Home, script, until
from tests.thorough import for_conformance

FORKING = ["acp", pytest.param("claude", marks=for_conformance)]
AGENTS = [*FORKING, pytest.param("gemini-headless", marks=for_conformance)]
NOBODY = "00000000-0000-4000-8000-000000000000"
# An agent that says that it can resume sessions, and exits when it is asked to.
DIES_AT_RESUME = """
import json, sys
answers = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}},
    "session/new": {"sessionId": "s-1"},
    "session/prompt": {"stopReason": "end_turn"},
}
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "session/load":
        sys.exit("out of memory")
    print(json.dumps({"id": asked["id"], "result": answers[asked["method"]]}), flush=True)
"""


async def memory(aria: Avatar) -> list[str]:
    """The prompts that the agent remembers."""
    answer = await aria.chat(script({"echo": "history"}))
    assert answer.outcome is Outcome.COMPLETED, answer.error
    said = [line["text"] for line in json.loads(answer.content) if line["role"] == "user"]
    return [text for text in said if "SCRIPT" not in text]


async def told(home: Home, agent: str, *prompts: str) -> str:
    """An earlier avatar that was told this; its session's id."""
    async with home.avatar(agent=agent) as aria:
        answers = [await aria.chat(prompt) for prompt in prompts]
        assert all(answer.success for answer in answers)
        return answers[-1].session_id


def without_store(agent: str = "acp") -> Provider:
    """An agent of which only the protocol tells the sessions; Gemini does not list them."""
    return msgspec.structs.replace(launcher.agent(agent), name="stranger", store=None)


@pytest.mark.parametrize("agent", AGENTS)
async def test_sessions_are_listed_with_titles_the_last_first(home: Home, agent: str) -> None:
    first = await told(home, agent, "about flowers", "and trees")
    second = await told(home, agent, "about boats")
    (home.work.parent / "other").mkdir()
    async with home.avatar(agent=agent) as aria:
        sessions = await aria.sessions()
    assert [(each.session_id, each.title) for each in sessions] == [
        (second, "about boats"),
        (first, "about flowers"),
    ]
    assert {each.working_dir for each in sessions} == {str(home.work)}
    assert all(each.created_at and each.updated_at for each in sessions)
    env = {"AVATAR_EMBEDDED_HOME": str(home.store)}
    assert list_sessions("embedded", home.work, env).sessions == sessions
    assert list_sessions("embedded", home.work.parent, env).sessions == ()
    assert list_sessions("embedded", None, env, limit=1).sessions == sessions[:1]


async def test_a_damaged_store_is_a_diagnostic_and_the_rest_is_listed(home: Home) -> None:
    whole = await told(home, "claude", "about flowers")
    (home.store / "damaged.jsonl").write_bytes(b"\xff\x00" * 1000)
    async with (
        home.avatar(agent="claude") as aria,
        aria.events(DiagnosticEvent) as remarks,
    ):
        assert [each.session_id for each in await aria.sessions()] == [whole]
        remark = await until(remarks, DiagnosticEvent, lambda event: event.source == "sessions")
        assert "damaged.jsonl" in remark.message


async def test_an_agent_without_a_list_and_a_store_says_so(home: Home) -> None:
    async with home.runtime() as runtime:
        aria = await runtime.start(without_store("gemini"), **home.options())
        with pytest.raises(Unsupported, match="stranger lists no sessions"):
            await aria.sessions()
    [remark] = list_sessions(without_store(), home.work).diagnostics
    assert "avatar.sessions()" in remark


@pytest.mark.parametrize("agent", AGENTS)
async def test_a_start_continues_the_last_session_of_the_directory(home: Home, agent: str) -> None:
    await told(home, agent, "about flowers")
    last = await told(home, agent, "about boats")
    elsewhere = home.work.parent / "elsewhere"
    elsewhere.mkdir()
    async with home.avatar(agent=agent, working_dir=elsewhere) as aria:
        await aria.chat("about another place")
    async with home.avatar(agent=agent, continue_last=True) as aria:
        assert (await aria.capabilities()).can_continue_last
        assert (await aria.health()).session_id == last
        assert await memory(aria) == ["about boats"]


@pytest.mark.parametrize("agent", AGENTS)
async def test_a_continued_session_survives_a_crash_before_its_first_prompt(
    home: Home, agent: str
) -> None:
    last = await told(home, agent, "about boats")
    async with home.avatar(agent=agent, continue_last=True) as aria:
        await home.kill_when_ready(aria)
        assert await memory(aria) == ["about boats"]
        assert (await aria.health()).session_id == last


async def test_what_only_the_protocol_lists_is_continued_too(home: Home) -> None:
    await told(home, "acp", "about flowers")
    last = await told(home, "acp", "about boats")
    async with home.runtime() as runtime:
        aria = await runtime.start(without_store(), **home.options(continue_last=True))
        assert (await aria.capabilities()).can_continue_last
        assert (await aria.health()).session_id == last
        assert await memory(aria) == ["about boats"]
        assert [each.title for each in await aria.sessions()] == ["about boats", "about flowers"]


@pytest.mark.parametrize("provider", [embedded_provider(), without_store()])
async def test_where_nothing_was_said_a_new_session_begins_and_is_told(
    home: Home, provider: Provider
) -> None:
    async with home.runtime() as runtime:
        aria = await runtime.start(provider, "aria", **home.options(continue_last=True))
        health = await aria.health()
        assert health.continuity is Continuity.FRESH
        assert health.continuity_why == f"there is no earlier session of {home.work}"
        assert (await aria.chat("2+2")).content == "4"


@pytest.mark.parametrize("agent", FORKING)
async def test_a_last_session_that_cannot_be_resumed_is_replaced_and_told(
    home: Home, agent: str
) -> None:
    await told(home, agent, "about flowers")
    lost = {"lose_sessions": True}
    async with home.avatar(lost, agent=agent, continue_last=True) as aria:
        health = await aria.health()
        assert health.continuity is Continuity.FRESH
        assert "found" in health.continuity_why
        assert await memory(aria) == []


@pytest.mark.parametrize("agent", AGENTS)
async def test_a_living_avatar_continues_the_last_other_session(home: Home, agent: str) -> None:
    await told(home, agent, "about flowers")
    last = await told(home, agent, "about boats")
    async with home.avatar(agent=agent) as aria:
        mine = (await aria.chat("about me")).session_id
        assert (await aria.continue_last()).session_id == last
        assert await memory(aria) == ["about boats"]
        assert (await aria.continue_last()).session_id == mine
        assert await memory(aria) == ["about me"]


async def test_without_another_session_there_is_nothing_to_continue(home: Home) -> None:
    async with home.avatar() as aria:
        await aria.chat("about me")
        with pytest.raises(UnknownRequest, match="no other session"):
            await aria.continue_last()
        assert await memory(aria) == ["about me"]


@pytest.mark.parametrize("agent", FORKING)
async def test_a_fork_goes_on_and_leaves_the_original_as_it_was(home: Home, agent: str) -> None:
    async with (
        home.avatar(agent=agent) as aria,
        aria.events(ContinuityEvent) as continuity,
    ):
        original = (await aria.chat("about flowers")).session_id
        fork = await aria.fork()
        assert fork
        assert fork != original
        event = await until(continuity, ContinuityEvent)
        assert (event.continuity, event.session_id) == (Continuity.RESUMED, fork)
        assert event.why == f"a fork of {original}"
        await aria.chat("only in the fork")
        assert await memory(aria) == ["about flowers", "only in the fork"]
        assert (await aria.health()).session_id == fork
        assert {original, fork} <= {each.session_id for each in await aria.sessions()}
        await aria.resume(original)
        assert await memory(aria) == ["about flowers"]


@pytest.mark.parametrize("agent", FORKING)
async def test_any_stored_session_can_be_forked(home: Home, agent: str) -> None:
    old = await told(home, agent, "about flowers")
    async with home.avatar(agent=agent) as aria:
        fork = await aria.fork(old)
        assert fork not in {old, ""}
        assert await memory(aria) == ["about flowers"]


@pytest.mark.parametrize("agent", FORKING)
async def test_an_avatar_can_begin_with_a_fork(home: Home, agent: str) -> None:
    old = await told(home, agent, "about flowers")
    async with home.avatar(agent=agent, fork=old) as aria:
        health = await aria.health()
        assert health.session_id not in {old, ""}
        assert health.continuity_why == f"a fork of {old}"
        await aria.chat("only in the fork")
        assert await memory(aria) == ["about flowers", "only in the fork"]
        await aria.resume(old)
        assert await memory(aria) == ["about flowers"]


@pytest.mark.parametrize("agent", ["gemini-headless", "codex-zed"])
async def test_who_cannot_fork_does_not_begin_with_one(home: Home, agent: str) -> None:
    with pytest.raises(AvatarStartError, match="cannot fork"):
        async with home.avatar(agent=agent, fork=NOBODY):
            pass


@pytest.mark.parametrize("agent", FORKING)
async def test_a_fork_in_which_nothing_was_said_survives_a_crash(home: Home, agent: str) -> None:
    old = await told(home, agent, "about flowers")
    async with home.avatar(agent=agent) as aria:
        await aria.fork(old)
        await home.kill_when_ready(aria)
        assert await memory(aria) == ["about flowers"]
        assert (await aria.health()).session_id not in {old, ""}
        await home.kill_when_ready(aria)
        assert await memory(aria) == ["about flowers"]


@pytest.mark.parametrize("agent", ["gemini-headless", "codex-zed"])
async def test_who_cannot_fork_says_so_and_goes_on(home: Home, agent: str) -> None:
    async with home.avatar(agent=agent) as aria:
        await aria.chat("about flowers")
        before = (await aria.health()).pid
        with pytest.raises(Unsupported, match="cannot fork"):
            await aria.fork()
        assert (await aria.health()).pid == before
        assert await memory(aria) == ["about flowers"]


@pytest.mark.parametrize("agent", FORKING)
async def test_a_fork_of_nothing_is_refused_and_the_avatar_goes_on_fresh(
    home: Home, agent: str
) -> None:
    async with home.avatar(agent=agent) as aria:
        await aria.chat("about flowers")
        with pytest.raises(AvatarStartError):
            await aria.fork(NOBODY)
        assert (await aria.health()).continuity is Continuity.FRESH
        assert await memory(aria) == []


async def test_before_anything_was_said_claude_has_nothing_to_fork(home: Home) -> None:
    async with home.avatar(agent="claude") as aria:
        with pytest.raises(UnknownRequest, match="nothing to fork"):
            await aria.fork()


async def test_an_agent_that_dies_of_a_stored_session_is_not_asked_for_it_again(home: Home) -> None:
    async with home.runtime() as runtime:
        aria = await runtime.start(
            "acp",
            **home.options(executable=sys.executable, args=("-I", "-S", "-c", DIES_AT_RESUME)),
        )
        with pytest.raises(AvatarStartError, match="out of memory"):
            await aria.resume(NOBODY)
        health = await aria.health()
        assert health.continuity is Continuity.FRESH
        assert "out of memory" in health.continuity_why
        assert (await aria.chat("go on")).success
