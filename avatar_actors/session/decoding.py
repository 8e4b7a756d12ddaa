"""Decodes an agent's output so that it slows no other agent: in pieces with pauses, in a thread."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final, TypeAlias

import trio

from avatar_actors.wire.facts import Fact
from avatar_actors.wire.wire import Wire

# CPU seconds that one block may take: 64 KiB of usual updates take 1 ms, of input
# made to be slow 20 and more. An agent above it pauses for _REST times the excess.
_FAIR: Final = 0.002
_REST: Final = 19
_LONGEST_REST: Final = 0.5
_PIECE: Final = 4096
# Bytes that cannot take that long.
_SHORT: Final = 1024
# Bytes of a line that can be decoded by no piece of it: 2 ms of text, of many small values 200.
_LONG: Final = 1024 * 1024

Take: TypeAlias = Callable[[Sequence[Fact]], Awaitable[None]]


class OutputDecoder:
    """The only reader of one wire. Commands of the wire wait until it `is_free`."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._unfinished = 0  # bytes of the line that the last block has begun
        self._is_slow = False
        self._thread: trio.Event | None = None

    @property
    def is_free(self) -> bool:
        """Whether no thread uses the wire."""
        return self._thread is None

    async def until_free(self) -> None:
        """Wait for the end of a thread that uses the wire, if there is one."""
        while self._thread is not None:
            await self._thread.wait()

    async def decode(self, block: bytes, take: Take) -> None:
        """Give the facts of a block to `take`, in their order."""
        amount = self._unfinished + len(block)
        end_of_line = block.rfind(b"\n")
        self._unfinished = amount if end_of_line < 0 else len(block) - end_of_line - 1
        if amount <= _SHORT:  # no clock: each is a system call, and most blocks are one update
            await take(self._wire.receive(block))
        elif amount > _LONG and end_of_line >= 0:
            await take(await self._in_thread(partial(self._wire.receive, block)))
        else:
            await self._in_pieces(block, take)

    async def end(self, take: Take) -> None:
        """Give the facts of an unfinished line to `take`: there are no more blocks."""
        if self._unfinished > _LONG:
            await take(await self._in_thread(self._wire.end_of_stream))
        else:
            await take(self._wire.end_of_stream())

    async def _in_pieces(self, block: bytes, take: Take) -> None:
        size, self._is_slow = _PIECE if self._is_slow else max(len(block), 1), False
        for start in range(0, len(block), size):
            began = time.thread_time()
            found = self._wire.receive(block[start : start + size])
            spent = time.thread_time() - began
            await take(found)
            if spent > _FAIR:
                self._is_slow = True
                await trio.sleep(min((spent - _FAIR) * _REST, _LONGEST_REST))

    async def _in_thread(self, decode: Callable[[], list[Fact]]) -> list[Fact]:
        self._thread = trio.Event()
        found = await trio.to_thread.run_sync(decode, abandon_on_cancel=True)
        # Not after a cancellation: the thread that was left behind still uses the wire.
        self._thread.set()
        self._thread = None
        return found
