"""Writes lines, tables and JSON to stdout, and notes to stderr, safe for a terminal."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click
import msgspec

from avatar_actors import (
    ActivityEvent,
    AvatarEvent,
    ContextEvent,
    CostEvent,
    DiagnosticEvent,
    EngineStateEvent,
    PlanEvent,
    SessionInfoEvent,
    TextEvent,
    ThinkingEvent,
    UnrecognisedEvent,
)
from avatar_actors.cli.terminal.device import wants_colour
from avatar_actors.cli.terminal.text import one_line, plain, without_controls

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

GAP: Final = 2
# A column cut to less than this tells nothing.
NARROWEST: Final = 16
NOTHING: Final = "-"
# A pipe or a file has room for everything.
UNLIMITED: Final = 100_000


def say(text: str = "") -> None:
    """One line or several, without anything that a terminal would obey."""
    click.echo(plain(text) if sys.stdout.isatty() else without_controls(text))


def say_aside(text: str) -> None:
    """One line on stderr."""
    click.echo(one_line(f"avatar: {text}"), err=True)


def say_heading(text: str) -> None:
    """One line, in bold."""
    click.echo(click.style(plain(text), bold=True) if _has_colour() else plain(text))


def say_note(text: str) -> None:
    """A longer line, wrapped at the width of the terminal."""
    from rich.text import Text  # noqa: PLC0415 - only some commands need it

    for line in _rendered(Text(plain(text)), _width()):
        click.echo(line)


def say_table(columns: Sequence[str], rows: Iterable[Sequence[str]], cut: str = "") -> None:
    """A table as wide as the terminal; `cut` names the column that may be cut."""
    for line in table_lines(columns, rows, cut, _width()):
        click.echo(line)


def table_lines(
    columns: Sequence[str], rows: Iterable[Sequence[str]], cut: str, width: int
) -> list[str]:
    """The table within the width; where too little is left of the cut column, records instead."""
    from rich.cells import cell_len  # noqa: PLC0415 - only some commands need it

    cells = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, each)) for each in zip(columns, *cells, strict=True)]
    excess = sum(widths) + GAP * (len(widths) - 1) - width
    is_narrow = excess > 0 and (not cut or widths[columns.index(cut)] - excess < NARROWEST)
    table = _records(columns, cells) if is_narrow else _table(columns, cells, cut)
    return _rendered(table, width)


def _table(columns: Sequence[str], rows: list[list[str]], cut: str) -> Table:
    from rich.table import Table  # noqa: PLC0415 - the same
    from rich.text import Text  # noqa: PLC0415 - the same

    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for name in columns:
        table.add_column(name.upper(), no_wrap=name != cut)
    for row in rows:
        table.add_row(*(Text(cell, no_wrap=True, overflow="ellipsis") for cell in row))
    return table


def _records(columns: Sequence[str], rows: list[list[str]]) -> Table:
    """Each row as a block: its first cell, then the others under their names."""
    from rich.table import Table  # noqa: PLC0415 - the same
    from rich.text import Text  # noqa: PLC0415 - the same

    blocks = Table.grid()
    for first, *rest in rows:
        blocks.add_row(Text(first, "bold", no_wrap=True, overflow="ellipsis"))
        block = Table.grid(padding=(0, GAP, 0, 0))
        block.add_column(no_wrap=True, min_width=GAP + max(map(len, columns[1:])))
        block.add_column(overflow="fold")
        for name, cell in zip(columns[1:], rest, strict=True):
            if cell != NOTHING:
                block.add_row(f"{' ' * GAP}{name}", cell)
        blocks.add_row(block)
    return blocks


def _rendered(content: Table | Text, width: int) -> list[str]:
    from avatar_actors.cli.terminal.rendering import Renderer, Style  # noqa: PLC0415 - the same

    return Renderer(Style(colour=_has_colour())).lines(content, width)


def _has_colour() -> bool:
    return sys.stdout.isatty() and wants_colour()


def _width() -> int:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else UNLIMITED


_ENCODER: Final = msgspec.json.Encoder()
# The controls that JSON lets through and some terminals obey, as JSON may also write them.
_CONTROLS: Final = re.compile(rb"\x7f|\xc2([\x80-\x9f])")


def json_lines(values: Sequence[object]) -> bytes:
    """One line of JSON for each value, safe for a terminal."""
    return _CONTROLS.sub(_escaped, _ENCODER.encode_lines(values))


def _escaped(control: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % control[0][-1]


def say_json(value: object) -> None:
    """One object on one line."""
    click.echo(json_lines([value]), nl=False)


# Shown with -vv only: whatever is not a step in the life of the avatar, its turn and its tools.
DETAILS: Final = (
    ActivityEvent,
    ContextEvent,
    CostEvent,
    EngineStateEvent,
    PlanEvent,
    SessionInfoEvent,
    ThinkingEvent,
    UnrecognisedEvent,
)
_LONGEST: Final = 200
# Breaches of permissions, and an agent that runs in another way than it should.
_ALWAYS: Final = frozenset({"fallback", "permissions"})


class StderrNotes:
    """Notes beside the answer: which agent and why, and with -v what happens."""

    def __init__(self, verbose: int) -> None:
        self._verbose = verbose
        self.is_terminal = sys.stderr is not None and sys.stderr.isatty()

    def say(self, text: str) -> None:
        """A dim line, if a person looks or more was asked for."""
        if self._verbose or self.is_terminal:
            line = one_line(text)
            short = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
            self._write(click.style(short, dim=True))

    def warn(self, text: str) -> None:
        """A line in any case."""
        self._write(f"avatar: {one_line(text)}")

    def tell(self, events: Sequence[AvatarEvent]) -> None:
        """With -v the steps, with -vv every event but text; in any case what must be known."""
        for event in events:
            if isinstance(event, DiagnosticEvent) and event.source in _ALWAYS:
                self.warn(event.message)
        for event in events if self._verbose else ():
            if not isinstance(event, TextEvent if self._verbose > 1 else (TextEvent, *DETAILS)):
                self.say(described(event))

    def _write(self, line: str) -> None:
        # Nobody reads stderr any more; the answer is what counts.
        with suppress(OSError):
            click.echo(line, err=True)


def described(event: AvatarEvent) -> str:
    """An event in one line: its kind and its non-empty fields."""
    fields: dict[str, object] = msgspec.to_builtins(event)
    kind = fields.pop("type")
    shown = (
        f"{name}={value if isinstance(value, str) else msgspec.json.encode(value).decode()}"
        for name, value in fields.items()
        if name not in AvatarEvent.__struct_fields__ and value not in (None, "", (), [], {})
    )
    return f"[{kind}] {' '.join(shown)}".rstrip()
