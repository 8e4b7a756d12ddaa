"""The living tree in a terminal: painted when it changes, with the agent's questions below it."""

from __future__ import annotations

import io
import os
import select
import signal
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

import trio

from avatar_actors import Avatar, AvatarEvent, PermissionClosedEvent, PermissionEvent, TreeSnapshot
from avatar_actors.cli.display import Display, Painter, Style
from avatar_actors.cli.terminal.device import Keyboard, StdoutWriter, size_of
from avatar_actors.cli.terminal.permission_answers import Away, KeyApprovals
from avatar_actors.cli.terminal.text import plain
from avatar_actors.cli.tree.view import TreeView
from avatar_actors.cli.tree.wording import is_notable, told


class TreeQuestions:
    """The picture of a chat, of which nothing is shown but its questions."""

    def __init__(self, style: Style, note: Callable[[str], None], away: Away) -> None:
        self._display = Display(style)
        self._person = KeyApprovals(note, away)
        self._drawn: PermissionEvent | None = None
        self._shown: PermissionEvent | None = None

    @property
    def is_away(self) -> bool:
        """Whether an editor has the terminal now."""
        return self._person.is_away

    def meet(self, avatar: Avatar) -> None:
        """Whom to answer."""
        self._person.meet(avatar)

    async def hear(self, events: Sequence[AvatarEvent]) -> None:
        """Take in the questions, and what became of them."""
        for event in events:
            if isinstance(event, PermissionEvent | PermissionClosedEvent):
                self._display.tell(event, trio.current_time())
        await self._person.hear(events)

    def finished(self, width: int) -> list[str]:
        """Lines that stay: what is too long for a question, and what was not allowed."""
        return self._display.finished(width)

    def lines(self, width: int, height: int) -> list[str]:
        """The first of the questions in at most so many lines; none, if nothing is asked."""
        self._drawn = next(iter(self._display.asks), None)
        if self._drawn is None:
            return []
        # The last one is the state of the turn, which the tree tells.
        return self._display.frame(width, height + 1, trio.current_time())[:-1]

    def seen(self) -> None:
        """The last lines are before the person's eyes: only what is there can be answered."""
        self._shown = self._drawn

    async def press(self, key: str) -> None:
        """Answer what is shown."""
        if self._shown is not None and self._shown in self._display.asks:
            await self._person.press(key, self._shown)


PACE: Final = 0.2
_LAST_WRITE: Final = 1.0
# The headline, a line of the tree, the state, and one that scrolls.
_LEAST_TREE: Final = 4


class TreeScreen:
    """A `TreeShow`. What stays goes above the tree; if verbose, that is each notable change."""

    def __init__(self, descriptor: int, keyboard: Keyboard, style: Style) -> None:
        self.left = trio.Event()
        self.questions = TreeQuestions(style, self.warn, self._away)
        self._descriptor, self._keyboard = descriptor, keyboard
        self._view, self._verbose = TreeView(style), style.verbose
        self._sheet = io.BytesIO()
        self._outlet = StdoutWriter(descriptor)
        self._painter = Painter(self._sheet, self._size)
        self._turn_to_paint = trio.Lock()
        self._changed = trio.Event()
        self._above: list[str] = []
        self._state = ""
        self._is_finished = False

    async def attend(self) -> None:
        """Paint, hear keys and follow the window, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._hear_keys)
            nursery.start_soon(self._follow_window)
            while True:
                began = trio.current_time()
                await self._paint()
                # To draw a tree of a thousand avatars takes a while.
                taken = trio.current_time() - began
                await trio.sleep(max(PACE / 4, 4 * taken))
                with trio.move_on_after(PACE):
                    await self._changed.wait()
                self._changed = trio.Event()

    async def show(self, snapshot: TreeSnapshot) -> None:
        """Painted soon."""
        self._view.show(snapshot, time.time())
        for change in snapshot.changes if self._verbose else ():
            if self._verbose > 1 or is_notable(change):
                self._above.append(told(change))
        self._changed.set()

    def say(self, state: str) -> None:
        """The last line."""
        self._state = state
        self._changed.set()

    def warn(self, text: str) -> None:
        """Above the tree."""
        self._above.append(" ".join(plain(text).split()))
        self._changed.set()

    async def finish(self) -> None:
        """The whole tree, however long it is, stays."""
        self._above += self._view.lines(self._size().columns, time.time())
        self._above += filter(None, [self._state])
        self._is_finished = True
        async with self._turn_to_paint:
            await self._put([])

    def restore(self) -> None:
        """The cursor and the modes are as they were, at once."""
        self._painter.close()
        # A terminal that is gone, or takes nothing, has nobody before it.
        with suppress(OSError):
            if select.select([], [self._descriptor], [], _LAST_WRITE)[1]:
                os.write(self._descriptor, self._painted())
        self._keyboard.release()

    async def _paint(self) -> None:
        async with self._turn_to_paint:
            if self._keyboard.is_ours and not self._is_finished:
                self._keyboard.hold()
                width, height = self._size()
                asked = self.questions.lines(width, height - _LEAST_TREE)
                frame = self._view.lines(width, time.time(), height - 2 - len(asked))
                await self._put([*frame, *asked, self._view.state_line(self._state, width)])
                self.questions.seen()

    async def _put(self, frame: list[str]) -> None:
        above = [*self.questions.finished(self._size().columns), *self._above]
        self._above = []
        self._painter.paint(above, frame)
        await self._outlet.write(self._painted())

    def _painted(self) -> bytes:
        data = self._sheet.getvalue()
        self._sheet.seek(0)
        self._sheet.truncate()
        return data

    async def _hear_keys(self) -> None:
        while True:
            for key in await self._keyboard.pressed():
                if key == "q":
                    self.left.set()
                await self.questions.press(key)

    async def _follow_window(self) -> None:
        with trio.open_signal_receiver(signal.SIGWINCH, signal.SIGTSTP) as signals:
            async for number in signals:
                if number == signal.SIGTSTP:
                    await self._stop()
                self._changed.set()

    async def _stop(self) -> None:
        """SIGSTOP, for SIGTSTP is what we listen to; SIGCONT goes on here."""
        if self.questions.is_away:
            os.kill(os.getpid(), signal.SIGSTOP)
            return
        async with self._away():
            os.kill(os.getpid(), signal.SIGSTOP)

    @asynccontextmanager
    async def _away(self) -> AsyncGenerator[None]:
        """Somebody else has the terminal for the length of the block."""
        async with self._turn_to_paint:
            self._painter.paint((), ())
            self.restore()
            yield

    def _size(self) -> os.terminal_size:
        return size_of(self._descriptor)
