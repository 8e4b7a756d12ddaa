"""The outputs of `avatar chat`: a live picture for a person, the answer or JSON for a pipe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import trio

from avatar_actors import (
    Avatar,
    AvatarEvent,
    ProviderCapabilities,
    TextEvent,
    TurnEndedEvent,
)
from avatar_actors.cli.terminal.device import Keyboard, StdoutWriter
from avatar_actors.cli.terminal.live_screen import LiveScreen
from avatar_actors.cli.terminal.output import StderrNotes
from avatar_actors.cli.terminal.permissions import DenyAll
from avatar_actors.cli.terminal.text import PlainText, plain, without_controls

if TYPE_CHECKING:
    from avatar_actors.cli.display import Display


class LiveOutput:
    """Folds events into the display at once; the screen paints it at its own pace.

    `make` builds the display in a thread while the agent starts: what draws Markdown takes a while
    to import.
    """

    def __init__(self, make: Callable[[], Display], descriptor: int, keyboard: Keyboard) -> None:
        self._make = make
        self._display: Display | None = None
        self._can = ProviderCapabilities()
        self._is_ready = trio.Event()
        self._screen = LiveScreen(descriptor, keyboard, self.warn)

    @property
    def is_away(self) -> bool:
        """Whether an editor has the terminal."""
        return self._screen.is_away

    async def attend(self) -> None:
        """Paint, read keys and follow the window, until cancelled."""
        self._display = await trio.to_thread.run_sync(self._make)
        self._display.meet(self._can)
        self._is_ready.set()
        await self._screen.run(self._display)

    def meet(self, avatar: Avatar, can: ProviderCapabilities) -> None:
        """From now on keys can answer it."""
        self._can = can
        if self._display is not None:
            self._display.meet(can)
        self._screen.meet(avatar, can)

    async def tell(self, events: Sequence[AvatarEvent]) -> None:
        """Fold the events in; the end of the turn is painted at once."""
        await self._is_ready.wait()
        assert self._display is not None
        for event in events:
            self._display.tell(event, trio.current_time())
        await self._screen.hear(events)
        if isinstance(events[-1], TurnEndedEvent):
            await self._screen.finish(kept=1)

    def warn(self, text: str) -> None:
        """A line above the frame."""
        if self._display is not None:
            self._display.note(text)
            self._screen.changed()

    async def caution(self, text: str) -> None:
        """A line above the frame."""
        await self._is_ready.wait()
        self.warn(text)

    def restore(self) -> None:
        """Give the terminal back."""
        self._screen.restore()


class AnswerEncoder:
    """The text of the answer as bytes, ended by a newline."""

    def __init__(self, writer: StdoutWriter) -> None:
        self._text = PlainText(plain if writer.is_terminal else without_controls)
        self._last = "\n"

    def encode(self, events: Sequence[AvatarEvent]) -> bytes:
        """What these events add to the answer."""
        return "".join(self._said(event) for event in events).encode()

    def _said(self, event: AvatarEvent) -> str:
        match event:
            case TextEvent(text=text):
                said = self._text.add(text)
            case TurnEndedEvent():
                said = self._text.end()
                said += "" if (said or self._last).endswith("\n") else "\n"
            case _:
                return ""
        self._last = said or self._last
        return said


class PipeOutput:
    """Events, encoded, on stdout; notes on stderr. Permission requests are denied."""

    @property
    def is_away(self) -> bool:
        """Never: there is no editor."""
        return False

    def __init__(
        self,
        writer: StdoutWriter,
        notes: StderrNotes,
        encode: Callable[[Sequence[AvatarEvent]], bytes],
    ) -> None:
        self._writer, self._notes, self._encode = writer, notes, encode
        self._approvals = DenyAll(notes.warn)

    async def attend(self) -> None:
        """Nothing to do."""

    def meet(self, avatar: Avatar, can: ProviderCapabilities) -> None:
        """The avatar whose requests are denied."""
        self._approvals.avatar = avatar

    async def tell(self, events: Sequence[AvatarEvent]) -> None:
        """Write the events."""
        if data := self._encode(events):
            await self._writer.write(data)
        self._notes.tell(events)
        await self._approvals.hear(events)

    def warn(self, text: str) -> None:
        """On stderr, if a person looks."""
        self._notes.say(text)

    async def caution(self, text: str) -> None:
        """On stderr, in any case."""
        self._notes.warn(text)

    def restore(self) -> None:
        """Nothing was changed."""
