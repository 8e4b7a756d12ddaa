"""Faults that the embedded agent plays in its own turn, by a script."""

from __future__ import annotations

from functools import partial

from avatar_actors import DiagnosticEvent, Outcome, TextEvent, TurnEndedEvent
from avatar_actors.chaos.faults.injection import FaultTarget, Landing, miss, outcome_of
from avatar_actors.chaos.faults.kinds import FaultKind
from avatar_actors.chaos.load import PromptOutcome
from avatar_actors.chaos.questions import MOMENT, Step

_DEADLY: dict[FaultKind, tuple[Step, ...]] = {
    FaultKind.EXIT: ({"exit": 0},),
    FaultKind.CLOSE_STDOUT: ({"close": "stdout"}, {"wait": 60}),
    FaultKind.HALF_LINE: ({"half": '{"jsonrpc":"2.0","method":"session/upd'}, {"kill": 9}),
}
# The process that it leaves behind; one that ignores SIGTERM only where nothing waits for it.
_LEAVES = {
    FaultKind.EXIT: "daemon",
    FaultKind.CLOSE_STDOUT: "daemon",
    FaultKind.HALF_LINE: "stubborn",
}
_HANGS_FOR = 0.4
_STDERR = 1_000_000
_NARROW = 64


async def die_in_turn(target: FaultTarget) -> Landing:
    """The agent ends itself in the middle of a turn and leaves a process behind."""
    agent, kind = await target.slot.agent(), target.fault.kind
    question = target.slot.writer.faulty(*_DEADLY[kind], leaves=_LEAVES[kind])
    answer = await target.slot.load.put(question)
    if answer.ended is None or answer.ended.outcome is not Outcome.CRASHED:
        miss(f"the turn was {outcome_of(answer)}")
    await target.until_gone(agent)
    return Landing(at=moment_of(answer), proof=f"turn crashed, pid {agent.pid} is gone")


async def hang(target: FaultTarget) -> Landing:
    """The agent stops reading and does not even notice the cancel."""
    question = target.slot.writer.faulty({"deaf": -1}, timeout=_HANGS_FOR)
    answer = await target.slot.load.put(question)
    if answer.ended is None or answer.ended.outcome is not Outcome.TIMED_OUT:
        miss(f"the turn was {outcome_of(answer)}")
    at = moment_of(answer)
    return Landing(at=at, proof="turn timed out", frozen=answer.done - at)


async def garbage(target: FaultTarget) -> Landing:
    """The agent writes random bytes, then the turn goes on."""
    step = {"garbage": 1000 * target.fault.times, "seed": target.fault.seed}
    return await _with_diagnostic(target, step, "wire")


async def stderr_flood(target: FaultTarget) -> Landing:
    """The agent writes more to stderr than a pipe holds, then the turn goes on."""
    return await _with_diagnostic(target, {"stderr": _STDERR}, "stderr")


async def _with_diagnostic(target: FaultTarget, step: Step, source: str) -> Landing:
    is_it = partial(_is_diagnostic, source)
    with target.slot.recorder.watching(is_it) as watch:
        answer = await target.slot.load.put(target.slot.writer.faulty(step))
        if answer.ended is None or answer.ended.outcome is not Outcome.COMPLETED:
            miss(f"the turn was {outcome_of(answer)}")
        told = await watch.wait()
    assert isinstance(told.event, DiagnosticEvent)
    return Landing(at=moment_of(answer), proof=f"{source}: {told.event.message[:60]!r}")


def _is_diagnostic(source: str, event: object) -> bool:
    return isinstance(event, DiagnosticEvent) and event.source.startswith(source)


async def flood(target: FaultTarget) -> Landing:
    """The agent writes messages as fast as it can."""
    count = 1500 * target.fault.times
    answer = await target.slot.load.put(target.slot.writer.faulty(flood=count))
    said = answer.text.count(".f>")
    if said != count:
        miss(f"{said} of {count} were heard in a turn that was {outcome_of(answer)}")
    return Landing(at=moment_of(answer), proof=f"{count} messages counted")


async def slow_subscriber(target: FaultTarget) -> Landing:
    """A subscriber with little room does not read during a flood; others must not notice."""
    count = 1500 * target.fault.times
    async with target.slot.avatar.events(capacity=_NARROW) as narrow:
        answer = await target.slot.load.put(target.slot.writer.faulty(flood=count))
        heard = narrow.take_nowait()
        squeezed, dropped = narrow.merged, narrow.lost
    if answer.ended is None or not squeezed + dropped:
        miss(f"the stream had room enough in a turn that was {outcome_of(answer)}")
    turn_id = answer.ended.turn_id
    told = "".join(e.text for e in heard if isinstance(e, TextEvent) and e.turn_id == turn_id)
    ends = [e for e in heard if isinstance(e, TurnEndedEvent) and e.turn_id == turn_id]
    if ends and told != answer.text:
        miss("the slow subscriber has not all of the text")
    return Landing(at=moment_of(answer), proof=f"{squeezed} merged, {dropped} dropped and told")


def moment_of(answer: PromptOutcome) -> float:
    """When the agent began its fault, by its own clock, which is the same."""
    found = MOMENT.search(answer.text)
    if found is None:
        miss(f"the turn was {outcome_of(answer)} before its fault")
    return int(found.group(1)) / 1e9
