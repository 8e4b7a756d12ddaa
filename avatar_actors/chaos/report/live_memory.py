"""What this program holds of memory now: not what it ever had at once."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

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
