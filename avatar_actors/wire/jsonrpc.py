"""One side of a JSON-RPC 2.0 connection: numbers requests and matches their replies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from avatar_actors.model.values import JsonObject
from avatar_actors.wire.facts import Fact
from avatar_actors.wire.json_values import at, decoded, is_object, raw_text, text_at

INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
REQUEST_CANCELLED: Final = -32800
# Of ACP: the agent wants a login first.
AUTH_REQUIRED: Final = -32000

HTTP_ERRORS: Final = range(400, 600)

RpcId: TypeAlias = int | str
NO_RESULT: Final = Raw(b"null")


class RpcMessage(Struct, gc=False):
    """Any message: a request (id and method), a notification (method) or a reply (id)."""

    id: RpcId | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Raw = NO_RESULT
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class RpcError(Struct, frozen=True):
    """The error of a reply, as text for people."""

    code: int
    message: str

    @classmethod
    def read(cls, raw: Raw) -> RpcError:
        """The error as sent; one of an unknown shape is kept as its text."""
        error = decoded(raw)
        if not is_object(error):
            return cls(0, raw_text(bytes(raw)))
        code = at(error, "code")
        message = text_at(error, "message")
        # Gemini 0.61.0 sends the HTTP status as code and the body as message.
        message = (
            text_at(decoded(message.encode("utf-8", "replace")), "error", "message") or message
        )
        details = at(error, "data")
        # codex and gemini say "Internal error" and put the rest here.
        more = text_at(details, "details") or text_at(details, "message")
        if isinstance(details, str):
            more = details
        if more and more not in message:
            message = f"{message}: {more}" if message else more
        number = code if type(code) is int else 0
        if number in HTTP_ERRORS:
            message = f"{message} (HTTP {number})"
        return cls(number, message or f"error {number}")


def error_words(text: str) -> str:
    """The message in an API's error body, if that is all an agent passes on."""
    body = decoded(text.encode("utf-8", "replace"))
    return text_at(body, "error", "message") or text.strip()


class Reply(Struct, frozen=True):
    """The other side's answer to a request of ours."""

    result: Raw = NO_RESULT
    error: RpcError | None = None


OnReply: TypeAlias = Callable[[Reply], list[Fact]]


class Peer:
    """Our side. Our requests have counted ids; those of the other side keep their own."""

    def __init__(self) -> None:
        self._next_id = 0
        self._waiting: dict[RpcId, OnReply] = {}
        self._out = bytearray()

    def request(self, method: str, params: JsonObject, on_reply: OnReply) -> RpcId:
        """Send a request; `on_reply` is called once with the reply."""
        rpc_id = self._next_id
        self._next_id += 1
        self._waiting[rpc_id] = on_reply
        self._send({"id": rpc_id, "method": method, "params": params})
        return rpc_id

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def answer(self, rpc_id: RpcId, result: JsonObject) -> None:
        """Answer a request of the other side."""
        self._send({"id": rpc_id, "result": result})

    def refuse(self, rpc_id: RpcId | float, code: int, message: str) -> None:
        """Answer a request of the other side with an error; an odd id is returned as it came."""
        self._send({"id": rpc_id, "error": {"code": code, "message": message}})

    def waiter(self, rpc_id: RpcId | UnsetType | None) -> OnReply | None:
        """Remove and return the callback for the reply with this id."""
        # The keys 1.0 and True would match 1, so the type is checked.
        return self._waiting.pop(rpc_id, None) if type(rpc_id) is int else None

    def data_to_send(self) -> bytes:
        """The bytes to send since the last call."""
        if not self._out:
            return b""
        data = bytes(self._out)
        self._out.clear()
        return data

    def _send(self, message: JsonObject) -> None:
        self._out += msgspec.json.encode({"jsonrpc": "2.0", **message})
        self._out += b"\n"
