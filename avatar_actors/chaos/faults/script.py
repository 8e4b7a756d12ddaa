"""Faults that the embedded agent plays in its own turn: its script says what goes wrong."""

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
# What it leaves for its keeper to end. One that is deaf to SIGTERM only where nobody waits for it.
_LEAVES = {
    FaultKind.EXIT: "daemon",
    FaultKind.CLOSE_STDOUT: "daemon",
    FaultKind.HALF_LINE: "stubborn",
}
_HANGS_FOR = 0.4
_STDERR = 1_000_000
_NARROW = 64


async def die_in_turn(shot: FaultTarget) -> Landing:
    """The agent ends its own life in the midst of a turn, and leaves a process behind."""
    agent, kind = await shot.stage.agent(), shot.fault.kind
    question = shot.stage.author.faulty(*_DEADLY[kind], leaves=_LEAVES[kind])
    answer = await shot.stage.player.put(question)
    if answer.ended is None or answer.ended.outcome is not Outcome.CRASHED:
        miss(f"the turn was {outcome_of(answer)}")
    await shot.until_gone(agent)
    return Landing(at=moment_of(answer), proof=f"turn crashed, pid {agent.pid} is gone")


async def hang(shot: FaultTarget) -> Landing:
    """The agent does not even hear that it should end the turn."""
    question = shot.stage.author.faulty({"deaf": -1}, timeout=_HANGS_FOR)
    answer = await shot.stage.player.put(question)
    if answer.ended is None or answer.ended.outcome is not Outcome.TIMED_OUT:
        miss(f"the turn was {outcome_of(answer)}")
    at = moment_of(answer)
    return Landing(at=at, proof="turn timed out", frozen=answer.done - at)


async def garbage(shot: FaultTarget) -> Landing:
    """Random bytes, then the turn goes on."""
    step = {"garbage": 1000 * shot.fault.times, "seed": shot.fault.seed}
    return await _with_diagnostic(shot, step, "wire")


async def stderr_flood(shot: FaultTarget) -> Landing:
    """More than any pipe holds on stderr, then the turn goes on."""
    return await _with_diagnostic(shot, {"stderr": _STDERR}, "stderr")


async def _with_diagnostic(shot: FaultTarget, step: Step, source: str) -> Landing:
    is_it = partial(_is_diagnostic, source)
    with shot.stage.witness.watching(is_it) as watch:
        answer = await shot.stage.player.put(shot.stage.author.faulty(step))
        if answer.ended is None or answer.ended.outcome is not Outcome.COMPLETED:
            miss(f"the turn was {outcome_of(answer)}")
        told = await watch.wait()
    assert isinstance(told.event, DiagnosticEvent)
    return Landing(at=moment_of(answer), proof=f"{source}: {told.event.message[:60]!r}")


def _is_diagnostic(source: str, event: object) -> bool:
    return isinstance(event, DiagnosticEvent) and event.source.startswith(source)


async def flood(shot: FaultTarget) -> Landing:
    """As many messages as the agent can write."""
    count = 1500 * shot.fault.times
    answer = await shot.stage.player.put(shot.stage.author.faulty(flood=count))
    said = answer.text.count(".f>")
    if said != count:
        miss(f"{said} of {count} were heard in a turn that was {outcome_of(answer)}")
    return Landing(at=moment_of(answer), proof=f"{count} messages counted")


async def slow_subscriber(shot: FaultTarget) -> Landing:
    """One with little room looks away during a flood; others must not notice."""
    count = 1500 * shot.fault.times
    async with shot.stage.avatar.events(capacity=_NARROW) as narrow:
        answer = await shot.stage.player.put(shot.stage.author.faulty(flood=count))
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
    """When the agent began its fault, by its own word: it reads the same clock."""
    found = MOMENT.search(answer.text)
    if found is None:
        miss(f"the turn was {outcome_of(answer)} before its fault")
    return int(found.group(1)) / 1e9
