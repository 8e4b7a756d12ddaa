"""The agent is silent, or does not want to end: verdicts, and ends within bounds."""

import os
import signal
from pathlib import Path

import pytest
import trio

from avatar_actors import (
    BridgeState,
    Outcome,
    PermissionClosedEvent,
    PermissionEvent,
    Permit,
    StallEvent,
    StallVerdict,
    TextEvent,
    Timeouts,
    UnknownRequest,
)
from avatar_actors.processes.sweep import host_identity
from tests.conformance.dialects import Dialect, Trait, every_dialect
from tests.conformance.remains import processes_of
from tests.conformance.subject import Step, open_subject

FOREVER: Step = {"wait": 1000}
IMPATIENT = Timeouts(interrupt=0.3, stop=0.3)
ATTENTIVE = Timeouts(stall_warning=0.3, stall_alarm=0.6, health_check_interval=0.1, interrupt=0.3)


@every_dialect()
async def test_stopped_by_a_signal_it_counts_as_wedged_and_an_interrupt_restarts_it(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path, timeouts=ATTENTIVE) as subject:
        async with subject.turn({"say": "up"}, FOREVER) as turn:
            await subject.recorder.until(TextEvent)
            for pid in processes_of(host_identity()):
                os.kill(pid, signal.SIGSTOP)
            stall = await subject.recorder.until(StallEvent)
            assert stall.verdict is StallVerdict.WEDGED
            assert "SIGSTOP" in stall.evidence
            assert await turn.interrupt()
            answer = await turn.wait()
        assert (answer.outcome, answer.content) == (Outcome.CANCELLED, "up")
        assert "restarted" in answer.error
        await subject.recorder.until_state(BridgeState.READY)
        assert await subject.says("and now")
        assert (await subject.avatar.health()).restarts == 1


@every_dialect()
async def test_silence_without_work_is_wedged_and_with_a_tool_is_working(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path, timeouts=ATTENTIVE) as subject:
        slow: Step = {"tool": "Bash", "seconds": 1000}
        for steps, verdict in ([FOREVER], StallVerdict.WEDGED), ([slow], StallVerdict.WORKING):
            async with subject.turn({"say": "up"}, *steps):
                await subject.recorder.until(TextEvent)
                stall = await subject.recorder.until(StallEvent)
                assert (stall.verdict, stall.seconds >= 0.3) == (verdict, True)


@every_dialect(Trait.PERMISSIONS)
async def test_silence_with_an_open_question_waits_on_you(dialect: Dialect, tmp_path: Path) -> None:
    async with (
        open_subject(dialect, tmp_path, timeouts=ATTENTIVE) as subject,
        subject.turn({"ask": "Bash", "input": {"command": "ls"}}),
    ):
        await subject.recorder.until(PermissionEvent)
        stall = await subject.recorder.until(StallEvent)
        assert stall.verdict is StallVerdict.WAITING_ON_YOU


@every_dialect()
async def test_agent_that_ignores_the_cancel_is_restarted_after_the_grace(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path, timeouts=IMPATIENT) as subject:
        stubborn: list[Step] = [{"stubborn": True}, {"ignore_cancel": True}]
        async with subject.turn(*stubborn, {"say": "up"}, FOREVER) as turn:
            await subject.recorder.until(TextEvent)
            await turn.interrupt()
            answer = await turn.wait()
        assert (answer.outcome, answer.content) == (Outcome.CANCELLED, "up")
        assert await subject.says("and now")
        assert (await subject.avatar.health()).restarts == 1


@every_dialect()
async def test_agent_that_is_deaf_is_restarted_after_the_grace(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path, timeouts=IMPATIENT) as subject:
        async with subject.turn({"stubborn": True}, {"say": "up"}, {"deaf": -1}) as turn:
            await subject.recorder.until(TextEvent)
            await turn.interrupt()
            answer = await turn.wait()
        assert (answer.outcome, answer.content) == (Outcome.CANCELLED, "up")
        assert await subject.says("and now")


@every_dialect()
async def test_late_acknowledgement_of_a_cancel_is_waited_for(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        async with subject.turn({"ack_after": 0.3}, {"say": "up"}, FOREVER) as turn:
            await subject.recorder.until(TextEvent)
            await turn.interrupt()
            answer = await turn.wait()
        assert (answer.outcome, answer.content) == (Outcome.CANCELLED, "up")
        assert await subject.says("and now")
        assert (await subject.avatar.health()).restarts == 0


@every_dialect()
async def test_cancel_that_comes_too_late_does_not_hit_the_next_turn(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        for number in range(5):
            async with subject.turn({"say": f"{number}"}) as turn, trio.open_nursery() as nursery:
                await subject.recorder.until(TextEvent)
                nursery.start_soon(turn.interrupt)
                answer = await turn.wait()
                assert answer.outcome in {Outcome.COMPLETED, Outcome.CANCELLED}
            assert not await turn.interrupt()
            assert await subject.says(f"after {number}")
            await subject.recorder.until(TextEvent)


@every_dialect(Trait.PERMISSIONS)
async def test_answer_to_a_question_after_the_cancel_reaches_nobody(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        async with subject.turn({"ask": "Bash", "input": {"command": "ls"}}) as turn:
            question = await subject.recorder.until(PermissionEvent)
            await turn.interrupt()
            answer = await turn.wait()
        assert answer.outcome is Outcome.CANCELLED
        closed = await subject.recorder.until(PermissionClosedEvent)
        assert (closed.request_id, closed.permit) == (question.request_id, Permit.CANCELLED)
        with pytest.raises(UnknownRequest):
            await subject.avatar.answer(question.request_id, Permit.ALLOW_ONCE)
        assert await subject.says("and now")
        assert (await subject.avatar.health()).restarts == 0


@every_dialect(Trait.PERMISSIONS)
async def test_answer_at_the_same_moment_as_the_cancel_is_bounded(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        async with subject.turn({"ask": "Bash", "input": {"command": "ls"}}, FOREVER) as turn:
            question = await subject.recorder.until(PermissionEvent)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(subject.avatar.answer, question.request_id, Permit.ALLOW_ONCE)
                nursery.start_soon(turn.interrupt)
            answer = await turn.wait()
        assert answer.outcome is Outcome.CANCELLED
        assert await subject.says("and now")
        assert (await subject.avatar.health()).restarts == 0


@every_dialect()
async def test_turn_that_takes_too_long_is_timed_out(dialect: Dialect, tmp_path: Path) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        answer = await subject.play({"say": "up"}, FOREVER, timeout=1)
        assert answer.outcome is Outcome.TIMED_OUT
        assert await subject.says("and now")
        assert (await subject.avatar.health()).restarts == 0


@every_dialect()
async def test_callers_cancelled_scope_ends_the_turn_at_the_agent(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path) as subject, trio.open_nursery() as nursery:
        nursery.start_soon(subject.play, {"say": "up"}, FOREVER)
        await subject.recorder.until(TextEvent)
        nursery.cancel_scope.cancel()
        with trio.CancelScope(shield=True):
            assert await subject.says("and now")
            assert (await subject.avatar.health()).restarts == 0
