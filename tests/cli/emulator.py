"""A terminal that is not there: bytes in, rows out; the one place that knows pyte."""

import os
from typing import Any

import pyte


class _Window(pyte.HistoryScreen):
    """A screen whose lines go up into the history when it gets lower, as they do in a window."""

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        rows, columns = lines or self.lines, columns or self.columns
        over = max(0, self.cursor.y + 1 - rows)
        self.history.top.extend(self.buffer[y] for y in range(over))
        for y in range(self.lines):
            self.buffer[y] = self.buffer[y + over]
            for x in [x for x in self.buffer[y] if x >= columns]:
                del self.buffer[y][x]
        self.cursor.y -= over
        self.cursor.x = min(self.cursor.x, columns - 1)
        self.lines, self.columns = rows, columns
        self.dirty.update(range(rows))
        self.set_margins()


class _TmuxWindow(_Window):
    """Of a whole screen that is cleared the lines go up into the history, as in tmux."""

    def erase_in_display(self, how: int = 0, *args: Any, **kwargs: Any) -> None:
        if how == 0 and (self.cursor.x, self.cursor.y) == (0, 0):
            used = [y for y in range(self.lines) if self.display[y].strip()]
            self.history.top.extend(self.buffer.pop(y) for y in range(max(used, default=-1) + 1))
        super().erase_in_display(how, *args, **kwargs)


class Emulator:
    """A screen with its history above it, and a place to write to for a `Painter`."""

    window: type[_Window] = _Window

    def __init__(self, columns: int = 80, lines: int = 24) -> None:
        self._screen: Any = self.window(columns, lines, history=100_000, ratio=0.5)
        self._stream: Any = pyte.ByteStream(self._screen)
        self.written = b""

    def write(self, data: bytes) -> int:
        """Takes all of it."""
        self._stream.feed(data)
        self.written += data
        return len(data)

    def fileno(self) -> int:
        """Nobody ever has to wait for it."""
        raise AssertionError

    def size(self) -> os.terminal_size:
        return os.terminal_size((self._screen.columns, self._screen.lines))

    def resize(self, columns: int, lines: int) -> None:
        self._screen.resize(lines, columns)

    @property
    def rows(self) -> list[str]:
        """What is on the screen, without the empty rows at its end."""
        rows = [str(row).rstrip() for row in self._screen.display]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    @property
    def history(self) -> list[str]:
        """What has left the screen at its top."""
        return [
            "".join(row[column].data for column in range(self._screen.columns)).rstrip()
            for row in self._screen.history.top
        ]

    @property
    def all_rows(self) -> list[str]:
        return self.history + self.rows

    @property
    def has_cursor(self) -> bool:
        return not self._screen.cursor.hidden

    @property
    def cursor(self) -> tuple[int, int]:
        """Its row and column."""
        return self._screen.cursor.y, self._screen.cursor.x


class TmuxEmulator(Emulator):
    """The same as tmux is."""

    window = _TmuxWindow
