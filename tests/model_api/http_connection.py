"""One connection of an agent: HTTP/1.1 requests in, answers out, one after the other."""

import gzip
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeAlias

import h11
import msgspec
import trio

from tests.model_api.recorded import HttpRequest, Json

RECEIVE_SIZE = 64 * 1024
# Agents put whole session descriptions into headers.
MAX_HEADER_SIZE = 256 * 1024
DROPPED_BY_THE_PEER = (trio.BrokenResourceError, trio.ClosedResourceError)


class Exchange:
    """The answer to one request: plain JSON, or a stream that may stop in any way."""

    def __init__(self, stream: trio.SocketStream, protocol: h11.Connection, method: str) -> None:
        self._stream = stream
        self._protocol = protocol
        self._method = method

    async def send_json(
        self, status: int, body: Json, headers: dict[str, str] | None = None
    ) -> None:
        content = msgspec.json.encode(body)
        length = {"content-type": "application/json", "content-length": str(len(content))}
        await self._head(status, {**length, **(headers or {})})
        await self.finish(b"" if self._method == "HEAD" else content)

    async def start_events(self) -> None:
        await self._head(200, {"content-type": "text/event-stream", "cache-control": "no-cache"})

    async def send(self, data: bytes) -> None:
        await self._tell(h11.Data(data=data))

    async def finish(self, data: bytes = b"") -> None:
        if data:
            await self.send(data)
        await self._tell(h11.EndOfMessage())

    async def is_there_when(self, happens: trio.Event) -> bool:
        """Waits for the event, but no longer than the agent does."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch, nursery.cancel_scope)
            await happens.wait()
            nursery.cancel_scope.cancel()
        return happens.is_set()

    async def _watch(self, wait: trio.CancelScope) -> None:
        with suppress(*DROPPED_BY_THE_PEER):
            while data := await self._stream.receive_some(RECEIVE_SIZE):
                self._protocol.receive_data(data)
        wait.cancel()

    async def drop(self) -> None:
        await trio.aclose_forcefully(self._stream)

    async def _head(self, status: int, headers: dict[str, str]) -> None:
        pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
        await self._tell(h11.Response(status_code=status, headers=pairs))

    async def _tell(self, event: h11.Event) -> None:
        data = self._protocol.send(event)
        if data:
            await self._stream.send_all(data)


Answer: TypeAlias = Callable[[HttpRequest, Exchange], Awaitable[None]]


async def serve_connection(stream: trio.SocketStream, answer: Answer) -> None:
    """Answers until either side has had enough. An agent may leave, or be killed, at any point."""
    protocol = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEADER_SIZE)
    with suppress(*DROPPED_BY_THE_PEER, h11.RemoteProtocolError):
        async with stream:
            while (request := await _next_request(stream, protocol)) is not None:
                await answer(request, Exchange(stream, protocol, request.method))
                if protocol.our_state is not h11.DONE:
                    return
                protocol.start_next_cycle()


async def _next_request(stream: trio.SocketStream, protocol: h11.Connection) -> HttpRequest | None:
    head: h11.Request | None = None
    body = bytearray()
    while True:
        event = protocol.next_event()
        match event:
            case h11.NEED_DATA:
                if protocol.they_are_waiting_for_100_continue:
                    go_on = h11.InformationalResponse(status_code=100, headers=[])
                    await stream.send_all(protocol.send(go_on) or b"")
                protocol.receive_data(await stream.receive_some(RECEIVE_SIZE))
            case h11.Request():
                head = event
            case h11.Data():
                body += event.data
            case h11.EndOfMessage() if head is not None:
                return _as_recorded(head, bytes(body))
            case _:
                return None


def _as_recorded(head: h11.Request, body: bytes) -> HttpRequest:
    headers = {name.decode(): value.decode("latin-1") for name, value in head.headers}
    if headers.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
    return HttpRequest(head.method.decode(), head.target.decode(), headers, body)
