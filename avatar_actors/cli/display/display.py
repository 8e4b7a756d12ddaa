"""The living picture of an avatar's work: events in, lines out; no I/O and no clock."""

from __future__ import annotations

from avatar_actors import (
    AvatarEvent,
    PermissionClosedEvent,
    PermissionEvent,
    TextEvent,
    ToolEvent,
    TurnEndedEvent,
)
from avatar_actors.cli.display.style import Style


class Display:
    """What a person sees of an avatar. It is handed the time, and never writes anything itself.

    Ask for `finished` and then for the `frame`, with one width: the former is printed once, above
    the latter, which is painted again and again.
    """

    def __init__(self, style: Style) -> None:
        self._style = style
        self._open = ""
        self._ready: list[str] = []
        self._asks: dict[str, PermissionEvent] = {}

    @property
    def asks(self) -> tuple[PermissionEvent, ...]:
        """The open permission requests, oldest first."""
        return tuple(self._asks.values())

    def tell(self, event: AvatarEvent, now: float) -> None:
        """Fold one event into the picture; `now` is of the same clock as the frame's."""
        match event:
            case TextEvent(text=text):
                *whole, self._open = (self._open + text).split("\n")
                self._ready += whole
            case ToolEvent(tool_name=name, status=status):
                self._ready.append(f"{name}: {status.value}")
            case PermissionEvent():
                self._asks[event.request_id] = event
            case PermissionClosedEvent():
                self._asks.pop(event.request_id, None)
            case TurnEndedEvent():
                self.flush()
                self._ready.append(f"{event.outcome.value} {event.reason}")
            case _:
                pass

    def note(self, text: str) -> None:
        """A line of the host's own, above the frame."""
        self._ready.append(text)

    def flush(self) -> None:
        """The turn is over: nothing of it stays in the frame."""
        if self._open:
            self._ready.append(self._open)
            self._open = ""

    def finished(self, width: int) -> list[str]:
        """Lines that will never change, each at most `width` cells; each is given once."""
        ready, self._ready = self._ready, []
        return [
            line[at : at + width] for line in ready for at in range(0, max(1, len(line)), width)
        ]

    def frame(self, width: int, height: int, now: float) -> list[str]:
        """The living lines, at most `height` of them, each at most `width` cells."""
        lines = [self._open[-width:]] if self._open else []
        lines += [f"{ask.tool_name}? y/n/a/e"[:width] for ask in self.asks]
        return lines[-height:]
