"""Writes lines to a terminal: finished ones once, and only the changed lines of the frame below."""

from __future__ import annotations

import os
import re
import select
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from rich.cells import cell_len

BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"  # terminals that know it show everything at once
HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
CLEAR_REST_OF_LINE, PLAIN = "\x1b[K", "\x1b[m"
# Not the whole screen at once, which makes tmux keep its lines in the scrollback.
CLEAR_BELOW: Final = "\x1b[C\x1b[J\r\x1b[K"
# How long `close` waits for a terminal that accepts nothing.
PATIENCE: Final = 2.0
SGR: Final = re.compile(r"\x1b\[[0-9;]*m")


class Terminal(Protocol):
    """Where bytes go, like `io.FileIO(1, "w", closefd=False)`; it may accept a part or nothing."""

    def write(self, data: bytes, /) -> int | None:
        """The number of bytes accepted; None if it would block."""
        ...

    def fileno(self) -> int:
        """The descriptor to wait on until it accepts more."""
        ...


class Painter:
    """The screen of a terminal, from the cursor's line down. `close` restores it.

    Between two paints the cursor is in the first column of the frame's first line, so everything
    below it is ours, even after the terminal was resized and has rewrapped its lines.
    `rewritten` counts the lines written, `paints` the paints that wrote something.
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
        """Print the finished lines, and replace the last frame with this one below them.

        While the terminal accepts nothing, frames are skipped; finished lines are kept.
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
        """Show the cursor below what was painted, which stays. Painting again is allowed."""
        rest = "".join(f"{line}\r\n" for line in self._postponed)
        if self._is_open:
            rest = "\r\n" * len(self._frame) + rest + PLAIN + SHOW_CURSOR
        self._is_open, self._frame, self._postponed = False, [], []
        self._insist(rest.encode(errors="replace"))

    def _difference(self, lines: list[str], top: int, width: int) -> str:
        """The bytes that turn the old frame into these lines and leave the cursor in line `top`."""
        old, parts, row = self._frame, list[str](), 0
        for number, line in enumerate(lines):
            is_old = number < len(old)
            if is_old and old[number] == line:
                continue
            # By line feeds, not cursor moves: at the bottom of the screen this must scroll.
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
        """Whether the terminal has accepted all of it and of the backlog."""
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


def cropped(line: str, width: int) -> str:
    """The part of a rendered line that fits: a wider one would wrap."""
    if cell_len(SGR.sub("", line)) <= width:
        return line
    room, parts = width, list[str]()
    for piece in re.split(f"({SGR.pattern})", line):
        if SGR.fullmatch(piece):
            parts.append(piece)
            continue
        fits = next((n for n in range(len(piece), 0, -1) if cell_len(piece[:n]) <= room), 0)
        parts.append(piece[:fits])
        room = room - cell_len(piece[:fits]) if fits == len(piece) else 0
    return "".join(parts)
