"""For a person at a terminal: the living picture, the keys, and what the window goes through."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Final

import trio

from avatar_actors import Avatar, AvatarEvent, TurnEndedEvent
from avatar_actors.cli.terminal.device import Keyboard
from avatar_actors.cli.terminal.permission_answers import KeyApprovals

if TYPE_CHECKING:
    from avatar_actors.cli.chat.terminal_view import TerminalView

# Seconds between two pictures: as many as the eye wants, and as few as a slow line needs.
PACE: Final = 1 / 12


class LiveOutput:
    """Folds events into the picture at once, and paints it at its own pace.

    `make` gets the canvas ready, which takes a while: so it is called when the agent starts.
    """

    def __init__(self, make: Callable[[], TerminalView], keyboard: Keyboard) -> None:
        self._make, self._keyboard = make, keyboard
        self._canvas: TerminalView | None = None
        self._is_there = trio.Event()
        self._changed = trio.Event()
        self._person = KeyApprovals(self.warn, self._away)

    @property
    def is_away(self) -> bool:
        """While the editor has the terminal."""
        return self._person.is_away

    async def attend(self) -> None:
        """Paint, hear keys, and follow the window, until cancelled."""
        self._canvas = canvas = await trio.to_thread.run_sync(self._make)
        self._is_there.set()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._paint, canvas)
            nursery.start_soon(self._hear_keys, canvas)
            nursery.start_soon(self._follow_window, canvas)

    def meet(self, avatar: Avatar) -> None:
        """From now on keys can answer it."""
        self._person.meet(avatar)

    async def tell(self, events: Sequence[AvatarEvent]) -> None:
        """Fold them in; the end of the turn is painted at once."""
        await self._is_there.wait()
        canvas = self._canvas
        assert canvas is not None
        for event in events:
            canvas.display.tell(event, trio.current_time())
        self._changed.set()
        await self._person.hear(events)
        if isinstance(events[-1], TurnEndedEvent):
            await canvas.finish()

    def warn(self, text: str) -> None:
        """Above the picture."""
        if self._canvas is not None:
            self._canvas.display.note(text)
            self._changed.set()

    async def caution(self, text: str) -> None:
        """Above the picture."""
        await self._is_there.wait()
        self.warn(text)

    def restore(self) -> None:
        """The terminal is as it was found."""
        if self._canvas is not None:
            self._canvas.restore()

    async def _paint(self, canvas: TerminalView) -> None:
        while True:
            # Without any news the clocks and the spinner of the picture go on.
            with trio.move_on_after(PACE):
                await self._changed.wait()
            self._changed = trio.Event()
            await canvas.paint()
            await trio.sleep(PACE)

    async def _hear_keys(self, canvas: TerminalView) -> None:
        while True:
            for key in await self._keyboard.pressed():
                await self._press(key, canvas)

    async def _press(self, key: str, canvas: TerminalView) -> None:
        asked = {each.request_id: each for each in canvas.display.asks}.get(canvas.shown_ask)
        if asked is not None:
            await self._person.press(key, asked)

    async def _follow_window(self, canvas: TerminalView) -> None:
        wanted = (signal.SIGWINCH, signal.SIGTSTP)
        with trio.open_signal_receiver(*wanted) as signals:
            async for number in signals:
                if number == signal.SIGTSTP:
                    await self._stop(canvas)
                self._changed.set()

    async def _stop(self, canvas: TerminalView) -> None:
        """As Ctrl-Z wants it; SIGSTOP, for SIGTSTP is what we listen to. SIGCONT goes on here."""
        if canvas.is_away:
            os.kill(os.getpid(), signal.SIGSTOP)
            return
        async with canvas.away():
            os.kill(os.getpid(), signal.SIGSTOP)

    def _away(self) -> AbstractAsyncContextManager[None]:
        assert self._canvas is not None
        return self._canvas.away()
