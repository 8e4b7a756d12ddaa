"""Paints a picture on the terminal again and again, reads keys and follows the window (trio)."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final, Protocol

import trio

from avatar_actors import (
    Avatar,
    AvatarEvent,
    PermissionEvent,
    ProviderCapabilities,
    TurnEndedEvent,
)
from avatar_actors.cli.exit_codes import Failure
from avatar_actors.cli.terminal.device import Keyboard, StdoutWriter, size_of
from avatar_actors.cli.terminal.painter import END, Painter
from avatar_actors.cli.terminal.permissions import (
    AnswerKeys,
    Approvals,
    Asked,
    ToolInput,
    edited,
)
from avatar_actors.cli.terminal.questions import QuestionForm

# Seconds between two paints: enough for the eye, few enough for a slow line.
PACE: Final = 1 / 12
# A picture that takes long to draw is painted less often.
_SHARE: Final = 4
_LAST_WRITE: Final = 1.0


class Picture(Protocol):
    """What is painted; `Display` is one."""

    @property
    def asks(self) -> tuple[Asked, ...]:
        """The open permission requests and questions, oldest first; the frame shows the first."""
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

    Keys answer the request or question on the screen; `on_key` hears those that are no answer in
    words.
    """

    def __init__(
        self,
        descriptor: int,
        keyboard: Keyboard,
        note: Callable[[str], None],
        on_key: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.is_away = False
        self._approvals = Approvals(self._edit, note)
        self._answer_keys = AnswerKeys()
        self._descriptor, self._keyboard, self._on_key = descriptor, keyboard, on_key
        self._writer = StdoutWriter(descriptor)
        self._painter = Painter(self._size)
        self._picture: Picture | None = None
        self._lock = trio.Lock()
        self._changed = trio.Event()
        self._editing = trio.CancelScope()
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

    def meet(self, avatar: Avatar, can: ProviderCapabilities) -> None:
        """From now on keys can answer this avatar."""
        self._approvals.call = lambda work: work(avatar)
        self._answer_keys.can_edit = can.editable_input

    def changed(self) -> None:
        """Paint soon."""
        self._changed.set()

    async def hear(self, events: Sequence[AvatarEvent]) -> None:
        """Answer what was allowed for good; close the editor at the end of the turn."""
        for event in events:
            if isinstance(event, PermissionEvent):
                await self._approvals.hear(event)
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
            await self._write(self._painter.paint(finished, frame[len(frame) - kept :]))

    def restore(self) -> None:
        """Give the terminal back at once, even amid a paint; what was finished stays."""
        last = b""
        if self._picture is not None and not self._is_over and not self.is_away:
            self._is_over = True
            self._picture.flush()
            last = self._painter.paint(self._picture.finished(self._size().columns), ())
        self._give_back(last)

    async def _paint(self, picture: Picture) -> None:
        async with self._lock:
            # In the background the terminal is the shell's.
            if self._keyboard.is_ours and not self._is_over:
                self._keyboard.hold()
                width, height = self._size()
                finished = picture.finished(width)
                frame = picture.frame(width, height, trio.current_time())
                asks = picture.asks
                if asks and (hint := self._answer_keys.hint(trio.current_time())):
                    frame[-1:] = [hint]
                await self._write(self._painter.paint(finished, frame))
                # Only what a person has before their eyes can be answered.
                self._answer_keys.look(asks, trio.current_time())

    async def _write(self, data: bytes) -> None:
        self._is_half_written = True
        await self._writer.write(data)
        self._is_half_written = False

    async def _read_keys(self, picture: Picture) -> None:
        while True:
            keys = await self._keyboard.pressed()
            form = self._answer_keys.form(trio.current_time())
            if form is not None and form.event in picture.asks:
                await self._fill_in(form, keys)
                continue
            for key in keys:
                self._on_key(key)
            request = self._answer_keys.pressed(keys, trio.current_time())
            if request is not None and request in picture.asks:
                await self._answer(keys, request)

    async def _answer(self, key: str, request: PermissionEvent) -> None:
        self._answer_keys.take(request)
        await self._approvals.press(key, request)
        self._answer_keys.give_back(trio.current_time())

    async def _fill_in(self, form: QuestionForm, keys: str) -> None:
        form.press(keys)
        if form.is_done:
            self._answer_keys.take(form.event)
            await self._approvals.give(form)
            self._answer_keys.give_back(trio.current_time())
        self.changed()

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
            self._give_back(self._painter.paint((), ()))
            self.is_away = True
            try:
                yield
            finally:
                self.is_away = False

    def _give_back(self, last: bytes) -> None:
        last += self._painter.close()
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
