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


class IncomingLines:
    """Buffers messages from asyncio for trio; both sides are tasks of one actor in one thread."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._size = 0
        self._is_closed = False
        self._stir = trio.Event()
        self._room = trio.Event()

    @property
    def is_full(self) -> bool:
        """Whether the filling task should wait for room."""
        return self._size >= _FULL

    def add(self, line: bytes) -> None:
        """Add one message, without line ends: they would split it in two."""
        self._lines.append(line.replace(b"\n", b" ") if b"\n" in line else line)
        self._size += len(line)
        self._stir.set()

    async def room(self) -> None:
        """Wait until it has been emptied."""
        while self.is_full:
            await self._room.wait()

    def close(self) -> None:
        """Nothing more will come."""
        self._is_closed = True
        self._stir.set()

    async def take(self) -> bytes:
        """All messages that are here, as lines; b"" at the end."""
        while not self._lines and not self._is_closed:
            await self._stir.wait()
        self._stir = trio.Event()
        block = b"".join(line + b"\n" for line in self._lines)
        self._lines, self._size = [], 0
        self._room.set()
        self._room = trio.Event()
        return block


# Seconds for the last messages, and for an orderly close.
_GOODBYE = 1.5

End: TypeAlias = AgentError | AvatarStartError


async def exchange(
    context: RemoteContext,
    unsent: trio.MemoryReceiveChannel[bytes],
    out: trio.MemorySendChannel[FromAgent],
    ended: Callable[[End], Awaitable[None]],
) -> None:
    """Carry messages until the connection is gone; then call `ended`, after the last message."""
    incoming = IncomingLines()
    async with open_asyncio_loop(context.remark):
        line: RemoteTransport | None = None
        try:
            line = await open_line(context, incoming.add)
            traffic = _Traffic(context, line, incoming, unsent)
            await traffic.carry(out)
            await ended(traffic.why())
        except Exception as error:  # noqa: BLE001 - whatever the libraries of the network raise
            await ended(explained(error, context))
        finally:
            if line is not None:
                await _leave(line, unsent)


class _Traffic:
    """Carries messages both ways on one open transport."""

    def __init__(
        self,
        context: RemoteContext,
        line: RemoteTransport,
        incoming: IncomingLines,
        unsent: trio.MemoryReceiveChannel[bytes],
    ) -> None:
        self._context, self._line = context, line
        self._incoming, self._unsent = incoming, unsent
        self._error: Exception | None = None
        self._has_heard = False

    async def carry(self, out: trio.MemorySendChannel[FromAgent]) -> None:
        """Carry messages to the end of the connection; all that came before it are handed on."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._hand_on, out)
            async with trio.open_nursery() as talking:
                talking.start_soon(self._say_all, talking.cancel_scope)
                await in_asyncio(self._hear_all)()
                talking.cancel_scope.cancel()
            self._incoming.close()

    def why(self) -> End:
        """Why the connection ended, without secrets."""
        error = self._error or ConnectionError(self._line.last_words())
        return explained(error, self._context, was_up=self._has_heard)

    async def _hand_on(self, out: trio.MemorySendChannel[FromAgent]) -> None:
        try:
            while block := await self._incoming.take():
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
        """Runs in asyncio."""
        try:
            while (message := await self._line.receive()) is not None:
                self._has_heard = True
                self._incoming.add(msgspec.json.encode(message))
                if self._incoming.is_full:
                    await in_trio(self._incoming.room)()
        except Exception as error:  # noqa: BLE001 - whatever the libraries of the network raise
            self._error = error


async def _say(line: RemoteTransport, data: bytes) -> None:
    for each in data.splitlines():
        await in_asyncio(line.send)(msgspec.json.decode(each))


async def _leave(line: RemoteTransport, unsent: trio.MemoryReceiveChannel[bytes]) -> None:
    """Send the last messages of the bridge, and close."""
    with trio.CancelScope(shield=True, deadline=trio.current_time() + _GOODBYE):
        try:
            while True:
                await _say(line, unsent.receive_nowait())
        except Exception:  # noqa: BLE001 - nothing more to send, or the other side is gone
            pass
    with trio.CancelScope(shield=True, deadline=trio.current_time() + _GOODBYE):
        await in_asyncio(line.close)()
