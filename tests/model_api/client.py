"""An agent's side of the wire, for the tests of the server itself: one connection, plain HTTP."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import h11
import msgspec
import trio
from msgspec import Struct

from tests.model_api.recorded import Json
from tests.model_api.server import ModelApi

RECEIVE_SIZE = 4096


class Cut(Exception):
    """The connection ended before the answer did."""


class Event(Struct, frozen=True):
    """A server-sent event; the data that is no JSON is kept as it is."""

    name: str
    data: Any


class Client:
    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._protocol = h11.Connection(h11.CLIENT)
        self._events = b""

    async def ask(self, path: str, body: Json | None = None, **headers: str) -> h11.Response:
        """Sends a request, a POST if it has a body, and returns the head of the answer."""
        await self.send("GET" if body is None else "POST", path, body, headers)
        return await self.head()

    async def send(
        self, method: str, path: str, body: Json | None, headers: Mapping[str, str]
    ) -> None:
        content = b"" if body is None else msgspec.json.encode(body)
        given = {"host": "loopback", "content-length": str(len(content)), **headers}
        pairs = [(name.replace("_", "-"), value) for name, value in given.items()]
        request = h11.Request(method=method, target=path, headers=pairs)
        for event in (request, h11.Data(data=content), h11.EndOfMessage()):
            await self._stream.send_all(self._protocol.send(event) or b"")

    async def head(self) -> h11.Response:
        event = await self._next()
        assert isinstance(event, h11.Response)
        return event

    async def json(self) -> Json:
        content = b""
        while data := await self._data():
            content += data
        answer: Json = msgspec.json.decode(content)
        return answer

    async def event(self) -> Event | None:
        """The next one as soon as it is here, or None at the end of the answer."""
        while b"\n\n" not in self._events:
            data = await self._data()
            if not data:
                return None
            self._events += data
        block, _, self._events = self._events.partition(b"\n\n")
        return _event(block.decode())

    async def events(self) -> list[Event]:
        """All that are still to come."""
        heard: list[Event] = []
        while (event := await self.event()) is not None:
            heard.append(event)
        return heard

    async def event_with(self, text: str) -> Event:
        """The next one in which the text stands."""
        while (event := await self.event()) is not None:
            if text in str(event.data):
                return event
        raise AssertionError(f"the answer ended without {text!r}")

    def reuse(self) -> None:
        """Ready for the next request on the same connection."""
        self._protocol.start_next_cycle()

    async def _data(self) -> bytes:
        event = await self._next()
        return bytes(event.data) if isinstance(event, h11.Data) else b""

    async def _next(self) -> object:
        while (event := self._protocol.next_event()) is h11.NEED_DATA:
            data = await self._stream.receive_some(RECEIVE_SIZE)
            if not data:
                raise Cut
            self._protocol.receive_data(data)
        return event


def _event(block: str) -> Event:
    fields = dict(line.split(": ", 1) for line in block.splitlines())
    data = fields["data"]
    return Event(fields.get("event", ""), data if data == "[DONE]" else msgspec.json.decode(data))


@asynccontextmanager
async def open_client(api: ModelApi) -> AsyncGenerator[Client]:
    stream = await trio.open_tcp_stream("127.0.0.1", int(api.url.rpartition(":")[2]))
    async with stream:
        yield Client(stream)


async def events_of(api: ModelApi, path: str, body: Json) -> list[Event]:
    """The whole stream of one answer."""
    async with open_client(api) as client:
        head = await client.ask(path, body)
        assert head.status_code == 200
        return await client.events()


async def json_of(api: ModelApi, path: str, body: Json | None = None) -> Json:
    async with open_client(api) as client:
        head = await client.ask(path, body)
        assert head.status_code == 200
        return await client.json()
