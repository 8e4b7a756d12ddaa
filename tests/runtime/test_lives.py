"""Crashes, restarts, continuity, stored sessions, stalls: what outlives a process."""

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import trio

from avatar_actors import (
    AgentNeedsLogin,
    AgentNotFound,
    AgentRefused,
    AvatarDown,
    AvatarEvent,
    AvatarStartError,
    BridgeState,
    Continuity,
    ContinuityEvent,
    ErrorEvent,
    EventStream,
    Outcome,
    PermissionEvent,
    Restarts,
    Runtime,
    SettingsError,
    StallEvent,
    StallVerdict,
    StateEvent,
    SupervisionEvent,
    TextEvent,
    Timeouts,
    ToolEvent,
    ToolStatus,
    TurnEndedEvent,
    TurnStartedEvent,
)
from supervisors.testing import freeze
from tests.fake_agents import launcher
from tests.processes.census import eventually, offspring, open_fds
from tests.runtime.home import Home, all_of, script, until

NOBODY = "11111111-1111-4111-8111-111111111111"
GO: dict[str, Any] = {"say": "go"}
WAIT: dict[str, Any] = {"wait": 60}
QUICK = Restarts(max_restarts=2, first_delay=0.001, max_delay=0.01)
DEATHS: list[dict[str, Any]] = [
    {"kill": "SIGKILL"},
    {"exit": 0},
    {"exit": 3},
    {"close": "stdout"},
    {"kill": 40},
]


@pytest.mark.parametrize("number", range(len(DEATHS)))
async def test_a_death_in_a_turn_is_a_crash_with_what_was_said(home: Home, number: int) -> None:
    tool = {"tool": "Write", "id": "t", "leave": True}
    async with home.avatar() as aria, aria.turn(script(GO, tool, DEATHS[number])) as turn:
        events = await all_of(turn)
        assert (turn.outcome, turn.text) == (Outcome.CRASHED, "go")
        assert turn.reason
        assert turn.ended is not None
        assert len(turn.ended.unknown_tools) == 1
        assert not turn.ended.can_retry
        tools = [event for event in events if isinstance(event, ToolEvent)]
        assert tools[-1].status is ToolStatus.UNKNOWN
        assert (await aria.chat(script({"say": "next"}))).content == "next"


@pytest.mark.parametrize("fault", [{"close": "stdout"}, {"kill": "SIGKILL"}, {"exit": 0}])
async def test_a_lost_session_is_an_error_whatever_the_process_does(
    home: Home, fault: dict[str, Any]
) -> None:
    async with home.avatar() as aria, aria.events(StateEvent, ErrorEvent) as events:
        assert (await aria.chat(script(GO, fault))).outcome is Outcome.CRASHED
        assert (await aria.chat(script({"say": "next"}))).success
        seen: list[BridgeState] = []
        while seen[-1:] != [BridgeState.WARMING_UP]:
            seen.append((await until(events, StateEvent)).new_state)
        assert seen == [BridgeState.BUSY, BridgeState.ERROR, BridgeState.WARMING_UP]


async def test_a_deaf_agent_is_an_error_too(home: Home) -> None:
    timeouts = Timeouts(interrupt=0.2, stop=0.2)
    async with home.avatar(timeouts=timeouts) as aria, aria.events(ErrorEvent) as errors:
        async with aria.turn(script({"ignore_cancel": True}, GO, WAIT)) as turn:
            await until(turn, TextEvent)
            await turn.interrupt()
        error = await until(errors, ErrorEvent)
        assert error.recoverable
        assert "stopped" not in error.error


async def test_a_crash_before_any_tool_may_be_tried_again_and_nothing_is_sent_twice(
    home: Home,
) -> None:
    async with home.avatar() as aria:
        answer = await aria.chat(script(GO, {"kill": "SIGKILL"}))
        assert (answer.outcome, answer.can_retry) == (Outcome.CRASHED, True)
        history = await aria.chat(script({"echo": "history"}))
        assert history.content.count("SIGKILL") <= 1


@pytest.mark.parametrize("agent", ["acp", "claude"])
async def test_after_a_crash_the_session_is_resumed_and_said_to_be(home: Home, agent: str) -> None:
    async with (
        home.avatar(agent=agent) as aria,
        aria.events(ContinuityEvent) as continuity,
    ):
        first = await aria.chat(script({"say": "remember me"}))
        assert (await aria.chat(script(GO, {"kill": "SIGKILL"}))).outcome is Outcome.CRASHED
        event = await until(continuity, ContinuityEvent)
        assert event.continuity is Continuity.RESUMED
        assert event.session_id == first.session_id
        answer = await aria.chat(script({"echo": "history"}))
        assert "remember me" in answer.content


@pytest.mark.parametrize("fault", [{"no_load": True}, {"lose_sessions": True}])
async def test_a_session_that_is_lost_is_said_to_be_fresh_with_why(
    home: Home, fault: dict[str, Any]
) -> None:
    async with home.avatar(fault) as aria, aria.events(ContinuityEvent) as continuity:
        first = await aria.chat(script({"say": "remember me"}))
        await aria.chat(script({"kill": "SIGKILL"}))
        answer = await aria.chat(script({"echo": "history"}))
        event = await until(continuity, ContinuityEvent)
        assert event.continuity is Continuity.FRESH
        assert event.why
        assert "remember me" not in answer.content
        assert answer.session_id == event.session_id != first.session_id


async def test_a_death_before_a_word_was_said_is_fresh(home: Home) -> None:
    async with home.avatar() as aria, aria.events(ContinuityEvent) as continuity:
        await home.kill(aria)
        event = await until(continuity, ContinuityEvent)
        assert (event.continuity, event.why) == (Continuity.FRESH, "nothing had been said yet")


async def test_a_prompt_during_a_restart_is_answered_by_the_next_life(home: Home) -> None:
    async with (
        home.avatar(restarts=Restarts(first_delay=0.3)) as aria,
        aria.events(StateEvent) as states,
    ):
        await home.kill(aria)
        await until(states, StateEvent, lambda e: e.new_state is BridgeState.ERROR)
        answer = await aria.chat(script({"say": "here"}))
        assert (answer.content, answer.outcome) == ("here", Outcome.COMPLETED)
        health = await aria.health()
        assert (health.state, health.restarts) == (BridgeState.READY, 1)
        assert health.returncode == -signal.SIGKILL


async def test_an_interrupt_during_a_restart_ends_the_prompt_at_once(home: Home) -> None:
    async with (
        home.avatar(restarts=Restarts(first_delay=30)) as aria,
        aria.events(StateEvent) as states,
    ):
        await home.kill(aria)
        await until(states, StateEvent, lambda e: e.new_state is BridgeState.ERROR)
        async with aria.turn("hello") as turn:
            await until(turn, TurnStartedEvent)
            assert await turn.interrupt()
            assert (await turn.wait()).outcome is Outcome.CANCELLED


async def test_a_crash_loop_gives_up_with_the_reason_and_every_prompt_has_an_end(
    home: Home,
) -> None:
    async with home.runtime() as runtime:
        aria = await runtime.start("embedded", "aria", **home.options(restarts=QUICK))
        bert = await runtime.start("embedded", "bert", **home.options())
        async with aria.events(capacity=10_000) as events, aria.turn(script(GO, WAIT)) as turn:
            await until(turn, TextEvent)
            async with aria.turn(script(WAIT)) as waiting:
                for _ in range(3):
                    await home.kill_when_ready(aria)
                with pytest.raises(AvatarDown, match="SIGKILL"):
                    await aria.wait()
                assert (await waiting.wait()).outcome is Outcome.CRASHED
            assert (await turn.wait()).outcome is Outcome.CRASHED
            seen = [event async for event in events]
        ends = [event.turn_id for event in seen if isinstance(event, TurnEndedEvent)]
        starts = [event.turn_id for event in seen if isinstance(event, TurnStartedEvent)]
        assert sorted(ends) == sorted({*starts, 1, 2})
        assert "gave_up" in {e.notice for e in seen if isinstance(e, SupervisionEvent)}
        assert aria.is_down
        assert [each.name for each in runtime.avatars()] == ["bert"]
        assert (await bert.chat(script({"say": "well"}))).content == "well"
        with pytest.raises(AvatarDown, match="SIGKILL"):
            await aria.chat("hello")


async def test_without_auto_restart_the_first_crash_is_the_end(home: Home) -> None:
    async with home.avatar(restarts=Restarts(auto_restart=False)) as aria:
        assert (await aria.chat(script({"exit": 7}))).outcome is Outcome.CRASHED
        with pytest.raises(AvatarDown, match="code 7"):
            await aria.wait()


STARTS: list[tuple[dict[str, Any], type[AvatarStartError], str]] = [
    ({"mute": True}, AgentRefused, "did not answer its start within 0.5 s"),
    ({"initialize_error": {"code": -32603, "message": "broken"}}, AgentRefused, "broken"),
    ({"auth": True}, AgentNeedsLogin, "log"),
    ({"exit": 3}, AgentRefused, "code 3"),
    ({"kill": "SIGKILL"}, AgentRefused, "SIGKILL"),
    ({"close": "stdout"}, AgentRefused, "closed its stdout"),
]


@pytest.mark.parametrize("number", range(len(STARTS)))
async def test_a_start_that_fails_is_a_typed_error_and_leaves_nothing(
    home: Home, number: int
) -> None:
    fault, kind, words = STARTS[number]
    timeouts = Timeouts(start=0.5 if "mute" in fault else 30, stop=0.2)
    async with home.runtime() as runtime:
        before, fds = offspring(), open_fds()
        with pytest.raises(kind, match=words):
            await runtime.start("embedded", "aria", **home.options(fault, timeouts=timeouts))
        assert runtime.avatars() == []
        assert offspring() <= before
        assert open_fds() <= fds
        aria = await runtime.start("embedded", "aria", **home.options())
        assert (await aria.chat(script({"say": "well"}))).success


async def test_what_is_missing_is_named(home: Home) -> None:
    async with home.runtime() as runtime:
        with pytest.raises(AgentNotFound, match="no-such-agent"):
            await runtime.start("acp", **home.options(executable="no-such-agent"))
        with pytest.raises(SettingsError):
            await runtime.start("embedded", **home.options(options={"dialect": "claude"}))
        with pytest.raises(SettingsError):
            await runtime.start("no-such-provider", **home.options())
        await runtime.start("embedded", "aria", **home.options())
        with pytest.raises((SettingsError, AvatarStartError), match="aria"):
            await runtime.start("embedded", "aria", **home.options())
        with pytest.raises(AvatarStartError, match="session"):
            await runtime.start(launcher.agent("claude"), **home.options(resume=NOBODY))


async def test_a_start_that_is_cancelled_leaves_nothing(home: Home) -> None:
    async with home.runtime() as runtime:
        before, fds = offspring(), open_fds()
        for number in range(25):
            with trio.move_on_after(number * 0.004):
                await runtime.start("embedded", f"a{number}", **home.options())
        for avatar in runtime.avatars():
            await avatar.stop()
        # A place that was lent too late is given back a moment later.
        await eventually(lambda: offspring() <= before and open_fds() <= fds)
        assert len(runtime.tree().children[1].children) == 0


async def test_a_start_that_is_cancelled_at_a_busy_warden_leaves_nothing(
    home: Home,
) -> None:
    async with home.runtime() as runtime:
        [warden] = [node.address for node in runtime.tree().walk() if node.name == "warden"]
        before, fds = offspring(), open_fds()
        async with trio.open_nursery() as nursery:
            scope = trio.CancelScope()

            async def start() -> None:
                with scope:
                    await runtime.start("embedded", "aria", **home.options())

            with freeze(warden):
                nursery.start_soon(start)
                await eventually(lambda: runtime.tree().children[0].waiting)
                scope.cancel()
                await eventually(lambda: not runtime.tree().children[1].children)
        await eventually(lambda: offspring() <= before and open_fds() <= fds)


async def test_stored_sessions_are_listed_and_resumed(home: Home) -> None:
    async with home.avatar() as aria, aria.events(ContinuityEvent) as continuity:
        old = await aria.chat(script({"say": "the old one"}))
    async with home.avatar() as aria, aria.events(ContinuityEvent) as continuity:
        await aria.chat(script({"say": "the new one"}))
        assert old.session_id in {each.session_id for each in await aria.sessions()}
        await aria.resume(old.session_id)
        event = await until(continuity, ContinuityEvent)
        assert (event.continuity, event.session_id) == (Continuity.RESUMED, old.session_id)
        answer = await aria.chat(script({"echo": "history"}))
        assert "the old one" in answer.content
        assert answer.session_id == old.session_id
    async with home.avatar(resume=old.session_id) as aria:
        answer = await aria.chat(script({"echo": "history"}))
        assert "the old one" in answer.content


async def test_a_resume_in_a_turn_cancels_it_and_what_waits_goes_to_the_new_session(
    home: Home,
) -> None:
    async with home.avatar() as aria:
        old = await aria.chat(script({"say": "the old one"}))
    async with home.avatar() as aria, aria.turn(script(GO, WAIT)) as turn:
        await until(turn, TextEvent)
        mine = (await aria.health()).session_id
        async with aria.turn(script({"echo": "history"})) as waiting:
            await aria.resume(old.session_id)
            response = await turn.wait()
            assert (response.outcome, response.session_id) == (Outcome.CANCELLED, mine)
            answer = await waiting.wait()
        assert answer.outcome is Outcome.COMPLETED
        assert "the old one" in answer.content


@pytest.mark.parametrize("agent", ["acp", "claude"])
async def test_a_resume_of_nothing_goes_on_fresh_and_says_so(home: Home, agent: str) -> None:
    async with (
        home.avatar(agent=agent) as aria,
        aria.events(ContinuityEvent) as continuity,
    ):
        with suppress(AvatarStartError):
            await aria.resume(NOBODY)
        event = await until(continuity, ContinuityEvent)
        assert event.continuity is Continuity.FRESH
        assert (await aria.chat(script({"say": "next"}))).content == "next"


async def test_a_cancelled_resume_leaves_an_avatar_that_answers_or_is_down(home: Home) -> None:
    async with home.avatar() as aria:
        old = await aria.chat(script({"say": "the old one"}))
        for number in range(15):
            with trio.move_on_after(number * 0.004):
                await aria.resume(old.session_id)
            answer = await aria.chat(script({"say": "next"}))
            assert (answer.content, answer.outcome) == ("next", Outcome.COMPLETED)


STALLED: list[tuple[list[dict[str, Any]], StallVerdict, str]] = [
    ([{"deaf": 60}], StallVerdict.WEDGED, "of CPU"),
    ([{"tool": "Bash", "seconds": 60}], StallVerdict.WORKING, "waiting for"),
    ([{"ask": "Write"}], StallVerdict.WAITING_ON_YOU, "question"),
]


@pytest.mark.parametrize("number", range(len(STALLED)))
async def test_a_silence_is_judged_with_evidence(home: Home, number: int) -> None:
    steps, verdict, words = STALLED[number]
    timeouts = Timeouts(
        stall_warning=0.5, stall_alarm=1.0, health_check_interval=0.2, interrupt=0.2, stop=0.2
    )
    async with home.avatar(timeouts=timeouts) as aria, aria.turn(script(GO, *steps)) as turn:
        stall = await until(turn, StallEvent)
        if verdict is not StallVerdict.WEDGED:
            assert stall.verdict is verdict
            assert words in stall.evidence
        assert stall.seconds >= 0.5
        assert "no output for" in stall.evidence


async def test_a_stopped_process_is_wedged(home: Home) -> None:
    timeouts = Timeouts(
        stall_warning=0.3, stall_alarm=0.6, health_check_interval=0.2, interrupt=0.2, stop=0.2
    )
    async with home.avatar(timeouts=timeouts) as aria, aria.turn(script(GO, WAIT)) as turn:
        await until(turn, TextEvent)
        pid = (await aria.health()).pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        stall = await until(turn, StallEvent, lambda e: "SIGSTOP" in e.evidence)
        assert stall.verdict is StallVerdict.WEDGED


async def test_a_normal_stop_is_no_error(home: Home) -> None:
    async with home.avatar() as aria, aria.events(StateEvent) as states:
        await aria.chat(script({"say": "x"}))
        await aria.stop()
        seen = [event.new_state async for event in states if isinstance(event, StateEvent)]
    assert BridgeState.ERROR not in seen


async def test_a_crash_during_a_question_starts_the_next_life_without_it(home: Home) -> None:
    async with home.avatar() as aria:
        async with aria.turn(script({"ask": "Write"})) as turn:
            await until(turn, PermissionEvent)
            await home.kill(aria)
            assert (await turn.wait()).outcome is Outcome.CRASHED
        async with aria.turn(script({"ask": "Write"})) as turn:
            question = await until(turn, PermissionEvent)
            assert question.request_id


async def test_a_working_directory_that_vanished_is_said(home: Home, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    async with home.avatar(working_dir=gone, restarts=QUICK) as aria:
        gone.rmdir()
        await home.kill(aria)
        with pytest.raises(AvatarDown, match="gone"):
            await aria.wait()


class Saboteur(EventStream):
    """A listener that raises in the activity tracker, without which an avatar must end."""

    is_set = False

    def push(self, events: Sequence[AvatarEvent]) -> None:
        if self.is_set:
            raise ValueError("sabotage")
        super().push(events)


async def test_an_avatar_that_ends_for_a_vital_actor_says_what_was_wrong(home: Home) -> None:
    saboteur = Saboteur()
    async with home.runtime() as runtime:
        avatar = await runtime.start("embedded", "aria", saboteur, **home.options())
        async with avatar.turn(script(GO, WAIT)) as turn:
            async for event in turn:
                if isinstance(event, TextEvent) and not saboteur.is_set:
                    saboteur.is_set = True
                    await avatar.interrupt()
        assert turn.outcome is Outcome.CRASHED
        assert "ValueError: sabotage" in turn.reason
        with pytest.raises(AvatarDown, match="ValueError: sabotage"):
            await avatar.wait()


async def test_a_cancelled_start_has_ended_its_avatar_when_it_returns(home: Home) -> None:
    async with home.runtime() as runtime:
        [avatars] = [node for node in runtime.tree().children if node.name == "avatars"]
        before = offspring()

        async def start(task_status: trio.TaskStatus[trio.CancelScope]) -> None:
            with trio.CancelScope() as scope:
                task_status.started(scope)
                await runtime.start("embedded", "aria", **home.options({"mute": True}))
            assert scope.cancelled_caught
            assert avatar_names(runtime) == []

        assert avatars.children == ()
        async with trio.open_nursery() as nursery:
            scope: trio.CancelScope = await nursery.start(start)
            await eventually(lambda: offspring() - before)
            assert avatar_names(runtime) == ["aria"]
            scope.cancel()


def avatar_names(runtime: Runtime) -> list[str]:
    [avatars] = [node for node in runtime.tree().children if node.name == "avatars"]
    return [avatar.name for avatar in avatars.children]


async def test_subscribers_hear_of_a_sessions_death_before_the_end_of_its_turn(home: Home) -> None:
    async with home.avatar() as aria:
        for _ in range(3):
            async with aria.events(ErrorEvent, TurnEndedEvent) as events:
                async with aria.turn(script({"say": "x"}, {"wait": 60})) as turn:
                    await until(turn, TextEvent)
                    await home.kill(aria)
                    await turn.wait()
                assert isinstance(await until(events, AvatarEvent), ErrorEvent)
