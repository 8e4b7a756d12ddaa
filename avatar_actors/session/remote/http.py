"""The HTTP below the SDK's transport: its requests run on trio, its event streams are guarded."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx
import msgspec
import trio
from acp.http.protocol import SESSION_ID_HEADER

from avatar_actors.model.command_line import is_session_id, unusable_session
from avatar_actors.model.values import JsonObject
from avatar_actors.session.remote.asyncio_loop import in_trio
from avatar_actors.session.remote.link import RemoteContext
from avatar_actors.wire.json_values import decoded, is_object, text_at

_METHODS = frozenset({"session/new", "session/load", "session/resume", "session/fork"})
# JSON-RPC's internal error.
_INTERNAL = -32603


class Establishing:
    """The requests for a session that wait for their answer, and the streams that are open.

    The SDK's server (0.12) answers `session/load` and then does not know the session: its stream is
    refused, and so would every prompt be. Such an answer becomes the error that it is.
    """

    def __init__(self, open_stream: Callable[[str], Awaitable[httpx.Response]]) -> None:
        self._open_stream = open_stream
        self._asked: dict[object, str] = {}
        self._streams: dict[str, httpx.Response] = {}
        self._news = trio.Event()

    def asked(self, message: object) -> None:
        """This goes to the agent."""
        if is_object(message) and message.get("method") in _METHODS:
            self._asked[message.get("id")] = text_at(message, "params", "sessionId")

    async def is_established(self, message: JsonObject) -> bool:
        """Whether this answers such a request: it then names its session, or is an error."""
        if "method" in message or message.get("id") not in self._asked:
            return False
        wanted = self._asked.pop(message["id"])
        result = message.get("result")
        session_id = text_at(result, "sessionId") or wanted
        if "error" in message or not session_id:
            return False
        if not is_session_id(session_id):  # it would go into a header
            _fail(message, unusable_session(session_id))
            return True
        response = await self._open_stream(session_id)
        if response.is_success:
            self._streams[session_id] = response
            self._news.set()
            self._news = trio.Event()
            message["result"] = {**(result if is_object(result) else {}), "sessionId": session_id}
            return True
        await response.aclose()
        status = response.status_code
        _fail(message, f"the server refuses the stream of this session with HTTP {status}")
        return True

    async def stream_of(self, session_id: str) -> httpx.Response:
        """The stream that was opened for it. The SDK may want it before the session is there."""
        while session_id not in self._streams:
            await self._news.wait()
        return self._streams.pop(session_id)


def _fail(message: JsonObject, words: str) -> None:
    """Turn an answer into the error that it amounts to."""
    message.pop("result", None)
    message["error"] = {"code": _INTERNAL, "message": words}


class Events:
    """The events of one stream. One longer than the limit is left out and counted, no more."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._line = bytearray()
        self._line_size = 0
        self._event_size = 0
        self._data: list[bytes] = []
        self._overlong = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of the events that these bytes complete."""
        found: list[bytes] = []
        first, *lines = chunk.split(b"\n")
        self._grow(first)
        for line in lines:
            data = self._end_line()
            if data:
                found.append(data)
            self._grow(line)
        return found

    def take_overlong(self) -> int:
        """How many events were over the limit since the last call."""
        count, self._overlong = self._overlong, 0
        return count

    def _grow(self, part: bytes) -> None:
        self._line_size += len(part)
        self._event_size += len(part)
        if self._event_size <= self._limit:
            self._line += part

    def _end_line(self) -> bytes:
        """The data of the event, if this was the empty line at its end."""
        line = bytes(self._line).removesuffix(b"\r")
        is_empty = not line and self._line_size <= 1
        self._line, self._line_size = bytearray(), 0
        if is_empty:
            return self._end_event()
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(value.removeprefix(b" "))
        return b""

    def _end_event(self) -> bytes:
        is_overlong, data = self._event_size > self._limit, b"\n".join(self._data)
        self._data, self._event_size = [], 0
        self._overlong += is_overlong
        return b"" if is_overlong else data


# Messages that may be in the SDK's queue.
_AHEAD = 64
# What is around the data of an event.
_FRAME = 64
# Idle connections are left before the usual servers do it: a request must not meet their close.
_IDLE = 2.0
# What is read of an answer that is no stream.
_BODY = 1024 * 1024


class StreamWatch:
    """What is known of the streams: their limits, whether one ended, and why."""

    def __init__(self, around: RemoteContext, aside: Callable[[bytes], None]) -> None:
        self.around, self.aside = around, aside
        self.room = asyncio.Semaphore(_AHEAD)
        self.last_words = "the stream of events ended"
        self._reading: set[trio.CancelScope] = set()
        self._is_over = False

    async def read(self, chunks: AsyncIterator[bytes]) -> bytes:
        """The next bytes of a stream; nothing when it, or another one, has ended."""
        with trio.CancelScope() as scope:
            self._reading.add(scope)
            try:
                if not self._is_over:
                    return await anext(chunks, b"")
            except httpx.ReadTimeout:
                self.last_words = f"nothing came for {self.around.remote.dead_after:g} s"
            except httpx.HTTPError as error:
                self.last_words = f"{type(error).__name__}: {error}"
            finally:
                self._reading.discard(scope)
        return b""

    def lose(self) -> None:
        """One stream has ended, and with it the connection."""
        self._is_over = True
        for scope in self._reading:
            scope.cancel()


class GuardedHttp(httpx.AsyncBaseTransport):
    """Adds the headers, which nobody above gets to see, and the query of the address."""

    def __init__(self, watch: StreamWatch) -> None:
        self._watch = watch
        self._url = httpx.URL(watch.around.remote.url)
        limits = httpx.Limits(keepalive_expiry=_IDLE)
        # HTTP/2 would write the headers to its log.
        self._inner = httpx.AsyncHTTPTransport(verify=_tls(self._url), limits=limits, http2=False)
        self._sessions = Establishing(self._open_session)
        self._stream_headers = httpx.Headers()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Of asyncio's to the SDK; what it does is trio's."""
        return await in_trio(self._handle)(request)

    async def aclose(self) -> None:
        """Its connections too."""
        await in_trio(self._inner.aclose)()

    async def admit(self, data: bytes) -> bytes | None:
        """The event's data as the SDK gets it; None for what is no message."""
        message = decoded(data)
        if not is_object(message):
            self._watch.aside(data)
            return None
        if await self._sessions.is_established(message):
            return msgspec.json.encode(message)
        return data.replace(b"\n", b" ")

    async def _handle(self, request: httpx.Request) -> httpx.Response:
        if request.method != "GET":
            self._sessions.asked(decoded(request.content))
            return await _plain(await self._send(request.method, request.headers, request.content))
        session_id = request.headers.get(SESSION_ID_HEADER)
        if session_id is None:
            self._stream_headers = request.headers
            response = await self._send("GET", request.headers)
        else:
            response = await self._sessions.stream_of(session_id)
        if not response.is_success:
            self._watch.last_words = f"HTTP {response.status_code} to the stream of events"
            return await _plain(response)
        return httpx.Response(response.status_code, stream=_Stream(response, self, self._watch))

    async def _open_session(self, session_id: str) -> httpx.Response:
        headers = self._stream_headers.copy()
        headers[SESSION_ID_HEADER] = session_id
        return await self._send("GET", headers)

    async def _send(
        self, method: str, headers: httpx.Headers, content: bytes | None = None
    ) -> httpx.Response:
        silence = self._watch.around.remote.dead_after
        is_first = text_at(decoded(content or b""), "method") == "initialize"
        # The first answer may take as long as the start: that is the bridge's to limit.
        read = None if is_first else silence
        timeout = httpx.Timeout(silence, connect=self._watch.around.patience, read=read)
        real = headers.copy()
        real.update(self._watch.around.remote.headers)
        real["Accept-Encoding"] = "identity"
        request = httpx.Request(
            method,
            self._url,
            headers=real,
            content=content,
            extensions={"timeout": timeout.as_dict()},
        )
        return await self._inner.handle_async_request(request)


class _Stream(httpx.AsyncByteStream):
    """The events of one stream, each whole and readable, as fast as they are taken."""

    def __init__(self, response: httpx.Response, guard: GuardedHttp, watch: StreamWatch) -> None:
        self._response, self._guard, self._watch = response, guard, watch
        self._chunks = response.aiter_raw()
        self._events = Events(watch.around.max_message + _FRAME)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Of asyncio's; whatever ends it ends the other streams too."""
        try:
            while (data := await in_trio(self._some)()) is not None:
                for each in data:
                    await self._watch.room.acquire()
                    yield b"data: " + each + b"\n\n"
        finally:
            self._watch.lose()

    async def aclose(self) -> None:
        await in_trio(self._response.aclose)()

    async def _some(self) -> list[bytes] | None:
        chunk = await self._watch.read(self._chunks)
        if not chunk:
            return None
        found = [await self._guard.admit(data) for data in self._events.feed(chunk)]
        if overlong := self._events.take_overlong():
            self._watch.around.remark(f"{overlong} message(s) over the limit; left out")
        return [data for data in found if data is not None]


def client_of(guard: GuardedHttp) -> httpx.AsyncClient:
    """What the SDK sends its requests by."""
    return httpx.AsyncClient(transport=guard, timeout=None, trust_env=False)


def _tls(url: httpx.URL) -> ssl.SSLContext | bool:
    return ssl.create_default_context() if url.scheme == "https" else False


async def _plain(response: httpx.Response) -> httpx.Response:
    """An answer that is read at once; more than anybody says there is not kept."""
    body = bytearray()
    try:
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > _BODY:
                break
    finally:
        await response.aclose()
    headers = [(k, v) for k, v in response.headers.multi_items() if k != "transfer-encoding"]
    return httpx.Response(response.status_code, headers=headers, content=bytes(body))
