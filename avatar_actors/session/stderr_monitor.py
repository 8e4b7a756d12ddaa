"""The stderr monitor: always reads, keeps the last lines, shows a few of them as diagnostics."""

from __future__ import annotations

import math
from collections import deque

import trio

from avatar_actors.avatar.messages import HubMessage, Publish
from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.redaction import Redactor
from avatar_actors.model.values import Level
from avatar_actors.session.messages import StderrTail
from supervisors import Address, Inbox

_RING = 200
_LONGEST = 2000
# A flood is not news: so many lines a second are shown, the rest is only kept and counted.
_SHOWN_PER_SECOND = 20


class Tail:
    """The last lines of a stream, cut to length, without secrets. Pure."""

    def __init__(self, redactor: Redactor) -> None:
        self.lines: deque[str] = deque(maxlen=_RING)
        self.count: int = 0
        self._redactor = redactor
        # A secret across the cut must be seen whole, to be hidden whole.
        self._longest = _LONGEST + redactor.longest * 4
        self._half = b""

    def feed(self, data: bytes) -> list[str]:
        """The new whole lines, at most as many as are kept."""
        *whole, half = (self._half + data).split(b"\n")
        self._half = half[: self._longest + 1]
        self.count += len(whole)
        new = [self._clean(line) for line in whole[-_RING:]]
        self.lines.extend(new)
        return new

    def end(self) -> list[str]:
        """The last line, if it had no end."""
        return self.feed(b"\n") if self._half else []

    def _clean(self, line: bytes) -> str:
        text = line.rstrip(b"\r")[: self._longest].decode("utf-8", "replace")
        text = self._redactor.hide(text)
        if len(line) > self._longest:  # the cut may have left the beginning of one
            text = text[: len(text) - self._redactor.longest]
        return text[:_LONGEST]


async def stderr_monitor(
    inbox: Inbox[StderrTail],
    pipe: trio.abc.ReceiveStream,
    hub: Address[HubMessage],
    redactor: Redactor,
) -> None:
    """Two tasks: one reads the pipe, one answers who asks for the tail."""
    tail = Tail(redactor)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_read, pipe, tail, hub)
        async for message in inbox:
            inbox.reply(message, tuple(tail.lines))


async def _read(pipe: trio.abc.ReceiveStream, tail: Tail, hub: Address[HubMessage]) -> None:
    second, shown, hidden = 0, 0, 0
    data = b" "
    async with pipe:
        while data:
            before = tail.count
            news = False
            with trio.move_on_after(1.0 if hidden else math.inf):
                data = await _some(pipe)
                news = True
            lines = (tail.feed(data) if data else tail.end()) if news else []
            arrived = tail.count - before
            now = int(trio.current_time())
            note: list[str] = []
            if now != second or not data:
                note = [f"{hidden} lines of stderr were not shown"] if hidden else []
                second, shown, hidden = now, 0, 0
            visible = lines[: _SHOWN_PER_SECOND - shown]
            shown += len(visible)
            hidden += arrived - len(visible)
            if note or visible:
                await hub.tell(Publish(0, [_diagnostic(line) for line in note + visible]))


async def _some(pipe: trio.abc.ReceiveStream) -> bytes:
    try:
        return bytes(await pipe.receive_some(65536))
    except trio.BrokenResourceError:
        return b""


def _diagnostic(line: str) -> DiagnosticEvent:
    return DiagnosticEvent(message=line, level=Level.INFO, source="stderr")
