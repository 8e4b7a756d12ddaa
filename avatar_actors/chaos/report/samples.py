"""Samples the host every second of a run: memory, descriptors, tasks and threads."""

from __future__ import annotations

import ctypes
import sys
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import trio
from msgspec import Struct

from avatar_actors.chaos.counters import RunCounters
from avatar_actors.chaos.faults.injected_errors import Shortage
from avatar_actors.chaos.leak_check import busy_threads, open_descriptors

_STATM = Path("/proc/self/statm")
_PAGE = 4096


class _MallInfo(ctypes.Structure):
    """glibc's `struct mallinfo2`."""

    _fields_: ClassVar = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def _heap_teller() -> Callable[[], _MallInfo] | None:
    try:
        function = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError):  # another C library, or an older glibc
        return None
    function.restype = _MallInfo
    return function


def _trimmer() -> Callable[[int], int]:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):  # another C library
        return lambda pad: pad


_MALLINFO, _TRIM = _heap_teller(), _trimmer()


def blocks() -> int:
    """Blocks of Python's own allocator that are in use: every object has at least one."""
    return sys.getallocatedblocks()


def heap() -> int:
    """Bytes of the C library's allocator in use, where large things are; 0 where it cannot tell."""
    if _MALLINFO is None:
        return 0
    info = _MALLINFO()
    return int(info.uordblks + info.hblkhd)


def resident() -> int:
    """Bytes that the system counts for this program (RSS), after what is free was given back.

    The C library keeps what is freed, so without that it would be the most there ever was at once.
    Python gives back what it can by itself, in arenas: one object that lives on keeps a whole one.
    """
    _TRIM(0)
    return int(_STATM.read_text("ascii").split()[1]) * _PAGE


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

    async def run(self, counters: RunCounters, shortage: Shortage) -> None:
        """Until cancelled."""
        began = time.monotonic()
        while self._count < len(self._columns["seconds"]):
            await shortage.over()
            row = (
                time.monotonic() - began,
                counters.restarts,
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
