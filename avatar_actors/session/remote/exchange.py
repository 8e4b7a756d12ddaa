"""Carries messages between a session and the SDK's transport, which lives in an asyncio loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import msgspec
import trio

from avatar_actors.model.errors import AgentError, AvatarStartError
from avatar_actors.session.messages import FromAgent
from avatar_actors.session.remote.asyncio_loop import in_asyncio, in_trio, open_asyncio_loop
from avatar_actors.session.remote.errors import explained
from avatar_actors.session.remote.link import RemoteContext
from avatar_actors.session.remote.transports import RemoteTransport, open_line

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


# What saying goodbye may take: the last words and the orderly close.
_GOODBYE = 1.5

End: TypeAlias = AgentError | AvatarStartError


async def exchange(
    around: RemoteContext,
    unsent: trio.MemoryReceiveChannel[bytes],
    out: trio.MemorySendChannel[FromAgent],
    ended: Callable[[End], Awaitable[None]],
) -> None:
    """Until the connection is gone, which `ended` is told at once, after the last message."""
    inward = Inward()
    async with open_asyncio_loop(around.remark):
        line: RemoteTransport | None = None
        try:
            line = await open_line(around, inward.add)
            talk = _Talk(around, line, inward, unsent)
            await talk.carry(out)
            await ended(talk.why())
        except Exception as error:  # noqa: BLE001 - whatever the libraries of the network raise
            await ended(explained(error, around))
        finally:
            if line is not None:
                await _leave(line, unsent)


class _Talk:
    """What is said and heard on one open line."""

    def __init__(
        self,
        around: RemoteContext,
        line: RemoteTransport,
        inward: Inward,
        unsent: trio.MemoryReceiveChannel[bytes],
    ) -> None:
        self._around, self._line = around, line
        self._inward, self._unsent = inward, unsent
        self._error: Exception | None = None
        self._has_heard = False

    async def carry(self, out: trio.MemorySendChannel[FromAgent]) -> None:
        """Both ways, to the end of the line; what came before the end is handed on before it."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._hand_on, out)
            async with trio.open_nursery() as talking:
                talking.start_soon(self._say_all, talking.cancel_scope)
                await in_asyncio(self._hear_all)()
                talking.cancel_scope.cancel()
            self._inward.close()

    def why(self) -> End:
        """Why the line ended, in words and without secrets."""
        error = self._error or ConnectionError(self._line.last_words())
        return explained(error, self._around, was_up=self._has_heard)

    async def _hand_on(self, out: trio.MemorySendChannel[FromAgent]) -> None:
        try:
            while block := await self._inward.take():
                await out.send(block)
        except trio.BrokenResourceError:
            pass  # the bridge has left, so the session is being stopped

    async def _say_all(self, talking: trio.CancelScope) -> None:
        try:
            async for data in self._unsent:
                await _say(self._line, data)
        except Exception as error:  # noqa: BLE001 - whatever the libraries of the network raise
            self._error = error
            talking.cancel()

    async def _hear_all(self) -> None:
        """A coroutine of asyncio's."""
        try:
            while (message := await self._line.receive()) is not None:
                self._has_heard = True
                self._inward.add(msgspec.json.encode(message))
                if self._inward.is_full:
                    await in_trio(self._inward.room)()
        except Exception as error:  # noqa: BLE001 - whatever the libraries of the network raise
            self._error = error


async def _say(line: RemoteTransport, data: bytes) -> None:
    for each in data.splitlines():
        await in_asyncio(line.send)(msgspec.json.decode(each))


async def _leave(line: RemoteTransport, unsent: trio.MemoryReceiveChannel[bytes]) -> None:
    """Say the last words of the bridge, and close."""
    with trio.CancelScope(shield=True, deadline=trio.current_time() + _GOODBYE):
        try:
            while True:
                await _say(line, unsent.receive_nowait())
        except Exception:  # noqa: BLE001 - nothing more to say, or nobody who hears it
            pass
    with trio.CancelScope(shield=True, deadline=trio.current_time() + _GOODBYE):
        await in_asyncio(line.close)()
