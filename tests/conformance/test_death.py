"""The agent's process dies: the caller is told so at once, and nothing is sent again."""

import os
import signal
import uuid
from contextlib import suppress
from pathlib import Path

import pytest
import trio
import trio.testing

from avatar_actors import (
    Continuity,
    DiagnosticEvent,
    Outcome,
    TextEvent,
    ToolEvent,
    ToolStatus,
    Turn,
    TurnEndedEvent,
)
from avatar_actors.processes.sweep import host_identity
from tests.conformance.dialects import Dialect, Trait, every_dialect
from tests.conformance.remains import processes_marked, processes_of
from tests.conformance.subject import Step, open_subject, script
from tests.processes.census import eventually

FOREVER: Step = {"wait": 1000}
# Of this process alone: other workers play the same script.
HELD = f"held-{uuid.uuid4()}"
WAYS_TO_DIE: list[tuple[str, list[Step]]] = [
    ("kill-9", [{"kill": 9}]),
    ("exit-0", [{"exit": 0}]),
    ("exit-1", [{"exit": 1}]),
    ("half-a-line", [{"half": '{"jsonrpc": "2.0", "meth'}, {"kill": 9}]),
    ("stdout-closed", [{"close": "stdout"}, FOREVER]),
    ("stdout-held", [{"spawn": "holdstdout", "mark": HELD}, {"kill": 9}]),
]
a_way_to_die = pytest.mark.parametrize(
    "death", [steps for _, steps in WAYS_TO_DIE], ids=[name for name, _ in WAYS_TO_DIE]
)


async def until_text(turn: Turn, end: str) -> None:
    """Read the turn's events until its text has come to this."""
    text = ""
    async for event in turn:
        text += event.text if isinstance(event, TextEvent) else ""
        if text.endswith(end):
            return


async def until_tool(turn: Turn) -> str:
    async for event in turn:
        if isinstance(event, ToolEvent) and event.status is ToolStatus.STARTED:
            return event.tool_id
    raise AssertionError("no tool was started")


@every_dialect()
async def test_killed_while_idle_it_comes_back_and_remembers(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        assert await subject.says("before")
        await subject.kill()
        assert (await subject.back_again()).continuity is dialect.when_resumed
        assert await subject.memory() == [script({"say": "before"})]
        assert (await subject.avatar.health()).restarts == 1


@every_dialect()
async def test_killed_before_anything_was_said_it_comes_back_fresh_and_says_why(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        await subject.kill()
        continuity = await subject.back_again()
        assert continuity.continuity is Continuity.FRESH
        assert continuity.why
        assert await subject.memory() == []


@every_dialect()
async def test_killed_mid_text_the_caller_has_the_part_and_nothing_is_sent_again(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        async with subject.turn({"say": "half an ans"}, FOREVER) as turn:
            await until_text(turn, "half an ans")
            await subject.kill()
            answer = await turn.wait()
        assert (answer.outcome, answer.content) == (Outcome.CRASHED, "half an ans")
        assert (answer.unknown_tools, answer.can_retry) == ((), True)
        assert "SIGKILL" in answer.error
        assert (await subject.back_again()).continuity is dialect.when_resumed
        # The agent may have stored the prompt before it died, but got it once.
        assert await subject.memory() in ([], [script({"say": "half an ans"}, FOREVER)])
        assert await subject.says("and now")


@every_dialect()
async def test_killed_mid_tool_the_tool_is_of_unknown_outcome_and_ran_once(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        slow: Step = {"tool": "Bash", "id": "slow", "seconds": 1000}
        async with subject.turn(subject.leave_a_trace(), {"say": "so far"}, slow) as turn:
            await until_text(turn, "so far")
            tool_id = await until_tool(turn)
            await subject.kill()
            answer = await turn.wait()
        assert (answer.outcome, answer.content) == (Outcome.CRASHED, "so far")
        assert (answer.unknown_tools, answer.can_retry) == ((tool_id,), False)
        await subject.back_again()
        assert await subject.says("and now")
        assert subject.traces() == 1
    last = [event for event in subject.recorder.all(ToolEvent) if event.tool_id == tool_id][-1]
    assert last.status is ToolStatus.UNKNOWN


@every_dialect()
@a_way_to_die
async def test_every_other_death_in_a_turn_is_a_crash_too(
    dialect: Dialect, tmp_path: Path, death: list[Step]
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        answer = await subject.play(subject.leave_a_trace(), {"say": "last words"}, *death)
        assert (answer.outcome, answer.content) == (Outcome.CRASHED, "last words")
        assert answer.error
        assert not answer.can_retry
        assert await subject.says("and now")
        assert subject.traces() == 1
        await eventually(lambda: not processes_marked(HELD))


@every_dialect()
async def test_half_a_line_before_the_death_is_told_of(dialect: Dialect, tmp_path: Path) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        answer = await subject.play({"half": "half a li"}, {"kill": 9})
        assert answer.outcome is Outcome.CRASHED
    remarks = [event.message for event in subject.recorder.all(DiagnosticEvent)]
    assert [text for text in remarks if "half a li" in text]


@every_dialect(Trait.HANDSHAKE)
async def test_killed_while_starting_again_it_is_started_once_more(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path, {"slow_start": 0.3}) as subject:
        assert await subject.says("before")
        pid = await subject.pid()
        os.kill(pid, signal.SIGKILL)
        killed = {pid}
        for _ in range(2):
            await eventually(lambda: processes_of(host_identity()) - killed)
            for starting in processes_of(host_identity()) - killed:
                os.kill(starting, signal.SIGKILL)
                killed.add(starting)
        assert (await subject.back_again()).continuity is dialect.when_resumed
        assert await subject.memory() == [script({"say": "before"})]
        assert (await subject.avatar.health()).restarts == 3


@every_dialect()
async def test_prompt_that_waits_while_it_restarts_is_answered_by_the_next_life(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path, {"slow_start": 0.2}) as subject:
        assert await subject.says("before")
        await subject.kill()
        answer = await subject.play(subject.leave_a_trace(), {"say": "after"})
        # Whether it was sent into the dying life, only the system knows; it is never sent twice.
        assert answer.outcome in {Outcome.COMPLETED, Outcome.CRASHED}
        assert await subject.says("and now")
        assert subject.traces() == (1 if answer.success else 0)


@every_dialect()
async def test_killed_while_stopping_the_stop_goes_on(dialect: Dialect, tmp_path: Path) -> None:
    async with open_subject(dialect, tmp_path) as subject, trio.open_nursery() as nursery:
        nursery.start_soon(subject.play, {"stubborn": True}, {"say": "up"}, FOREVER)
        await subject.recorder.until(TextEvent)
        pid = await subject.pid()
        nursery.start_soon(subject.avatar.stop)
        await trio.testing.wait_all_tasks_blocked()
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    [ended] = subject.recorder.all(TurnEndedEvent)
    assert ended.outcome is Outcome.CANCELLED
    assert subject.avatar.is_down
