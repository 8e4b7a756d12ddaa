"""Real runs, small ones: what is planted into them is found, and nothing else is."""

import subprocess
from collections.abc import Callable, Iterable

import trio

from avatar_actors import AvatarEvent, Outcome, TextEvent, TurnEndedEvent
from avatar_actors.chaos import Cast, ChaosOptions, ChaosReport, FaultKind, Progress, run_chaos
from avatar_actors.chaos.running import as_it_is
from avatar_actors.chaos.witness import Tap
from tests.thorough import for_conformance

# The second question that this seed asks is one that the host cancels.
SMALL = ChaosOptions(
    avatars=2, seconds=2.0, every=0.4, seed=17, kinds=(FaultKind.KILL_AGENT, FaultKind.FLOOD)
)


async def run(tap: Tap = as_it_is, tell: Callable[[Progress], None] | None = None) -> ChaosReport:
    with trio.fail_after(180):
        return await run_chaos(SMALL, Cast(), tell or (lambda _: None), tap=tap)


def broken(report: ChaosReport) -> dict[str, int]:
    return {each.name: each.found for each in report.promises if not each.is_kept}


@for_conformance
async def test_the_same_seed_twice_gives_the_same_schedule_and_the_same_verdicts() -> None:
    first, second = await run(), await run()
    assert (first.digest, first.schedule) == (second.digest, second.schedule)
    assert broken(first) == broken(second) == {}
    assert first.is_ok
    for report in (first, second):
        assert [fault.number for fault in sorted(report.faults, key=lambda f: f.number)] == [
            fault.number for fault in report.schedule
        ]
        assert all(fault.is_landed and fault.proof for fault in report.faults)
        assert report.totals.prompts.answered > 0
        assert report.totals.restarts >= sum(
            fault.kind is FaultKind.KILL_AGENT for fault in report.faults
        )


async def test_one_event_that_is_dropped_is_found() -> None:
    dropped: list[AvatarEvent] = []

    def drop_one(event: AvatarEvent) -> Iterable[AvatarEvent]:
        if isinstance(event, TextEvent) and not dropped:
            dropped.append(event)
            return ()
        return (event,)

    found = broken(await run(drop_one))
    assert dropped
    assert set(found) == {"events lost"}


async def test_one_event_that_is_delivered_after_a_cancel_is_found() -> None:
    late: list[AvatarEvent] = []

    def repeat_one(event: AvatarEvent) -> Iterable[AvatarEvent]:
        yield event
        if isinstance(event, TurnEndedEvent) and event.outcome is Outcome.CANCELLED and not late:
            late.append(TextEvent(seq=event.seq, turn_id=event.turn_id, text="too late"))
            yield late[0]

    found = broken(await run(repeat_one))
    assert late
    assert found == {"events after cancel": 1}


@for_conformance
async def test_a_process_and_a_zombie_that_are_left_are_found() -> None:
    left: list[subprocess.Popen[bytes]] = []

    def leave_some(progress: Progress) -> None:
        if progress.phase == "faults" and not left:
            left.append(subprocess.Popen(["sleep", "600"]))
            left.append(subprocess.Popen(["true"]))  # nobody waits for it

    try:
        found = broken(await run(tell=leave_some))
    finally:
        for process in left:
            process.kill()
            process.wait()
    assert found == {"orphans": 1, "zombies": 1}
