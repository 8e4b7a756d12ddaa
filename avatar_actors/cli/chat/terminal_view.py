"""The part of the terminal that is painted: what the painter makes, brought there in order."""

from __future__ import annotations

import os
import select
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import trio

from avatar_actors.cli.display import Display, Painter, Style
from avatar_actors.cli.display.painter import END
from avatar_actors.cli.terminal.device import Keyboard, StdoutWriter, size_of

_LAST_WRITE = 1.0


class _Sheet:
    """Where the painter paints: bytes that wait for the terminal, which may be slow or stopped."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._data = bytearray()

    def write(self, data: bytes, /) -> int:
        """All of it is taken."""
        self._data += data
        return len(data)

    def fileno(self) -> int:
        """The terminal's."""
        return self._descriptor

    def take(self) -> bytes:
        """What was painted since the last time."""
        data = bytes(self._data)
        self._data.clear()
        return data


class TerminalView:
    """The picture and the keyboard go together: both are ours, or both are given back."""

    def __init__(self, style: Style, descriptor: int, keyboard: Keyboard) -> None:
        self.display = Display(style)
        self.is_away = False
        self._descriptor, self._keyboard = descriptor, keyboard
        self._sheet = _Sheet(descriptor)
        self._outlet = StdoutWriter(descriptor)
        self._painter = Painter(self._sheet, self._size)
        self._turn_to_paint = trio.Lock()
        self._shown = ""
        self._is_half_done = self._is_over = False

    @property
    def shown_ask(self) -> str:
        """The request that a person has before their eyes: only that can be answered."""
        return self._shown

    async def paint(self) -> None:
        """Show what there is now; in the background the terminal is the shell's."""
        async with self._turn_to_paint:
            if self._keyboard.is_ours and not self._is_over:
                self._keyboard.hold()
                await self._paint()

    async def finish(self) -> None:
        """Show the last of it, wherever we are; of the frame only the state line stays."""
        async with self._turn_to_paint:
            self._is_over = True
            self.display.flush()
            self._draw(-1)
            await self._bring()

    async def _paint(self) -> None:
        self._draw(0)
        asks = self.display.asks
        await self._bring()
        self._shown = asks[0].request_id if asks else ""

    def _draw(self, first: int) -> None:
        """What is finished, and of the frame what begins with this line."""
        width, height = self._size()
        finished = self.display.finished(width)
        frame = self.display.frame(width, height, trio.current_time())
        self._painter.paint(finished, frame[first:])

    async def _bring(self) -> None:
        self._is_half_done = True
        await self._outlet.write(self._sheet.take())
        self._is_half_done = False

    @asynccontextmanager
    async def away(self) -> AsyncGenerator[None]:
        """Somebody else has the terminal for the length of the block."""
        async with self._turn_to_paint:
            self._painter.paint((), ())
            self._give_back()
            self.is_away = True
            try:
                yield
            finally:
                self.is_away = False

    def restore(self) -> None:
        """At once, also in the midst of a picture: what was said stays, the terminal is free."""
        if not self._is_over and not self.is_away:
            self._is_over = True
            self.display.flush()
            self._painter.paint(self.display.finished(self._size().columns), ())
        self._give_back()

    def _give_back(self) -> None:
        self._painter.close()
        last = self._sheet.take()
        if self._is_half_done:
            last = END.encode() + last
        # A terminal that is gone, or takes nothing, has nobody before it.
        with suppress(OSError):
            if select.select([], [self._descriptor], [], _LAST_WRITE)[1]:
                os.write(self._descriptor, last)
        self._keyboard.release()

    def _size(self) -> os.terminal_size:
        return size_of(self._descriptor)
