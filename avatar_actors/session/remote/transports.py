"""Opens the SDK's transport to an agent's address, on a guarded connection."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable
from typing import Any, Protocol

from acp.http.client import create_http_stream
from acp.ws.client import _WebSocketTransport  # pyright: ignore[reportPrivateUsage] - see below
from websockets.asyncio.client import ClientConnection, connect

from avatar_actors.session.remote.asyncio_loop import in_asyncio
from avatar_actors.session.remote.http import GuardedHttp, StreamWatch, client_of
from avatar_actors.session.remote.link import RemoteContext
from avatar_actors.wire.json_values import decoded, is_object


class GuardedSocket:
    """What the SDK's transport asks of a connection.

    The SDK (0.12) drops binary frames and broken JSON without a word, and takes `null` for the end.
    """

    def __init__(
        self, socket: ClientConnection, around: RemoteContext, aside: Callable[[bytes], None]
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


# What a WebSocket's closing handshake may take.
_CLOSE = 0.5
# A message over the limit is left out; one this many times as long would eat up the memory first.
_HOPELESS = 4
# The library writes all headers to its log.
_SILENCE = logging.Logger("avatar_actors.session.remote.websockets")
_SILENCE.disabled = True


class RemoteTransport(Protocol):
    """The SDK's transport, as far as it is used: coroutines of asyncio's."""

    async def send(self, message: dict[str, Any]) -> None:
        """May raise: it was not delivered."""
        ...

    async def receive(self) -> dict[str, Any] | None:
        """None at the end."""
        ...

    async def close(self) -> None:
        """Say goodbye, as far as there is a way to."""
        ...

    def last_words(self) -> str:
        """Why nothing more is received."""
        ...


async def open_line(around: RemoteContext, aside: Callable[[bytes], None]) -> RemoteTransport:
    """A line to the agent; what comes and is no message goes `aside`, to be told of."""
    if around.remote.url.startswith("ws"):
        return _SocketLine(await in_asyncio(_connected)(around), around, aside)
    return _HttpLine(around, aside)


class _Connect(connect):
    """Follows no redirect: the headers are meant for the address that was given."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


async def _connected(around: RemoteContext) -> ClientConnection:
    remote = around.remote
    tls = ssl.create_default_context() if remote.url.startswith("wss") else None
    return await _Connect(
        remote.url,
        additional_headers=remote.headers,
        compression=None,
        proxy=None,
        open_timeout=around.patience,
        ping_interval=remote.dead_after / 2,
        ping_timeout=remote.dead_after / 2,
        close_timeout=_CLOSE,
        max_size=around.max_message * _HOPELESS,
        logger=_SILENCE,
        ssl=tls,
    )


class _SocketLine:
    def __init__(
        self, socket: ClientConnection, around: RemoteContext, aside: Callable[[bytes], None]
    ) -> None:
        self._socket = socket
        # Not the SDK's own `create_websocket_stream` (0.12): it cuts the connection at 1 MiB.
        guarded = GuardedSocket(socket, around, aside)
        self._transport = _WebSocketTransport(guarded)
        self.send, self.receive = self._transport.send, self._transport.receive
        self.close = self._transport.close

    def last_words(self) -> str:
        code, reason = self._socket.close_code, self._socket.close_reason
        return f"it was closed with code {code}{reason and f': {reason}'}"


class _HttpLine:
    def __init__(self, around: RemoteContext, aside: Callable[[bytes], None]) -> None:
        self._watch = StreamWatch(around, aside)
        self._guard = GuardedHttp(self._watch)
        self._client = client_of(self._guard)
        self._transport = create_http_stream(around.remote.shown, client=self._client)
        self.send = self._transport.send

    async def receive(self) -> dict[str, Any] | None:
        message = await self._transport.receive()
        self._watch.room.release()
        return message

    async def close(self) -> None:
        await self._transport.close()
        await self._client.aclose()

    def last_words(self) -> str:
        return self._watch.last_words
