"""Cuts a stream of server-sent events into their data, in linear time. Pure."""

from __future__ import annotations


class Events:
    """The events of one stream. One longer than the limit is left out and counted, no more."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._line = bytearray()
        self._line_size = 0
        self._event_size = 0
        self._data: list[bytes] = []
        self._overlong = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of the events that these bytes complete."""
        found: list[bytes] = []
        first, *lines = chunk.split(b"\n")
        self._grow(first)
        for line in lines:
            data = self._end_line()
            if data:
                found.append(data)
            self._grow(line)
        return found

    def take_overlong(self) -> int:
        """How many events were over the limit since the last call."""
        count, self._overlong = self._overlong, 0
        return count

    def _grow(self, part: bytes) -> None:
        self._line_size += len(part)
        self._event_size += len(part)
        if self._event_size <= self._limit:
            self._line += part

    def _end_line(self) -> bytes:
        """The data of the event, if this was the empty line at its end."""
        line = bytes(self._line).removesuffix(b"\r")
        is_empty = not line and self._line_size <= 1
        self._line, self._line_size = bytearray(), 0
        if is_empty:
            return self._end_event()
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(value.removeprefix(b" "))
        return b""

    def _end_event(self) -> bytes:
        is_overlong, data = self._event_size > self._limit, b"\n".join(self._data)
        self._data, self._event_size = [], 0
        self._overlong += is_overlong
        return b"" if is_overlong else data
