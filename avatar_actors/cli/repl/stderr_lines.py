"""What is written to stderr while the screen is the REPL's: lines above it, not a mess in it."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Callable
from contextlib import suppress

from avatar_actors.cli.terminal.text import plain


class StderrLines(io.TextIOBase):
    """Stands in for `sys.stderr`; any thread may write, whole lines are told in the loop's."""

    def __init__(self, tell: Callable[[list[str]], None]) -> None:
        super().__init__()
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._open = ""

    def writable(self) -> bool:
        """For who asks."""
        return True

    def write(self, text: str, /) -> int:
        """Of the last line only when it has its end."""
        with self._lock:
            *whole, self._open = (self._open + text).split("\n")
        if whole:
            with suppress(RuntimeError):  # the loop has ended, and with it the screen
                self._loop.call_soon_threadsafe(self._tell, [plain(line) for line in whole])
        return len(text)
