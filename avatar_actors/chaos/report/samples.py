"""How the host does along the way, second by second: memory, descriptors, tasks, threads."""

from __future__ import annotations

import time
from array import array
from pathlib import Path

import trio
from msgspec import Struct

from avatar_actors.chaos.counters import Tally
from avatar_actors.chaos.faults.shortage import Shortage
from avatar_actors.chaos.oracle.leftovers import busy_threads, open_descriptors
from avatar_actors.chaos.report.live_memory import blocks, heap, resident

_SCHEDULER = Path("/proc/thread-self/schedstat")
_EVERY = 1.0
_COLUMNS = (
    *("seconds", "restarts", "memory", "blocks", "heap"),
    *("descriptors", "tasks", "threads"),
)


class Effort(Struct, frozen=True):
    """Seconds that this program ran, and that its main thread waited for a core."""

    ran: float = 0.0
    starved: float = 0.0

    def __sub__(self, other: Effort) -> Effort:
        """Since then."""
        return Effort(self.ran - other.ran, self.starved - other.starved)


def effort() -> Effort:
    """Up to now."""
    waited = int(_SCHEDULER.read_text("ascii").split()[1]) / 1e9
    return Effort(time.process_time(), waited)


class Samples(Struct, frozen=True, kw_only=True):
    """Rows side by side; `memory` in bytes (RSS), `restarts` since the faults began.

    `blocks` and `heap` are what is in use of it, by Python's and by the C library's allocator.
    """

    seconds: list[float]
    restarts: list[float]
    memory: list[float]
    blocks: list[float]
    heap: list[float]
    descriptors: list[float]
    tasks: list[float]
    threads: list[float]


class Sampler:
    """Its room is taken at the beginning: what it writes down later is no growth."""

    def __init__(self, seconds: float) -> None:
        self._columns = {name: array("d", bytes(8 * (int(seconds) + 64))) for name in _COLUMNS}
        self._count = 0

    async def run(self, tally: Tally, shortage: Shortage) -> None:
        """Until cancelled."""
        began = time.monotonic()
        while self._count < len(self._columns["seconds"]):
            await shortage.over()
            row = (
                time.monotonic() - began,
                tally.restarts,
                resident(),
                blocks(),
                heap(),
                open_descriptors(),
                trio.lowlevel.current_statistics().tasks_living,
                busy_threads(),
            )
            for name, value in zip(_COLUMNS, row, strict=True):
                self._columns[name][self._count] = value
            self._count += 1
            await trio.sleep(_EVERY)

    def taken(self) -> Samples:
        """All rows."""
        rows = {name: list(column[: self._count]) for name, column in self._columns.items()}
        return Samples(**rows)
