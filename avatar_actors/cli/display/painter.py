"""Puts lines on a terminal: what is finished once, and of the frame below it only what changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Protocol


class Terminal(Protocol):
    """Where bytes go, as `io.FileIO(1, "w", closefd=False)`; it may take a part, or nothing."""

    def write(self, data: bytes, /) -> int | None:
        """How many bytes were taken; None: none, for it would have to wait."""
        ...

    def fileno(self) -> int:
        """For waiting until it takes more."""
        ...


class Painter:
    """The screen of a terminal, from the cursor's line down. `close` restores it."""

    def __init__(self, terminal: Terminal, size: Callable[[], os.terminal_size]) -> None:
        self._terminal = terminal
        self._size = size
        self._frame: list[str] = []
        self.rewritten = 0

    def paint(self, finished: Sequence[str], frame: Sequence[str]) -> None:
        """Print what is finished, and show this frame below it in place of the last one."""
        up = f"\x1b[{len(self._frame)}A" if self._frame else ""
        lines = [*finished, *frame]
        self._write("\x1b[?25l\r" + up + "\x1b[J" + "".join(f"{line}\r\n" for line in lines))
        self._frame = list(frame)
        self.rewritten += len(lines)

    def close(self) -> None:
        """Show the cursor again; what was painted stays. Painting again is allowed."""
        self._write("\x1b[?25h")
        self._frame = []

    def _write(self, text: str) -> None:
        data = text.encode()
        while data:
            data = data[self._terminal.write(data) or 0 :]
