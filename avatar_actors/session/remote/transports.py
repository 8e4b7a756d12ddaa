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
    """The connection that the SDK's transport uses; leaves out frames that are not messages.

    The SDK (0.12) silently drops binary frames and broken JSON, and takes `null` for the end.
    """

    def __init__(
        self, socket: ClientConnection, context: RemoteContext, aside: Callable[[bytes], None]
    ) -> None:
        self._socket, self._context, self._aside = socket, context, aside

    async def send(self, text: str) -> None:
        """One message, one frame."""
        await self._socket.send(text)

    async def recv(self) -> str:
        """The next message; raises ConnectionClosed at the end."""
        while True:
            frame = await self._socket.recv()
            if isinstance(frame, bytes):
                self._context.remark(f"a binary frame of {len(frame)} bytes; left out")
                continue
            raw = frame.encode()
            if len(raw) <= self._context.max_message and is_object(decoded(raw)):
                return frame
            self._aside(raw)  # the wire reports what is wrong with it

    async def close(self) -> None:
        """Close it with a handshake, if the other side takes part."""
        await self._socket.close()


# Seconds for a WebSocket's closing handshake.
_CLOSE = 0.5
# A message over the limit is left out; one this many times as long ends the connection.
_HOPELESS = 4
# The library would log all headers.
_SILENCE = logging.Logger("avatar_actors.session.remote.websockets")
_SILENCE.disabled = True


class RemoteTransport(Protocol):
    """The part of the SDK's transport that is used: asyncio coroutines."""

    async def send(self, message: dict[str, Any]) -> None:
        """Send one message; raises if it was not delivered."""
        ...

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None at the end."""
        ...

    async def close(self) -> None:
        """Close the connection in an orderly way, if possible."""
        ...

    def last_words(self) -> str:
        """Why nothing more comes."""
        ...


async def open_line(context: RemoteContext, aside: Callable[[bytes], None]) -> RemoteTransport:
    """Open a transport to the agent; what is not a message goes to `aside`, to be reported."""
    if context.remote.url.startswith("ws"):
        return _SocketLine(await in_asyncio(_connected)(context), context, aside)
    return _HttpLine(context, aside)


class _Connect(connect):
    """Follows no redirect: the headers are only for the given address."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


async def _connected(context: RemoteContext) -> ClientConnection:
    remote = context.remote
    tls = ssl.create_default_context() if remote.url.startswith("wss") else None
    return await _Connect(
        remote.url,
        additional_headers=remote.headers,
        compression=None,
        proxy=None,
        open_timeout=context.patience,
        ping_interval=remote.dead_after / 2,
        ping_timeout=remote.dead_after / 2,
        close_timeout=_CLOSE,
        max_size=context.max_message * _HOPELESS,
        logger=_SILENCE,
        ssl=tls,
    )


class _SocketLine:
    def __init__(
        self, socket: ClientConnection, context: RemoteContext, aside: Callable[[bytes], None]
    ) -> None:
        self._socket = socket
        # Not the SDK's own `create_websocket_stream` (0.12): it cuts the connection at 1 MiB.
        guarded = GuardedSocket(socket, context, aside)
        self._transport = _WebSocketTransport(guarded)
        self.send, self.receive = self._transport.send, self._transport.receive
        self.close = self._transport.close

    def last_words(self) -> str:
        code, reason = self._socket.close_code, self._socket.close_reason
        return f"it was closed with code {code}{reason and f': {reason}'}"


class _HttpLine:
    def __init__(self, context: RemoteContext, aside: Callable[[bytes], None]) -> None:
        self._watch = StreamWatch(context, aside)
        self._guard = GuardedHttp(self._watch)
        self._client = client_of(self._guard)
        self._transport = create_http_stream(context.remote.shown, client=self._client)
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
