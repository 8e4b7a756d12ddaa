"""Lines that scroll by at a reader's pace, wrapped to the width that the terminal has now."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

import trio

from examples.spans import EMPTY, Line, Span, columns, head, line_columns, without_colours, writable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PIPED_COLUMNS = 80
# Narrower than this nobody reads; the terminal may wrap what is left.
FEWEST_COLUMNS = 20


@dataclass(frozen=True)
class Pace:
    """Seconds for each word, and for a line's worth of thinking."""

    word: float = 0.0
    breath: float = 0.0


READING = Pace(word=0.016, breath=0.45)
AT_ONCE = Pace()


class Scroll:
    """Writes from top to bottom and never moves the cursor back."""

    def __init__(
        self, out: TextIO, pace: Pace, paint: Callable[[Line], str] = without_colours
    ) -> None:
        self._out = out
        self._pace = pace
        self._paint = paint

    async def say(self, line: Line, hang: int = 0) -> None:
        """One line; what does not fit goes on below, indented by `hang`."""
        for row in wrapped(line, self._columns(), hang):
            for piece in row:
                self._write(self._paint((piece,)))
                await self._rest(self._pace.word * len(piece.text.split()))
            self._write("\n")

    async def show(self, text: str) -> None:
        """A picture: its lines are cut at the edge, not wrapped."""
        for row in text.splitlines():
            self._write(row[: self._columns()] + "\n")
            await self._rest(self._pace.word * 2)

    async def blank(self) -> None:
        """An empty line, and time to breathe."""
        self._write("\n")
        await self.breathe()

    async def breathe(self, breaths: float = 1.0) -> None:
        """Let the reader catch up."""
        await self._rest(self._pace.breath * breaths)

    def note(self, line: Line) -> None:
        """A line that cannot wait, as after a Ctrl-C."""
        for row in wrapped(line, self._columns(), 0):
            self._write(self._paint(row) + "\n")

    def _columns(self) -> int:
        if not self._out.isatty():
            return PIPED_COLUMNS
        return max(FEWEST_COLUMNS, (os.get_terminal_size(self._out.fileno()).columns or 80) - 1)

    async def _rest(self, seconds: float) -> None:
        if seconds > 0:
            await trio.sleep(seconds)

    def _write(self, text: str) -> None:
        self._out.write(writable(text, self._out.encoding))
        self._out.flush()


def wrapped(line: Line, width: int, hang: int) -> list[Line]:
    """The line as rows of at most `width` cells, broken between words where there are any."""
    rows: list[list[Span]] = [[]]
    used = 0
    for piece in _pieces(line, width - hang):
        if used + columns(piece.text.rstrip()) > width and rows[-1]:
            rows.append([Span(" " * hang)])
            used = hang
        rows[-1].append(piece)
        used += columns(piece.text)
    return [_without_end(tuple(row)) for row in rows]


def _pieces(line: Line, longest: int) -> Iterator[Span]:
    """Words with the space behind them, none longer than a row."""
    for span in line:
        for word in re.findall(r"\s*\S*\s*", span.text):
            rest = word
            while columns(rest.rstrip()) > longest:
                yield Span(head(rest, longest), span.style)
                rest = rest.removeprefix(head(rest, longest))
            if rest:
                yield Span(rest, span.style)


def _without_end(row: Line) -> Line:
    """The row without the space at its end, which could run over the edge."""
    while row and not row[-1].text.rstrip():
        row = row[:-1]
    if not row or not line_columns(row):
        return EMPTY
    return *row[:-1], Span(row[-1].text.rstrip(), row[-1].style)
