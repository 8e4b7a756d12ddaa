"""Splits a byte stream into lines and encodes lines of JSON, in linear time."""

from __future__ import annotations

import json
from typing import Final

import msgspec

from avatar_actors.model.values import JsonObject
from avatar_actors.wire.envelope import HEAD_LENGTH

NEWLINE: Final = b"\n"


class Lines:
    """The lines of one stream; only the beginning is kept of one longer than `max_line`.

    Empty lines are skipped. An unfinished line never takes more than `max_line`.
    """

    def __init__(self, max_line: int) -> None:
        self._max_line = max_line
        self._head_length = min(max_line, HEAD_LENGTH)
        self._rest = bytearray()
        self._skipping = False
        self._overlong: list[bytes] = []

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that these bytes complete, without their ends."""
        if not (self._rest or self._skipping):
            lines = data.split(NEWLINE)
        else:
            head, newline, tail = data.partition(NEWLINE)
            self._grow(head)
            if not newline:
                return []
            lines = tail.split(NEWLINE)
            lines.insert(0, self.end())
        start = lines.pop()
        if len(data) > self._max_line:
            lines = self._within_cap(lines)
        self._begin(start)
        return [line for line in lines if line]

    def end(self) -> bytes:
        """The unfinished line; the next byte starts another one."""
        line = bytes(self._rest)
        self._rest.clear()
        self._skipping = False
        return line

    def take_overlong(self) -> list[bytes]:
        """The beginnings of the lines over the limit since the last call."""
        heads, self._overlong = self._overlong, []
        return heads

    def _begin(self, start: bytes) -> None:
        if start:
            self._grow(start)

    def _grow(self, more: bytes) -> None:
        if self._skipping:
            return
        if len(self._rest) + len(more) > self._max_line:
            head = self._rest[: self._head_length] + more[: self._head_length]
            self._overlong.append(bytes(head[: self._head_length]))
            # A new object: a cleared bytearray of 64 MiB would keep its memory.
            self._rest = bytearray()
            self._skipping = True
        else:
            self._rest += more

    def _within_cap(self, lines: list[bytes]) -> list[bytes]:
        kept = [line for line in lines if len(line) <= self._max_line]
        self._overlong += [
            line[: self._head_length] for line in lines if len(line) > self._max_line
        ]
        return kept


class TextTail:
    """Keeps the last `length` characters of a growing text."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._pieces: list[str] = []
        self._kept = 0

    def add(self, piece: str) -> None:
        """Append a piece."""
        if piece:
            self._pieces.append(piece)
            self._kept += len(piece)
        if self._kept > 2 * self._length:
            self._join()

    def text(self) -> str:
        """The current end of the text."""
        self._join()
        return "".join(self._pieces)

    def _join(self) -> None:
        end = "".join(self._pieces)[-self._length :]
        self._pieces = [end]
        self._kept = len(end)


# Characters that JavaScript's line readers may treat as the end of a line.
LINE_ENDS: Final = ((b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))


def json_line(message: JsonObject) -> bytes:
    """The value as one line of JSON, newline included."""
    try:
        encoded = msgspec.json.encode(message)
    except UnicodeEncodeError:
        # A lone surrogate in the host's text: only the escaped form can carry it.
        encoded = json.dumps(message).encode("ascii")
    for sign, escaped in LINE_ENDS:
        encoded = encoded.replace(sign, escaped)
    return encoded + b"\n"
