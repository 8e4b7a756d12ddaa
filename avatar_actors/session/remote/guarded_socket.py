"""The WebSocket below the SDK's transport: lets only messages through, and tells of the rest."""

from __future__ import annotations

from collections.abc import Callable

from websockets.asyncio.client import ClientConnection

from avatar_actors.session.remote.link import Around
from avatar_actors.wire.json_values import decoded, is_object


class GuardedSocket:
    """What the SDK's transport asks of a connection.

    The SDK (0.12) drops binary frames and broken JSON without a word, and takes `null` for the end.
    """

    def __init__(
        self, socket: ClientConnection, around: Around, aside: Callable[[bytes], None]
    ) -> None:
        self._socket, self._around, self._aside = socket, around, aside

    async def send(self, text: str) -> None:
        """One message, one frame."""
        await self._socket.send(text)

    async def recv(self) -> str:
        """The next message; raises ConnectionClosed at the end."""
        while True:
            frame = await self._socket.recv()
            if isinstance(frame, bytes):
                self._around.remark(f"a binary frame of {len(frame)} bytes; left out")
                continue
            raw = frame.encode()
            if len(raw) <= self._around.max_message and is_object(decoded(raw)):
                return frame
            self._aside(raw)  # the wire says what is wrong with it

    async def close(self) -> None:
        """In an orderly way, as far as the other side takes part in it."""
        await self._socket.close()
