"""Two ways to follow a tree: drawn live in a terminal, or told line by line."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Protocol, TextIO

import trio

from examples.bakery import BUDGETS
from examples.frame import Caption, frame
from examples.notice_log import NoticeLog
from examples.spans import EMPTY, without_colours, writable
from examples.tree_view import Moment, TreeView

if TYPE_CHECKING:
    from examples.live_screen import LiveScreen
    from supervisors import NoticeStream, Supervisor

SECONDS_PER_FRAME = 0.07
PLACES = 10
TEXT_COLUMNS = 78


class TreeOutput(Protocol):
    """What the story needs of whoever shows it."""

    def begin(self, caption: Caption) -> None:
        """A new chapter."""
        ...

    async def follow(
        self,
        shop: Supervisor,
        task_status: trio.TaskStatus[None],
    ) -> None:
        """TreeOutput what happens, until cancelled."""
        ...

    def end(self) -> None:
        """TreeOutput the last of it."""
        ...


class LiveOutput:
    """Draws the tree again and again in the same place."""

    def __init__(self, screen: LiveScreen) -> None:
        self._screen = screen
        self._caption = Caption("", "")
        self._followed: tuple[Supervisor, NoticeStream] | None = None
        self._notices = NoticeLog(BUDGETS, trio.current_time())
        self._view = TreeView(self._notices)

    def begin(self, caption: Caption) -> None:
        self._caption = caption

    async def follow(
        self,
        shop: Supervisor,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        with shop.notices() as stream:
            self._followed = shop, stream
            task_status.started()
            while True:
                self._draw(shop, stream)
                await trio.sleep(SECONDS_PER_FRAME)

    def end(self) -> None:
        if self._followed is not None:
            self._draw(*self._followed)

    def _draw(self, shop: Supervisor, stream: NoticeStream) -> None:
        for notice in stream.seen_so_far():
            self._notices.add(notice)
        size = self._screen.size()
        tree = self._view.lines(shop.tree(), Moment(trio.current_time(), size.columns))
        self._screen.draw(frame(self._caption, tree, self._notices.log, PLACES, size))


class LineOutput:
    """Prints each notice as a line, and the tree as text when a chapter ends."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._followed: tuple[Supervisor, NoticeStream] | None = None
        self._notices = NoticeLog(BUDGETS, trio.current_time())

    def begin(self, caption: Caption) -> None:
        if self._followed is not None:
            self._catch_up(self._followed[1])
            if self._notices.log:
                self._say(f"\n{self._followed[0].tree()}\n")
        self._say(caption.title)
        self._say(textwrap.fill(caption.text, TEXT_COLUMNS))

    async def follow(
        self,
        shop: Supervisor,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        with shop.notices() as stream:
            self._followed = shop, stream
            task_status.started()
            while True:
                self._catch_up(stream)
                await trio.sleep(SECONDS_PER_FRAME)

    def end(self) -> None:
        if self._followed is not None:
            self._catch_up(self._followed[1])

    def _catch_up(self, stream: NoticeStream) -> None:
        for notice in stream.seen_so_far():
            line = self._notices.add(notice)
            if line != EMPTY:
                self._say(without_colours(line))

    def _say(self, text: str) -> None:
        self._out.write(writable(f"{text}\n", self._out.encoding))
        self._out.flush()
