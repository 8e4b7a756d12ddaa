"""What this program holds of memory now: not what it ever had, which the system shows as RSS."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import ClassVar


class _MallInfo(ctypes.Structure):
    """glibc's `struct mallinfo2`."""

    _fields_: ClassVar = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def _found() -> Callable[[], _MallInfo] | None:
    try:
        function = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError):  # another C library, or an older glibc
        return None
    function.restype = _MallInfo
    return function


_MALLINFO = _found()


def blocks() -> int:
    """Blocks of Python's own allocator that are in use: every object has at least one."""
    return sys.getallocatedblocks()


def heap() -> int:
    """Bytes of the C library's allocator in use, where large things are; 0 where it cannot tell."""
    if _MALLINFO is None:
        return 0
    info = _MALLINFO()
    return int(info.uordblks + info.hblkhd)
