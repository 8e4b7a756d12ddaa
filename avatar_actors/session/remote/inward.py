"""What has come from the agent and waits for the bridge: joined to blocks, and bounded."""

from __future__ import annotations

import trio

# As much as a pipe holds. A single message may be more.
_FULL = 64 * 1024


class Inward:
    """Filled from asyncio, emptied from trio; both are tasks of one actor in one thread."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._size = 0
        self._is_closed = False
        self._stir = trio.Event()
        self._room = trio.Event()

    @property
    def is_full(self) -> bool:
        """Whether who fills it should wait for room."""
        return self._size >= _FULL

    def add(self, line: bytes) -> None:
        """One more message; a line end within it would make two of it."""
        self._lines.append(line.replace(b"\n", b" ") if b"\n" in line else line)
        self._size += len(line)
        self._stir.set()

    async def room(self) -> None:
        """Until it was emptied."""
        while self.is_full:
            await self._room.wait()

    def close(self) -> None:
        """Nothing more comes."""
        self._is_closed = True
        self._stir.set()

    async def take(self) -> bytes:
        """All that is there, as lines; nothing at the end."""
        while not self._lines and not self._is_closed:
            await self._stir.wait()
        self._stir = trio.Event()
        block = b"".join(line + b"\n" for line in self._lines)
        self._lines, self._size = [], 0
        self._room.set()
        self._room = trio.Event()
        return block
