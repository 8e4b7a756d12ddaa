"""Answers of the inquiring commands: tables for people, or an object per line."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

import click
import msgspec
from msgspec import Struct
from rich.cells import cell_len, chop_cells, set_cell_size

from avatar_actors.cli.terminal.device import wants_colour
from avatar_actors.cli.terminal.text import plain, without_controls

GAP: Final = 2
# A cut column with less than this tells nothing.
NARROWEST: Final = 16
NOTHING: Final = "-"


class TableLine(NamedTuple):
    """A line of a table; a heading is for the columns, or for a record."""

    text: str
    is_heading: bool = False


class Table(Struct, frozen=True, kw_only=True):
    """`cut` names the column that may be cut to fit a terminal."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    cut: str = ""

    def lines(self, width: int | None) -> list[TableLine]:
        """Each within the width, which is None where nobody looks: then nothing is cut."""
        widths = self._widths()
        too_much = 0 if width is None else sum(widths) + GAP * (len(widths) - 1) - width
        if too_much > 0:
            place = self.columns.index(self.cut) if self.cut else 0
            if not self.cut or widths[place] - too_much < NARROWEST:
                return self._records(width or 0)
            widths[place] -= too_much
        heading = _joined([name.upper() for name in self.columns], widths)
        return [
            TableLine(heading, is_heading=True),
            *(TableLine(_joined(row, widths)) for row in self.rows),
        ]

    def _widths(self) -> list[int]:
        columns = zip(self.columns, *self.rows, strict=True)
        return [max(map(cell_len, column)) for column in columns]

    def _records(self, width: int) -> list[TableLine]:
        """The first column heads each, the others follow under their names."""
        indent = max(map(cell_len, self.columns[1:])) + 2 * GAP
        lines: list[TableLine] = []
        for first, *rest in self.rows:
            lines.append(TableLine(cut_to(first, width), is_heading=True))
            for name, text in zip(self.columns[1:], rest, strict=True):
                if text != NOTHING:
                    label = f"  {name}"
                    for part in wrapped(text, width - indent):
                        lines.append(TableLine(set_cell_size(label, indent) + part))
                        label = ""
        return lines


def cut_to(text: str, width: int) -> str:
    """The text in so many cells, with a mark where it was cut."""
    return text if cell_len(text) <= width else set_cell_size(text, width - 1).rstrip() + "…"


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of so many cells, between words as far as that goes."""
    room, lines = max(width, NARROWEST // 2), [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".lstrip()
        if cell_len(longer) <= room:
            lines[-1] = longer
        else:
            lines += chop_cells(word, room)
    return [line for line in lines if line]


def _joined(row: Sequence[str], widths: Sequence[int]) -> str:
    sized = zip(row, widths, strict=True)
    cells = [set_cell_size(cut_to(text, size), size) for text, size in sized]
    return (" " * GAP).join(cells).rstrip()


def say(text: str = "") -> None:
    """One line, or several, with nothing in it that a terminal would obey."""
    click.echo(plain(text) if sys.stdout.isatty() else without_controls(text))


def say_aside(text: str) -> None:
    """One line on stderr."""
    click.echo(" ".join(plain(f"avatar: {text}").split()), err=True)


def say_heading(text: str) -> None:
    """The same, to be seen at once."""
    click.echo(click.style(plain(text), bold=True) if _is_for_person() else plain(text))


def say_note(text: str) -> None:
    """A longer line, broken between its words where the terminal ends."""
    width = _width()
    for line in [text] if width is None else wrapped(plain(text), width):
        say(line)


def say_table(table: Table) -> None:
    """A table, as wide as the terminal; into a pipe it goes whole."""
    rows = tuple(tuple(" ".join(plain(cell).split()) for cell in row) for row in table.rows)
    for line in msgspec.structs.replace(table, rows=rows).lines(_width()):
        (say_heading if line.is_heading else say)(line.text)


def say_json(value: object) -> None:
    """One object, on one line."""
    click.echo(msgspec.json.encode(value).decode())


def _is_for_person() -> bool:
    return sys.stdout.isatty() and wants_colour()


def _width() -> int | None:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
