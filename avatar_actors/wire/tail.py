"""Keeps the end of a text that comes in pieces, in time linear in its length."""

from __future__ import annotations


class Tail:
    """The last `length` characters of all that was added."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._pieces: list[str] = []
        self._kept = 0

    def add(self, piece: str) -> None:
        """The text goes on."""
        if piece:
            self._pieces.append(piece)
            self._kept += len(piece)
        if self._kept > 2 * self._length:
            self._join()

    def text(self) -> str:
        """The end as it is now."""
        self._join()
        return "".join(self._pieces)

    def _join(self) -> None:
        end = "".join(self._pieces)[-self._length :]
        self._pieces = [end]
        self._kept = len(end)
