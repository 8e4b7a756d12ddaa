"""Computes the bytes that show lines: finished ones once, of the frame below only the changes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Final

from rich.cells import cell_len

BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"  # terminals that know it show everything at once
HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
CLEAR_REST_OF_LINE, PLAIN = "\x1b[K", "\x1b[m"
# Not the whole screen at once, which makes tmux keep its lines in the scrollback.
CLEAR_BELOW: Final = "\x1b[C\x1b[J\r\x1b[K"
SGR: Final = re.compile(r"\x1b\[[0-9;]*m")


class Painter:
    """The screen of a terminal, from the cursor's line down; it writes nothing itself.

    Between two paints the cursor is in the first column of the frame's first line, so everything
    below it is ours, even after the terminal was resized and has rewrapped its lines.
    `rewritten` counts the lines written, `paints` the paints that wrote something.
    """

    def __init__(self, size: Callable[[], os.terminal_size]) -> None:
        self._size = size
        self._frame: list[str] = []
        self._drawn_for = os.terminal_size((0, 0))
        self._is_open = False
        self.rewritten = 0
        self.paints = 0

    def paint(self, finished: Sequence[str], frame: Sequence[str]) -> bytes:
        """Print the finished lines, and replace the last frame with this one below them."""
        size = self._size()
        above = [cropped(line, size.columns) for line in finished]
        below = [cropped(line, size.columns) for line in frame[-size.lines :]]
        prologue = "" if self._is_open else HIDE_CURSOR
        if size != self._drawn_for or not self._is_open:
            prologue += CLEAR_BELOW
            self._frame = []
        drawn = prologue + self._difference([*above, *below], len(above), size.columns)
        self._drawn_for, self._frame = size, below
        if not drawn:
            return b""
        self._is_open = True
        self.paints += 1
        return f"{BEGIN}{drawn}{END}".encode(errors="replace")

    def close(self) -> bytes:
        """Show the cursor below what was painted, which stays. Painting again is allowed."""
        rest = "\r\n" * len(self._frame) + PLAIN + SHOW_CURSOR if self._is_open else ""
        self._is_open, self._frame = False, []
        return rest.encode()

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
