"""The model server of one test: it answers agents by a script and keeps what they asked."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeGuard

import msgspec
import trio

from tests.model_api import gemini_content
from tests.model_api.anthropic_messages import ANTHROPIC
from tests.model_api.dialect import Dialect
from tests.model_api.gemini_content import GEMINI
from tests.model_api.http_connection import Exchange, serve_connection
from tests.model_api.openai_chat import CHAT
from tests.model_api.openai_responses import RESPONSES
from tests.model_api.recorded import HttpRequest, Json, ModelRequest
from tests.model_api.script import (
    Drop,
    Fail,
    Hang,
    Pause,
    Script,
    Utterance,
    Wait,
    echo,
    in_order,
)
from tests.model_api.side_calls import harmless
from tests.model_api.tool_names import as_offered

MODELS: Json = {
    "object": "list",
    "data": [{"id": "scripted-model", "object": "model", "type": "model"}],
    "has_more": False,
}
SWITCHING = 426


class ModelApi:
    """What a test sees of the server. Addresses of all dialects begin with `url`."""

    def __init__(self, port: int, script: Script) -> None:
        self.url = f"http://127.0.0.1:{port}"
        # All calls of the model, side calls too, in the order of their coming.
        self.requests: list[ModelRequest] = []
        # What was asked and is in no dialect, as "GET /path": answered with 404.
        self.unknown: list[str] = []
        self.open_connections = 0
        self._reply = script if callable(script) else in_order(script)
        self._changed = trio.Event()

    @property
    def main_requests(self) -> list[ModelRequest]:
        """Those that the script answered."""
        return [request for request in self.requests if request.is_main]

    async def until(self, is_it: Callable[[ModelRequest], object]) -> ModelRequest:
        """The first request that fits, be it long past or still to come."""
        at = 0
        while True:
            for request in self.requests[at:]:
                if is_it(request):
                    return request
            at = len(self.requests)
            await self._changed.wait()

    async def until_all_left(self) -> None:
        """Nobody is connected any more: agents keep a connection as long as they live."""
        while self.open_connections:
            await self._changed.wait()

    def _tell_waiters(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    async def serve(self, stream: trio.SocketStream) -> None:
        self.open_connections += 1
        try:
            await serve_connection(stream, self._answer)
        finally:
            self.open_connections -= 1
            self._tell_waiters()

    async def _answer(self, http: HttpRequest, exchange: Exchange) -> None:
        dialect = _dialect_of(http)
        if dialect is not None:
            await self._call_model(dialect, http, exchange)
        elif "upgrade" in http.headers:
            # Codex tries a WebSocket first and takes this as the word to stay with HTTP.
            await exchange.send_json(SWITCHING, {}, {"upgrade": "HTTP/1.1", "connection": "close"})
        elif (plain := _plain_answer(http)) is not None:
            await exchange.send_json(200, plain)
        else:
            self.unknown.append(f"{http.method} {http.target}")
            await exchange.send_json(404, {"error": {"message": f"no {http.target}"}})

    async def _call_model(self, dialect: Dialect, http: HttpRequest, exchange: Exchange) -> None:
        request = dialect.read(http, msgspec.json.decode(http.body))
        self.requests.append(request)
        self._tell_waiters()
        reply = self._reply(request) if request.is_main else harmless(request)
        await _play(dialect, request, [as_offered(step, request) for step in reply], exchange)


def _dialect_of(http: HttpRequest) -> Dialect | None:
    if http.method != "POST":
        return None
    if http.path.endswith("/v1/messages"):
        return ANTHROPIC
    if http.path.endswith("/responses"):
        return RESPONSES
    if http.path.endswith("/chat/completions"):
        return CHAT
    place = gemini_content.PATH.fullmatch(http.path)
    return GEMINI if place and place["action"].lower().endswith("generatecontent") else None


def _plain_answer(http: HttpRequest) -> Json | None:
    """To what is no call of the model."""
    tokens = len(http.body) // 4
    if http.path.endswith("/count_tokens"):
        return {"input_tokens": tokens}
    if http.path.endswith(":countTokens"):
        return {"totalTokens": tokens}
    if http.path.endswith("/models"):
        return MODELS
    return {} if http.method == "HEAD" else None


async def _play(
    dialect: Dialect, request: ModelRequest, steps: Sequence[Utterance], exchange: Exchange
) -> None:
    """Waits that come first hold back even the head, so that an error can still be the status."""
    first = next((at for at, step in enumerate(steps) if not isinstance(step, Wait)), len(steps))
    spoken = steps[first:]
    for wait in steps[:first]:
        if isinstance(wait, Wait) and not await _is_over(wait, exchange):
            return
    failures = [step for step in spoken if isinstance(step, Fail)]
    if failures and (spoken[0] is failures[0] or not request.streams):
        await _refuse(dialect, failures[0], exchange)
    elif request.streams:
        await _play_events(dialect, request, spoken, exchange)
    else:
        await _play_whole(dialect, request, spoken, exchange)


async def _play_events(
    dialect: Dialect, request: ModelRequest, steps: Sequence[Utterance], exchange: Exchange
) -> None:
    await exchange.start_events()
    for piece in dialect.stream(request, steps):
        if isinstance(piece, bytes):
            await exchange.send(piece)
        elif not await _is_over(piece, exchange):
            return
    await exchange.finish()


async def _play_whole(
    dialect: Dialect, request: ModelRequest, steps: Sequence[Utterance], exchange: Exchange
) -> None:
    for step in steps:
        if isinstance(step, Wait) and not await _is_over(step, exchange):
            return
    await exchange.send_json(200, dialect.whole(request, steps))


async def _is_over(wait: Wait, exchange: Exchange) -> bool:
    """Whether anything is to follow."""
    match wait:
        case Pause(until):
            return await exchange.is_there_when(until)
        case Hang():
            return await exchange.is_there_when(trio.Event())
        case Drop():
            await exchange.drop()
            return False


async def _refuse(dialect: Dialect, fail: Fail, exchange: Exchange) -> None:
    status, body = dialect.error(fail)
    later = {} if fail.retry_after is None else {"retry-after": str(fail.retry_after)}
    await exchange.send_json(status, body, later)


def _sole_cause(error: BaseException) -> BaseException:
    while _is_group(error) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _is_group(error: BaseException) -> TypeGuard[BaseExceptionGroup[BaseException]]:
    return isinstance(error, BaseExceptionGroup)


@asynccontextmanager
async def open_model_api(script: Script = echo) -> AsyncGenerator[ModelApi]:
    """A server on a free port of the loopback, gone with all its connections at the end."""
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    api = ModelApi(listeners[0].socket.getsockname()[1], script)
    try:
        async with trio.open_nursery() as nursery:
            await nursery.start(trio.serve_listeners, api.serve, listeners)
            yield api
            nursery.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # A test's own failure, its skip or what its script raised passes as it is.
        raise _sole_cause(group) from None
