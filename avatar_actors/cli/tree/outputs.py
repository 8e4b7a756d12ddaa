"""How a tree is shown: alive for a person, as lines for a pipe, as JSON for a program."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from typing import Protocol

from avatar_actors import TreeSnapshot
from avatar_actors.cli.chat.pipe_output import json_lines
from avatar_actors.cli.chat.stderr_output import Remarks
from avatar_actors.cli.terminal.device import StdoutWriter
from avatar_actors.cli.terminal.text import plain
from avatar_actors.cli.tree.view import TreeView
from avatar_actors.cli.tree.wording import is_notable, told

_USUAL = (100, 24)


class TreeShow(Protocol):
    """One of three."""

    async def attend(self) -> None:
        """What it does beside, until it is cancelled."""
        ...

    async def show(self, snapshot: TreeSnapshot) -> None:
        """The tree is like this now. OSError: nobody looks any more."""
        ...

    def say(self, state: str) -> None:
        """What is below the tree: how it stands with the turn."""
        ...

    def warn(self, text: str) -> None:
        """A line that stays."""
        ...

    async def finish(self) -> None:
        """This was the last: it stays."""
        ...

    def restore(self) -> None:
        """Leave everything as it was found; twice is once."""
        ...


class TreeLines:
    """The tree at the beginning and at the end; between them a line for each notable change."""

    def __init__(self, outlet: StdoutWriter, view: TreeView, verbose: int) -> None:
        self._outlet, self._view, self._verbose = outlet, view, verbose
        self._state = ""
        self._notes: list[str] = []

    async def attend(self) -> None:
        """Nothing."""

    async def show(self, snapshot: TreeSnapshot) -> None:
        """The first as a tree, of the others what has happened."""
        is_first = self._view.snapshot is None
        self._view.show(snapshot, time.time())
        if is_first:
            await self._write(self._tree())
        changes = () if is_first else snapshot.changes
        await self._write([told(each) for each in changes if self._verbose or is_notable(each)])

    def say(self, state: str) -> None:
        """Told at the end."""
        self._state = state

    def warn(self, text: str) -> None:
        """Told with the next lines."""
        self._notes.append(" ".join(plain(text).split()))

    async def finish(self) -> None:
        """The tree once more, and the last state."""
        await self._write(["", *self._tree(), *filter(None, [self._state])])

    def restore(self) -> None:
        """Nothing was changed."""

    def _tree(self) -> list[str]:
        return self._view.lines(shutil.get_terminal_size(_USUAL).columns, time.time())

    async def _write(self, lines: Sequence[str]) -> None:
        lines, self._notes = [*self._notes, *lines], []
        if lines:
            await self._outlet.write("".join(f"{line}\n" for line in lines).encode())


class TreeJson:
    """Each snapshot as one line of JSON."""

    def __init__(self, outlet: StdoutWriter, remarks: Remarks) -> None:
        self._outlet, self._remarks = outlet, remarks

    async def attend(self) -> None:
        """Nothing."""

    async def show(self, snapshot: TreeSnapshot) -> None:
        """Write it."""
        await self._outlet.write(json_lines([snapshot]))

    def say(self, state: str) -> None:
        """The exit code says it."""

    def warn(self, text: str) -> None:
        """On stderr."""
        self._remarks.warn(text)

    async def finish(self) -> None:
        """All was said."""

    def restore(self) -> None:
        """Nothing was changed."""
