"""Writes to stdout without holding up the loop, however slow its reader is."""

from __future__ import annotations

import os
import select
import stat

import trio

# A pipe or terminal that can be written to takes so much at once.
_MOST = select.PIPE_BUF


class Outlet:
    """A descriptor that only this writes to. BrokenPipeError: nobody reads it any more."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._can_wait = _can_wait(descriptor)
        self.is_terminal = os.isatty(descriptor)

    async def write(self, data: bytes) -> None:
        """All of it. The descriptor stays blocking: others may have it, too."""
        view = memoryview(data)
        while view:
            if self._can_wait:
                await trio.lowlevel.wait_writable(self._descriptor)
            written = os.write(self._descriptor, view[:_MOST] if self._can_wait else view)
            view = view[written:]


def _can_wait(descriptor: int) -> bool:
    """A file is always ready, and epoll refuses to watch it."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)
