"""The endpoint that Prometheus scrapes: one page over HTTP, served in trio.

prometheus_client has a server of its own: a thread that serves every path. Here the connections
are trio's, http.server of the standard library reads what a client asks, and only the page itself
is made in a worker thread, so that a registry with many series does not hold up the loop.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from io import BytesIO

import trio
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from avatar_actors.model.errors import SettingsError
from avatar_actors.model.host_settings import MetricsSettings
from avatar_actors.session.messages import Nothing
from supervisors import Inbox

_LONGEST = 16 * 1024
_PATIENCE = 10.0
# More scrapers than that at a time wait in the kernel's backlog, where they cost no descriptor.
MOST_SCRAPERS = 32
_ALLOWED = ("GET", "HEAD")


@asynccontextmanager
async def open_endpoint(
    settings: MetricsSettings, registry: CollectorRegistry
) -> AsyncGenerator[Endpoint]:
    """The port for the length of a block; SettingsError if it cannot be had."""
    listener = await _listen(settings)
    try:
        yield Endpoint(listener, settings, registry)
    finally:
        listener.close()


class Endpoint:
    """A listening socket, which outlives a crash of the actor that serves it."""

    def __init__(
        self, listener: socket.socket, settings: MetricsSettings, registry: CollectorRegistry
    ) -> None:
        self._listener, self._path, self._registry = listener, settings.endpoint, registry
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        self.url = f"http://{host}:{listener.getsockname()[1]}{settings.endpoint}"

    async def serve(self, inbox: Inbox[Nothing]) -> None:
        """Answers who connects, each in a task of its own."""
        listener = _BoundedListener(self._listener.dup(), MOST_SCRAPERS)
        inbox.ready()
        async with listener:
            await trio.serve_listeners(partial(self._answer, listener.room), [listener])

    async def _answer(self, room: trio.Semaphore, stream: trio.SocketStream) -> None:
        try:
            with suppress(trio.BrokenResourceError), trio.move_on_after(_PATIENCE):
                async with stream:
                    await stream.send_all(await self._response(await _head(stream)))
        finally:
            room.release()

    async def _response(self, head: bytes) -> bytes:
        question = _Question(head)
        if not question.is_sound:
            return question.answer
        if question.path.partition("?")[0] != self._path:
            return question.replied(HTTPStatus.NOT_FOUND, f"the metrics are at {self._path}\n")
        if question.command not in _ALLOWED:
            return question.replied(HTTPStatus.METHOD_NOT_ALLOWED, "only GET and HEAD\n")
        encode, kind = choose_encoder(question.headers.get("Accept", ""))
        page = await trio.to_thread.run_sync(encode, self._registry, abandon_on_cancel=True)
        return question.replied(HTTPStatus.OK, page.decode(), kind)


class _BoundedListener(trio.abc.Listener[trio.SocketStream]):
    """Accepts a connection when there is room for it; who serves it gives the room back."""

    def __init__(self, listener: socket.socket, most: int) -> None:
        self._listener = trio.SocketListener(trio.socket.from_stdlib_socket(listener))
        self.room = trio.Semaphore(most)

    async def accept(self) -> trio.SocketStream:
        """The next connection."""
        await self.room.acquire()
        try:
            return await self._listener.accept()
        except BaseException:
            self.room.release()
            raise

    async def aclose(self) -> None:
        """Close the listening socket."""
        await self._listener.aclose()


class _Question(BaseHTTPRequestHandler):
    """One request, read by the standard library off bytes instead of a socket."""

    server_version = "avatar-actors"
    sys_version = ""

    def __init__(self, head: bytes) -> None:
        self._written = BytesIO()
        self.rfile, self.wfile = BytesIO(head), self._written
        self.command, self.path, self.requestline = "", "", ""
        self.request_version = self.default_request_version
        self.raw_requestline = self.rfile.readline(_LONGEST)
        self.is_sound = bool(self.raw_requestline.strip()) and self.parse_request()

    @property
    def answer(self) -> bytes:
        """What was written so far."""
        return self._written.getvalue()

    def replied(
        self, status: HTTPStatus, body: str, kind: str = "text/plain; charset=utf-8"
    ) -> bytes:
        """The whole response; the connection is closed after it."""
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        if status is HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", ", ".join(_ALLOWED))
        self.end_headers()
        return self.answer + (b"" if self.command == "HEAD" else data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """A scrape is no news."""


async def _head(stream: trio.SocketStream) -> bytes:
    """What the client says, up to the blank line; of who says too much only the beginning."""
    data = b""
    while b"\r\n\r\n" not in data and b"\n\n" not in data and len(data) < _LONGEST:
        more = await stream.receive_some(_LONGEST)
        if not more:
            break
        data += more
    return data


async def _listen(settings: MetricsSettings) -> socket.socket:
    host, port = settings.host, settings.port or 0
    try:
        [listener, *others] = await trio.open_tcp_listeners(port, host=host)
    except OSError as error:
        words = f"metrics.port: {host}:{port} cannot be opened: {error.strerror or error}"
        raise SettingsError(f"{words}; choose another port, or 0 for a free one") from error
    for other in others:
        await other.aclose()
    ours = socket.socket(fileno=listener.socket.detach())
    ours.setblocking(False)
    return ours
