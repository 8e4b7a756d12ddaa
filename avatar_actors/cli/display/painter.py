"""Puts lines on a terminal: what is finished once, and of the frame below it only what changed."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from rich.cells import cell_len

from avatar_actors.cli.display.rendering import SGR, cropped

BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"  # a terminal that knows it shows all at once
HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
CLEAR_REST_OF_LINE, PLAIN = "\x1b[K", "\x1b[m"
# From the second column on, then the line: of a whole screen that is cleared tmux keeps the lines.
CLEAR_BELOW: Final = "\x1b[C\x1b[J\r\x1b[K"
# How long the end waits for a terminal that takes nothing.
PATIENCE: Final = 2.0


class Terminal(Protocol):
    """Where bytes go, as `io.FileIO(1, "w", closefd=False)`; it may take a part, or nothing."""

    def write(self, data: bytes, /) -> int | None:
        """How many bytes were taken; None: none, for it would have to wait."""
        ...

    def fileno(self) -> int:
        """For waiting until it takes more."""
        ...


class Painter:
    """The screen of a terminal, from the cursor's line down. `close` restores it.

    Between two paints the cursor is in the first column of the frame's first line: so all below it
    is ours, also after the terminal has changed its size and wrapped everything in its own way.
    `rewritten` counts the lines that were written, `paints` how often something was.
    """

    def __init__(self, terminal: Terminal, size: Callable[[], os.terminal_size]) -> None:
        self._terminal = terminal
        self._size = size
        self._frame: list[str] = []
        self._postponed: list[str] = []
        self._drawn_for = os.terminal_size((0, 0))
        self._backlog = b""
        self._is_open = False
        self.rewritten = 0
        self.paints = 0

    def paint(self, finished: Sequence[str], frame: Sequence[str]) -> None:
        """Print what is finished, and show this frame below it in place of the last one.

        While the terminal takes nothing, frames are left out; what is finished is kept.
        """
        self._postponed += finished
        if not self._sent(b""):
            return
        size = self._size()
        above = [cropped(line, size.columns) for line in self._postponed]
        below = [cropped(line, size.columns) for line in frame[-size.lines :]]
        prologue = "" if self._is_open else HIDE_CURSOR
        if size != self._drawn_for or not self._is_open:
            prologue += CLEAR_BELOW
            self._frame = []
        drawn = prologue + self._difference([*above, *below], len(above), size.columns)
        self._drawn_for, self._frame, self._postponed = size, below, []
        if drawn:
            self._is_open = True
            self.paints += 1
            self._sent(f"{BEGIN}{drawn}{END}".encode(errors="replace"))

    def close(self) -> None:
        """Show the cursor again, below what was painted, which stays. Painting again is allowed."""
        rest = "".join(f"{line}\r\n" for line in self._postponed)
        if self._is_open:
            rest = "\r\n" * len(self._frame) + rest + PLAIN + SHOW_CURSOR
        self._is_open, self._frame, self._postponed = False, [], []
        self._insist(rest.encode(errors="replace"))

    def _difference(self, lines: list[str], top: int, width: int) -> str:
        """What makes these lines of the old frame, and leaves the cursor in the line `top`."""
        old, parts, row = self._frame, list[str](), 0
        for number, line in enumerate(lines):
            is_old = number < len(old)
            if is_old and old[number] == line:
                continue
            # Not by moving the cursor: at the end of the screen this must scroll.
            parts += ["\r\n" * (number - row), line]
            if is_old and cell_len(SGR.sub("", line)) < width:
                parts.append(CLEAR_REST_OF_LINE)
            parts.append("\r")
            row = number
            self.rewritten += 1
        if len(lines) < len(old):
            parts.append("\r\n" * (len(lines) - row) + CLEAR_BELOW)
            row = len(lines)
        up = f"\x1b[{row - top}A" if row > top else ""
        return "".join(parts) + up + "\r\n" * (top - row)

    def _sent(self, data: bytes) -> bool:
        """Whether the terminal has taken all of it, and of what was left before."""
        self._backlog += data
        while self._backlog:
            taken = self._terminal.write(self._backlog)
            if not taken:
                return False
            self._backlog = self._backlog[taken:]
        return True

    def _insist(self, data: bytes) -> None:
        while not self._sent(data):
            data = b""
            _, ready, _ = select.select([], [self._terminal.fileno()], [], PATIENCE)
            if not ready:
                return
