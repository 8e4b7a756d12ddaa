"""The report of a run as data, which is written and read as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from avatar_actors import SettingsError
from avatar_actors.chaos.counters import Prompts
from avatar_actors.chaos.faults.injector import FaultRecord
from avatar_actors.chaos.faults.kinds import FaultKind
from avatar_actors.chaos.faults.schedule import FaultOrder, PlannedFault
from avatar_actors.chaos.leak_check import Alone, Leftovers
from avatar_actors.chaos.report.samples import Samples
from avatar_actors.chaos.report.statistics import Histogram, Slope

_INDENT: Final = 1


class ChaosOptions(Struct, frozen=True, kw_only=True):
    """The options of a run. `every`: mean seconds between two faults; no `kinds`: all."""

    avatars: int = 20
    seconds: float = 60.0
    every: float = 0.5
    seed: int = 1
    kinds: tuple[FaultKind, ...] = ()
    provider: str = "embedded"
    order: FaultOrder = FaultOrder.MIXED


class Promise(Struct, frozen=True, kw_only=True):
    """A promise: how often it was broken."""

    name: str
    found: int
    words: str = ""

    @property
    def is_kept(self) -> bool:
        """Whether it was never broken."""
        return self.found == 0


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
