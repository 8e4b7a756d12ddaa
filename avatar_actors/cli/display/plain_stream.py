"""Text as it grows, wrapped and otherwise as it is: thoughts, and what is too long for Markdown."""

from __future__ import annotations

from itertools import repeat

from rich.cells import get_character_cell_size

from avatar_actors.cli.display.rendering import Renderer


class PlainStream:
    """Text in, lines out; only the last row is open, however long a line may grow."""

    def __init__(self, ink: Renderer, style: str = "", margin: str = "") -> None:
        self._ink = ink
        self._style = style
        self._margin = margin
        self._lead = margin
        self._row = ""

    def begin(self, lead: str) -> None:
        """The next row has this in place of the margin, and is as wide."""
        self._lead = lead

    def feed(self, text: str, width: int) -> list[str]:
        """More of it; the lines that are complete now."""
        width = max(1, width - len(self._margin))
        *whole, self._row = (self._row + text).split("\n")
        rows: list[str] = []
        for line in whole:
            complete, rest = divided(line, width)
            rows += [*complete, rest]
        complete, self._row = divided(self._row, width)
        lines = self._drawn([*rows, *complete])
        self._lead = self._margin if lines else self._lead
        return lines

    def end(self, width: int) -> list[str]:
        """The rest."""
        lines = self.open_lines(width)
        self._row, self._lead = "", self._margin
        return lines

    def open_lines(self, width: int) -> list[str]:
        """The open row; two, if the width has changed."""
        if not self._row.strip():
            return []
        complete, rest = divided(self._row, max(1, width - len(self._margin)))
        return self._drawn([*complete, rest])

    def _drawn(self, rows: list[str]) -> list[str]:
        margins = [self._lead, *repeat(self._margin, len(rows))]
        return [
            self._ink.styled(f"{margin}{row}".rstrip(), self._style)
            for margin, row in zip(margins, rows, strict=False)
        ]


def divided(line: str, width: int) -> tuple[list[str], str]:
    """The rows that are full, and the last one. What follows later changes none of the full."""
    rows: list[str] = []
    at = 0
    while (fits := _fitting(line, at, width)) < len(line):
        space = line.rfind(" ", at + 1, fits + 1)
        end = fits if space < 0 or not line[at:space].strip() else space
        rows.append(line[at:end].rstrip())
        at = end + 1 if line[end] == " " else end
    return rows, line[at:]


def _fitting(line: str, at: int, width: int) -> int:
    """Up to where it fits into the width."""
    end = min(len(line), at + width)
    if line[at:end].isascii():
        return end
    cells = 0
    for index in range(at, len(line)):
        cells += get_character_cell_size(line[index])
        if cells > width:
            return max(index, at + 1)
    return len(line)
