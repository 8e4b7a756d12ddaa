"""The three ways to show a tree: live for a person, as lines for a pipe, as JSON for a program."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from typing import Final, TypeAlias

import trio

from avatar_actors import (
    Avatar,
    AvatarEvent,
    PermissionClosedEvent,
    PermissionEvent,
    ProviderCapabilities,
    QuestionClosedEvent,
    QuestionEvent,
    TextEvent,
    TreeSnapshot,
)
from avatar_actors.cli.display import Display, Style
from avatar_actors.cli.terminal.device import Keyboard, StdoutWriter
from avatar_actors.cli.terminal.live_screen import LiveScreen
from avatar_actors.cli.terminal.output import StderrNotes, json_lines
from avatar_actors.cli.terminal.permissions import DenyAll
from avatar_actors.cli.terminal.text import one_line, terminal_safe
from avatar_actors.cli.tree.view import ALL, TreeView, change_line, is_notable

_USUAL: Final = (100, 24)
# The headline, a line of the tree, the state, and one that scrolls.
_LEAST_TREE: Final = 4


class TreePipe:
    """A tree for a pipe: nobody can be asked, and there is no terminal to restore."""

    @property
    def is_away(self) -> bool:
        """Never: there is no editor."""
        return False

    def __init__(self, writer: StdoutWriter) -> None:
        self._writer = writer
        self._approvals = DenyAll(self.warn)

    async def attend(self) -> None:
        """Nothing to do."""

    def say(self, state: str) -> None:
        """Not shown: the exit code tells it."""

    def warn(self, text: str) -> None:
        """Where a subclass writes it."""
        raise NotImplementedError

    def meet(self, avatar: Avatar, can: ProviderCapabilities) -> None:
        """The avatar whose requests are denied."""
        self._approvals.avatar = avatar

    async def hear(self, events: Sequence[AvatarEvent]) -> None:
        """Deny the requests among these events."""
        await self._approvals.hear(events)

    async def finish(self, answer: str = "") -> None:
        """Nothing is left to write: the snapshots are the answer."""

    def restore(self) -> None:
        """Nothing was changed."""


class TreeLines(TreePipe):
    """The tree at the beginning and at the end; in between a line for each notable change."""

    def __init__(self, writer: StdoutWriter, view: TreeView, verbose: int) -> None:
        super().__init__(writer)
        self._view, self._verbose = view, verbose
        self._state = ""
        self._notes: list[str] = []

    async def show(self, snapshot: TreeSnapshot) -> None:
        """Write the first as a tree, of the others the changes."""
        is_first = self._view.snapshot is None
        self._view.show(snapshot, time.time())
        if is_first:
            await self._write(self._tree())
            return
        notable = (each for each in snapshot.changes if self._verbose or is_notable(each))
        await self._write([change_line(each) for each in notable])

    def say(self, state: str) -> None:
        """Written at the end."""
        self._state = state

    def warn(self, text: str) -> None:
        """Written with the next lines."""
        self._notes.append(one_line(text))

    async def finish(self, answer: str = "") -> None:
        """Write the tree once more, the last state, and what the agent has said."""
        said = ["", *terminal_safe(answer).strip().split("\n")] if answer.strip() else []
        await self._write(["", *self._tree(), *filter(None, [self._state]), *said])

    def _tree(self) -> list[str]:
        return self._view.lines(shutil.get_terminal_size(_USUAL).columns, time.time())

    async def _write(self, lines: Sequence[str]) -> None:
        lines, self._notes = [*self._notes, *lines], []
        if lines:
            await self._writer.write("".join(f"{line}\n" for line in lines).encode())


class TreeJson(TreePipe):
    """Each snapshot as one line of JSON; warnings on stderr."""

    def __init__(self, writer: StdoutWriter, notes: StderrNotes) -> None:
        super().__init__(writer)
        self._notes = notes

    async def show(self, snapshot: TreeSnapshot) -> None:
        """Write the snapshot."""
        await self._writer.write(json_lines([snapshot]))

    def warn(self, text: str) -> None:
        """On stderr."""
        self._notes.warn(text)


_QUESTIONS = (PermissionEvent, PermissionClosedEvent, QuestionEvent, QuestionClosedEvent)


class TreeScreen:
    """The live tree in a terminal, with the agent's questions below it.

    It is a `Picture` too: the questions come from a `Display` that is told nothing else.
    """

    def __init__(self, descriptor: int, keyboard: Keyboard, style: Style) -> None:
        self.left = trio.Event()
        self._screen = LiveScreen(descriptor, keyboard, self.warn, self._on_key)
        self._questions, self._answer = Display(style), Display(style)
        self._view, self._verbose = TreeView(style), style.verbose
        self._above: list[str] = []
        self._state = ""
        self._is_over = self._is_whole = False

    @property
    def is_away(self) -> bool:
        """Whether an editor has the terminal."""
        return self._screen.is_away

    async def attend(self) -> None:
        """Paint, read keys and follow the window, until cancelled."""
        await self._screen.run(self)

    async def show(self, snapshot: TreeSnapshot) -> None:
        """Painted soon; with -v notable changes stay above the tree, with -vv all of them."""
        self._view.show(snapshot, time.time())
        for change in snapshot.changes if self._verbose else ():
            if self._verbose > 1 or is_notable(change):
                self._above.append(change_line(change))
        self._screen.changed()

    def say(self, state: str) -> None:
        """The last line."""
        self._state = state
        self._screen.changed()

    def warn(self, text: str) -> None:
        """A line above the tree."""
        self._above.append(one_line(text))
        self._screen.changed()

    def meet(self, avatar: Avatar, can: ProviderCapabilities) -> None:
        """The avatar that keys answer."""
        self._questions.meet(can)
        self._screen.meet(avatar, can)

    async def hear(self, events: Sequence[AvatarEvent]) -> None:
        """Show the questions among these events, and what became of them."""
        for event in events:
            if isinstance(event, _QUESTIONS):
                self._questions.tell(event, trio.current_time())
        await self._screen.hear(events)

    async def finish(self, answer: str = "") -> None:
        """Leave the whole tree, however long it is, and what the agent has said."""
        self._is_whole = True
        self._answer.tell(TextEvent(text=answer, is_complete=True), trio.current_time())
        await self._screen.finish(kept=0)

    def restore(self) -> None:
        """Give the terminal back."""
        self._screen.restore()

    @property
    def asks(self) -> tuple[PermissionEvent | QuestionEvent, ...]:
        """The open questions."""
        return self._questions.asks

    def finished(self, width: int) -> list[str]:
        """What stays above the tree; at the end, the tree itself."""
        above, self._above = self._above, []
        lines = [*self._questions.finished(width), *above]
        if self._is_over and self._view.snapshot is not None:
            most = ALL if self._is_whole else shutil.get_terminal_size(_USUAL).lines - 2
            lines += [*self._view.lines(width, time.time(), most), *filter(None, [self._state])]
            answer = self._answer.finished(width)
            lines += ["", *answer] if answer else []
        return lines

    def frame(self, width: int, height: int, now: float) -> list[str]:
        """The tree, the first question and the state."""
        # The last line of the display is the state of the turn, which the tree shows itself.
        asked = self._questions.frame(width, height - _LEAST_TREE + 1, now)[:-1]
        asked = asked if self.asks else []
        tree = self._view.lines(width, time.time(), height - 2 - len(asked))
        return [*tree, *asked, self._view.state_line(self._state, width)]

    def flush(self) -> None:
        """From now on the tree is finished."""
        self._is_over = True

    def _on_key(self, key: str) -> None:
        if key == "q":
            self.left.set()


TreeOutput: TypeAlias = TreeLines | TreeJson | TreeScreen
