"""Which answer makes a session, and that its stream is open before the answer is believed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import httpx
import trio

from avatar_actors.model.values import JsonObject
from avatar_actors.wire.json_values import is_object, text_at

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
        response = await self._open_stream(session_id)
        if response.is_success:
            self._streams[session_id] = response
            self._news.set()
            self._news = trio.Event()
            message["result"] = {**(result if is_object(result) else {}), "sessionId": session_id}
            return True
        await response.aclose()
        del message["result"]
        words = f"the server refuses the stream of this session with HTTP {response.status_code}"
        message["error"] = {"code": _INTERNAL, "message": words}
        return True

    async def stream_of(self, session_id: str) -> httpx.Response:
        """The stream that was opened for it. The SDK may want it before the session is there."""
        while session_id not in self._streams:
            await self._news.wait()
        return self._streams.pop(session_id)
