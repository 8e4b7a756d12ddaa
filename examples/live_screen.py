"""A few lines of a terminal, redrawn in place: only what changed is written, in one go."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from examples.spans import writable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from examples.spans import Line

HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
CLEAR_SCREEN = "\x1b[2J\x1b[H"
CLEAR_LINE = "\r\x1b[2K"


class LiveScreen:
    """The cursor rests below the last line; every line is reached from there."""

    def __init__(self, out: TextIO, paint: Callable[[Line], str]) -> None:
        self._out = out
        self._paint = paint
        self._shown: list[str] = []
        self._drawn_for: os.terminal_size | None = None

    def size(self) -> os.terminal_size:
        """Columns and rows that can be used without a wrap or a scroll."""
        columns, rows = os.get_terminal_size(self._out.fileno())
        return os.terminal_size((max(1, (columns or 80) - 1), max(1, (rows or 24) - 1)))

    def draw(self, lines: Sequence[Line]) -> None:
        """TreeOutput these lines in place of the ones before."""
        parts: list[str] = []
        if self._drawn_for not in (None, self.size()):
            # The terminal has wrapped or moved what was there, nobody knows how.
            parts.append(CLEAR_SCREEN)
            self._shown.clear()
        self._drawn_for = self.size()
        wanted = [self._paint(line) for line in lines]
        wanted += [""] * (len(self._shown) - len(wanted))
        parts.append("\n" * (len(wanted) - len(self._shown)))
        self._shown += [""] * (len(wanted) - len(self._shown))
        for above, (old, new) in enumerate(zip(self._shown[::-1], wanted[::-1], strict=True), 1):
            if old != new:
                parts.append(f"\x1b[{above}A{CLEAR_LINE}{new}\x1b[{above}B\r")
        self._shown = wanted
        self._write("".join(parts))

    @contextmanager
    def taken(self) -> Generator[None]:
        """Hide the cursor and the keys that are typed; give both back whatever happens."""
        self._write(HIDE_CURSOR)
        try:
            with keys_not_echoed():
                yield
        finally:
            self._write(SHOW_CURSOR)

    def _write(self, text: str) -> None:
        if text:
            self._out.write(writable(text, self._out.encoding))
            self._out.flush()


@contextmanager
def keys_not_echoed() -> Generator[None]:
    """A pressed Enter would move the picture by a line."""
    if sys.platform == "win32" or sys.stdin is None or not sys.stdin.isatty():
        yield
        return
    import termios  # noqa: PLC0415  not on every system

    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    quiet = [*before]
    quiet[3] &= ~termios.ECHO
    try:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, quiet)
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
