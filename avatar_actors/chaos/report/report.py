"""The report of a run: its data, its JSON, and the verdict on what was seen. Others show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from avatar_actors import SettingsError
from avatar_actors.chaos.faults.injector import FaultRecord
from avatar_actors.chaos.faults.kinds import FaultKind
from avatar_actors.chaos.faults.schedule import ChaosOptions, FaultOrder, PlannedFault, digest
from avatar_actors.chaos.leak_check import Alone, Leftovers
from avatar_actors.chaos.oracle import Breach, Breaches
from avatar_actors.chaos.report.samples import Effort, Samples
from avatar_actors.chaos.report.statistics import (
    Histogram,
    Prompts,
    RunCounters,
    Slope,
    drift,
    percentile,
    slope,
)

_INDENT: Final = 1


class Promise(Struct, frozen=True, kw_only=True):
    """A promise: how often it was broken."""

    name: str
    found: int
    words: str = ""
    is_judged: bool = True
    """Whether the run was long enough to say."""

    @property
    def is_kept(self) -> bool:
        """Whether it was never broken, as far as the run can say."""
        return self.found == 0

    @property
    def verdict(self) -> str:
        """Kept, broken, or not judged."""
        if not self.is_judged:
            return "not judged"
        return "kept" if self.is_kept else "broken"

    @property
    def count(self) -> str:
        """How often it was broken."""
        return f"{self.found:,}" if self.is_judged else "-"


class Times(Struct, frozen=True, kw_only=True):
    """Figures of some durations in seconds; None if there were none."""

    p50: float | None = None
    p99: float | None = None
    longest: float | None = None


class KindRow(Struct, frozen=True, kw_only=True):
    """All faults of one kind.

    `availability` is the share of all avatars' time that was not lost to this kind. `alone` is
    known only if the kind had a slice of the time to itself.
    """

    kind: FaultKind
    planned: int
    landed: int
    detect: Times
    restart: Times
    recovery: Times
    restarts_each: float
    availability: float
    prompts: Prompts
    breaches: int
    alone: Alone | None = None


class Totals(Struct, frozen=True, kw_only=True):
    """Figures of the whole run. `host_ran`: the cores that the host used while there were faults.

    `host_starved` is the share of that time in which the host waited for a core; a machine that is
    too busy makes every figure of time worse.
    """

    prompts: Prompts
    breaches: dict[str, int]
    restarts: int
    availability: float
    dead_letters: int
    disturbed: int
    given_up: int
    host_ran: float = 0.0
    host_starved: float = 0.0


class Growth(Struct, frozen=True, kw_only=True):
    """Growth of the host per 1,000 restarts: blocks and bytes in use, and its resident memory."""

    blocks: Slope = Slope()
    heap: Slope = Slope()
    resident: Slope = Slope()

    @property
    def is_growth(self) -> bool:
        """Whether any of them grows."""
        return any(each.is_growth for each in (self.blocks, self.heap, self.resident))


class ChaosReport(Struct, frozen=True, kw_only=True):
    """A run. `left_out`: kinds that this provider cannot play; not `is_complete`: interrupted."""

    options: ChaosOptions
    digest: str
    machine: str
    seconds: float
    is_complete: bool
    promises: tuple[Promise, ...]
    totals: Totals
    rows: tuple[KindRow, ...]
    faults: tuple[FaultRecord, ...]
    schedule: tuple[PlannedFault, ...]
    left_out: tuple[FaultKind, ...]
    baseline: Histogram
    siblings: Histogram
    samples: Samples
    memory: Growth
    remains: Leftovers
    examples: tuple[str, ...]

    @property
    def is_ok(self) -> bool:
        """Whether every promise was kept and the run is complete."""
        return self.is_complete and all(promise.is_kept for promise in self.promises)


def report_to_json(report: ChaosReport) -> bytes:
    """The report as JSON."""
    return msgspec.json.format(msgspec.json.encode(report), indent=_INDENT)


def report_from_json(path: Path) -> ChaosReport:
    """Reads an earlier report; raises SettingsError if the file is not one."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=ChaosReport)
    except (OSError, msgspec.DecodeError) as error:
        raise SettingsError(f"{path} is no report of chaos: {error}") from error


# Fewer restarts say nothing about the memory that one of them leaves; and histories fill first.
_JUDGED_FROM, _JUDGED_AFTER = 1000, 300.0
_EXAMPLES = 50
# The names of the leftovers in the promises.
_LEFT = {
    "orphans": "orphans",
    "zombies": "zombies",
    "descriptors left": "descriptors",
    "tasks left": "tasks",
    "threads left": "threads",
    "directories left": "directories",
}


class Evidence(Struct, frozen=True, kw_only=True):
    """Everything that a run has seen."""

    options: ChaosOptions
    machine: str
    schedule: tuple[PlannedFault, ...]
    left_out: tuple[FaultKind, ...]
    faults: tuple[FaultRecord, ...]
    prompts: tuple[Prompts, ...]
    breaches: tuple[Breaches, ...]
    down_seconds: float
    counters: RunCounters
    dead_letters: int
    effort: Effort
    samples: Samples
    remains: Leftovers
    alone: dict[FaultKind, Alone] = {}
    seconds: float
    is_complete: bool


def judged(seen: Evidence) -> ChaosReport:
    """The report of a run."""
    counters, time = seen.counters, seen.options.avatars * seen.seconds
    breaches = sum((each.counts for each in seen.breaches), Counter[Breach]())
    prompts = sum(seen.prompts, Prompts())
    growth = _memory(seen)
    totals = Totals(
        prompts=prompts,
        breaches={breach.value: breaches[breach] for breach in Breach},
        restarts=counters.restarts,
        availability=_share_left(seen.down_seconds, time),
        dead_letters=seen.dead_letters,
        disturbed=counters.disturbed,
        given_up=counters.given_up,
        host_ran=seen.effort.ran / max(seen.seconds, 1e-9),
        host_starved=seen.effort.starved / max(seen.seconds, 1e-9),
    )
    examples = [words for each in seen.breaches for words in each.examples]
    return ChaosReport(
        options=seen.options,
        digest=digest(seen.schedule),
        machine=seen.machine,
        seconds=seen.seconds,
        is_complete=seen.is_complete,
        promises=promises(seen, totals, growth),
        totals=totals,
        rows=tuple(_row(seen, kind, time) for kind in FaultKind if _planned(seen, kind)),
        faults=tuple(sorted(seen.faults, key=lambda fault: fault.at)),
        schedule=seen.schedule,
        left_out=seen.left_out,
        baseline=counters.baseline,
        siblings=counters.siblings,
        samples=seen.samples,
        memory=growth,
        remains=seen.remains,
        examples=(*examples[:_EXAMPLES], *counters.disturbances),
    )


def promises(seen: Evidence, totals: Totals, growth: Growth) -> tuple[Promise, ...]:
    """The promises, the most important first."""
    due = {fault.number: fault for fault in seen.faults}
    missed = [fault for fault in seen.faults if not fault.is_landed]
    ill = [fault for fault in seen.faults if fault.is_landed and fault.recovery is None]
    untried = len(seen.schedule) - len(due) if seen.is_complete else 0
    lost = totals.prompts.lost
    found = {**totals.breaches, Breach.PROMPT_LOST.value: lost}
    return (
        *(Promise(name=name, found=count) for name, count in found.items()),
        Promise(name="faults not landed", found=len(missed) + untried, words=_list(missed)),
        Promise(name="faults not recovered from", found=len(ill), words=_list(ill)),
        Promise(
            name="siblings disturbed",
            found=totals.disturbed,
            words=_kinds({kind: each.disturbed for kind, each in seen.alone.items()}),
        ),
        Promise(name="avatars given up", found=totals.given_up),
        *(_left(seen, name, what) for name, what in _LEFT.items()),
        Promise(
            name="memory grows",
            found=int(growth.is_growth),
            words=memory_words(growth),
            is_judged=growth.blocks.value is not None,
        ),
    )


def _left(seen: Evidence, name: str, what: str) -> Promise:
    """What was left at the end or after a slice; the former may include the latter."""
    slices = {kind: asdict(each.left)[what] for kind, each in seen.alone.items()}
    found = max(asdict(seen.remains)[what], sum(slices.values()))
    return Promise(name=name, found=found, words=_kinds(slices))


def _kinds(counts: dict[FaultKind, int]) -> str:
    """Which kinds it was, if they came one after the other."""
    return "; ".join(f"{kind.value}: {count:,}" for kind, count in counts.items() if count)


def memory_words(growth: Growth) -> str:
    """The slopes in words."""
    if growth.blocks.value is None:
        return f"fewer than {_JUDGED_FROM:,} restarts of mixed kinds, or too short"
    parts = (
        f"{_interval(growth.blocks, 1)} blocks",
        f"{_interval(growth.heap, 1024)} KiB of heap",
        f"{_interval(growth.resident, 1024)} KiB of RSS",
    )
    return f"per 1,000 restarts: {'; '.join(parts)}"


def _interval(found: Slope, unit: float) -> str:
    if found.value is None or found.low is None or found.high is None:
        return "unknown"
    value, low, high = (each / unit for each in (found.value, found.low, found.high))
    return f"{value:+,.0f} ({low:+,.0f} to {high:+,.0f})"


def _memory(seen: Evidence) -> Growth:
    """Not judged by kind: every kind has a level of its own, which looks like a slope."""
    samples, is_mixed = seen.samples, seen.options.order is FaultOrder.MIXED
    is_long = bool(samples.seconds) and samples.seconds[-1] >= _JUDGED_AFTER
    if not is_mixed or not is_long or samples.restarts[-1] < _JUDGED_FROM:
        return Growth()
    thousands = [count / 1000 for count in samples.restarts]
    return Growth(
        blocks=slope(thousands, samples.blocks),
        heap=slope(thousands, samples.heap),
        resident=drift(thousands, samples.memory),
    )


def _planned(seen: Evidence, kind: FaultKind) -> int:
    return sum(fault.kind is kind for fault in seen.schedule)


def _row(seen: Evidence, kind: FaultKind, time: float) -> KindRow:
    faults = [fault for fault in seen.faults if fault.kind is kind]
    landed = [fault for fault in faults if fault.is_landed]
    restarts = sum(fault.restarts for fault in landed)
    return KindRow(
        kind=kind,
        planned=_planned(seen, kind),
        landed=len(landed),
        detect=_times([fault.detect for fault in landed]),
        restart=_times([fault.restart for fault in landed]),
        recovery=_times([fault.recovery for fault in landed]),
        restarts_each=restarts / len(landed) if landed else 0.0,
        availability=_share_left(sum(fault.down for fault in landed), time),
        prompts=sum((fault.prompts for fault in faults), Prompts()),
        breaches=sum(fault.breaches for fault in faults),
        alone=seen.alone.get(kind),
    )


def _times(seconds: Sequence[float | None]) -> Times:
    known = [each for each in seconds if each is not None]
    longest = max(known, default=None)
    return Times(p50=percentile(known, 50), p99=percentile(known, 99), longest=longest)


def _share_left(lost: float, time: float) -> float:
    return max(0.0, 1 - lost / time) if time else 1.0


def _list(faults: Sequence[FaultRecord]) -> str:
    return "; ".join(f"{fault.number} {fault.kind.value}: {fault.proof}" for fault in faults[:5])
