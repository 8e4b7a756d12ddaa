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

from avatar_actors.chaos.faults.injected_errors import Shortage
from avatar_actors.chaos.leak_check import busy_threads, open_descriptors
from avatar_actors.chaos.report.statistics import RunCounters

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
    """Blocks of Python's own allocator in use: every object has at least one."""
    return sys.getallocatedblocks()


def heap() -> int:
    """Bytes of the C library's allocator in use, which serves large objects; 0 where unknown."""
    if _MALLINFO is None:
        return 0
    info = _MALLINFO()
    return int(info.uordblks + info.hblkhd)


def resident() -> int:
    """Bytes of resident memory (RSS), after free memory was given back.

    The C library keeps what is freed, so without that this would be the highest value ever reached.
    Python gives memory back in arenas by itself: one living object keeps a whole arena.
    """
    _TRIM(0)
    return int(_STATM.read_text("ascii").split()[1]) * _PAGE


_SCHEDULER = Path("/proc/thread-self/schedstat")
_EVERY = 1.0


class Effort(Struct, frozen=True):
    """Seconds that this program ran, and that its main thread waited for a core."""

    ran: float = 0.0
    starved: float = 0.0

    def __sub__(self, other: Effort) -> Effort:
        """The effort since then."""
        return Effort(self.ran - other.ran, self.starved - other.starved)


def effort() -> Effort:
    """The effort up to now."""
    waited = int(_SCHEDULER.read_text("ascii").split()[1]) / 1e9
    return Effort(time.process_time(), waited)


class Samples(Struct, frozen=True, kw_only=True):
    """Columns of samples; `memory` in bytes (RSS), `restarts` since the faults began.

    `blocks` and `heap` are what Python's and the C library's allocators have in use.
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
    """Takes samples into memory that is allocated at the start, so that it does not grow itself."""

    def __init__(self, seconds: float) -> None:
        self._columns = {
            name: array("d", bytes(8 * (int(seconds) + 64))) for name in Samples.__struct_fields__
        }
        self._count = 0

    async def run(self, counters: RunCounters, shortage: Shortage) -> None:
        """Takes samples until cancelled."""
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
            for name, value in zip(self._columns, row, strict=True):
                self._columns[name][self._count] = value
            self._count += 1
            await trio.sleep(_EVERY)

    def taken(self) -> Samples:
        """All samples."""
        rows = {name: list(column[: self._count]) for name, column in self._columns.items()}
        return Samples(**rows)
