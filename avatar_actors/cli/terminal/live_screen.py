"""Paints a picture on the terminal again and again, reads keys and follows the window (trio)."""

from __future__ import annotations

import io
import os
import select
import signal
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final, Protocol

import trio

from avatar_actors import AvatarEvent, PermissionEvent, TurnEndedEvent
from avatar_actors.cli.exit_codes import Failure
from avatar_actors.cli.terminal.device import Keyboard, StdoutWriter, size_of
from avatar_actors.cli.terminal.painter import END, Painter
from avatar_actors.cli.terminal.permissions import Approvals, ToolInput, edited

# Seconds between two paints: enough for the eye, few enough for a slow line.
PACE: Final = 1 / 12
# A picture that takes long to draw is painted less often.
_SHARE: Final = 4
_LAST_WRITE: Final = 1.0


class Picture(Protocol):
    """What is painted; `Display` is one."""

    @property
    def asks(self) -> tuple[PermissionEvent, ...]:
        """The open permission requests, oldest first; the frame shows the first."""
        ...

    def finished(self, width: int) -> list[str]:
        """New lines that stay above the frame."""
        ...

    def frame(self, width: int, height: int, now: float) -> list[str]:
        """The lines that are painted again and again."""
        ...

    def flush(self) -> None:
        """The end: what is still worth keeping becomes finished."""
        ...


class LiveScreen:
    """Owns the screen and the keyboard together: both are ours, or both are given back.

    Keys answer the permission request on the screen; `on_key` hears all of them.
    """

    def __init__(
        self,
        descriptor: int,
        keyboard: Keyboard,
        note: Callable[[str], None],
        on_key: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.is_away = False
        self.approvals = Approvals(self._edit, note)
        self._descriptor, self._keyboard, self._on_key = descriptor, keyboard, on_key
        self._painted = io.BytesIO()
        self._writer = StdoutWriter(descriptor)
        self._painter = Painter(self._painted, self._size)
        self._picture: Picture | None = None
        self._lock = trio.Lock()
        self._changed = trio.Event()
        self._editing = trio.CancelScope()
        self._shown: PermissionEvent | None = None
        self._is_half_written = self._is_over = False

    async def run(self, picture: Picture) -> None:
        """Paint, read keys and follow the window, until cancelled."""
        self._picture = picture
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._read_keys, picture)
            nursery.start_soon(self._follow_window)
            while True:
                began = trio.current_time()
                await self._paint(picture)
                await trio.sleep(max(PACE, _SHARE * (trio.current_time() - began)))
                # Without news, clocks and spinners go on.
                with trio.move_on_after(PACE):
                    await self._changed.wait()
                self._changed = trio.Event()

    def changed(self) -> None:
        """Paint soon."""
        self._changed.set()

    async def hear(self, events: Sequence[AvatarEvent]) -> None:
        """Answer what was allowed for good; close the editor at the end of the turn."""
        for event in events:
            if isinstance(event, PermissionEvent):
                await self.approvals.hear(event)
            if isinstance(event, TurnEndedEvent):
                self._editing.cancel()
        self.changed()

    async def finish(self, kept: int) -> None:
        """Show the end, even in the background; of the frame, the last `kept` lines stay."""
        picture = self._picture
        if picture is None:
            return
        async with self._lock:
            self._is_over = True
            picture.flush()
            width, height = self._size()
            finished = picture.finished(width)
            frame = picture.frame(width, height, trio.current_time())
            self._painter.paint(finished, frame[len(frame) - kept :])
            await self._write()

    def restore(self) -> None:
        """Give the terminal back at once, even amid a paint; what was finished stays."""
        if self._picture is not None and not self._is_over and not self.is_away:
            self._is_over = True
            self._picture.flush()
            self._painter.paint(self._picture.finished(self._size().columns), ())
        self._give_back()

    async def _paint(self, picture: Picture) -> None:
        async with self._lock:
            # In the background the terminal is the shell's.
            if self._keyboard.is_ours and not self._is_over:
                self._keyboard.hold()
                width, height = self._size()
                finished = picture.finished(width)
                frame = picture.frame(width, height, trio.current_time())
                self._painter.paint(finished, frame)
                asked = next(iter(picture.asks), None)
                await self._write()
                self._shown = asked

    async def _write(self) -> None:
        self._is_half_written = True
        await self._writer.write(self._take())
        self._is_half_written = False

    def _take(self) -> bytes:
        data = self._painted.getvalue()
        self._painted.seek(0)
        self._painted.truncate()
        return data

    async def _read_keys(self, picture: Picture) -> None:
        while True:
            for key in await self._keyboard.pressed():
                self._on_key(key)
                # Only what a person has before their eyes can be answered.
                if self._shown is not None and self._shown in picture.asks:
                    await self.approvals.press(key, self._shown)

    async def _follow_window(self) -> None:
        with trio.open_signal_receiver(signal.SIGWINCH, signal.SIGTSTP) as signals:
            async for number in signals:
                if number == signal.SIGTSTP:
                    await self._suspend()
                self.changed()

    async def _suspend(self) -> None:
        """Ctrl-Z. SIGSTOP, as SIGTSTP is caught; SIGCONT goes on here."""
        if self.is_away:
            os.kill(os.getpid(), signal.SIGSTOP)
            return
        async with self._away():
            os.kill(os.getpid(), signal.SIGSTOP)

    async def _edit(self, given: ToolInput) -> ToolInput:
        with trio.CancelScope() as self._editing:
            async with self._away():
                return await edited(given, _run_editor)
        raise Failure("too late: the turn has ended")

    @asynccontextmanager
    async def _away(self) -> AsyncGenerator[None]:
        """Lend the terminal to another program for the length of the block."""
        async with self._lock:
            self._painter.paint((), ())
            self._give_back()
            self.is_away = True
            try:
                yield
            finally:
                self.is_away = False

    def _give_back(self) -> None:
        self._painter.close()
        last = self._take()
        if self._is_half_written:
            last = END.encode() + last
        # A terminal that is gone or accepts nothing has nobody in front of it.
        with suppress(OSError):
            if select.select([], [self._descriptor], [], _LAST_WRITE)[1]:
                os.write(self._descriptor, last)
        self._keyboard.release()

    def _size(self) -> os.terminal_size:
        return size_of(self._descriptor)


async def _run_editor(command: list[str]) -> int:
    # Not our own descriptor of the terminal, which is non-blocking.
    with open("/dev/tty", "r+b", buffering=0) as terminal:  # noqa: ASYNC230, PTH123 - it is there
        done = await trio.run_process(
            command, stdin=terminal, stdout=terminal, stderr=terminal, check=False
        )
    return done.returncode
