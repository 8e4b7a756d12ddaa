"""Where the answers of the inquiring commands go: lines for people, or an object per line."""

from __future__ import annotations

import shutil
import sys

import click
import msgspec

from avatar_actors.cli.terminal.output import Table, wrapped
from avatar_actors.cli.terminal.terminal_traits import wants_colour
from avatar_actors.cli.terminal.text import plain, without_controls


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
