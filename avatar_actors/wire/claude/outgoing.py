"""Encodes what the host sends to Claude Code, and matches its requests with their answers."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Final, TypeAlias

from msgspec import Struct

from avatar_actors.model.values import Attachment, JsonObject
from avatar_actors.wire.claude.lines import ControlResponse, as_object, as_objects
from avatar_actors.wire.commands import Call
from avatar_actors.wire.facts import Answered
from avatar_actors.wire.framing import json_line
from avatar_actors.wire.json_values import text_at

IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
ATTACHMENTS: Final = ("image", "pdf", "text")


def user_message(text: str, attachments: tuple[Attachment, ...], uuid: str) -> bytes:
    """A prompt. One that starts with "/" may be a command and never reach the model."""
    content: str | list[JsonObject] = text
    if attachments:
        content = [*map(_block, attachments), {"type": "text", "text": text}]
    message: JsonObject = {"role": "user", "content": content}
    return json_line({"type": "user", "message": message, "uuid": uuid})


def control_request(request_id: str, request: JsonObject) -> bytes:
    """A request of ours; `request` has its subtype."""
    return json_line({"type": "control_request", "request_id": request_id, "request": request})


def control_success(request_id: str, response: JsonObject) -> bytes:
    """The answer to a request of the CLI."""
    answer = {"subtype": "success", "request_id": request_id, "response": response}
    return json_line({"type": "control_response", "response": answer})


def control_error(request_id: object, error: str) -> bytes:
    """An error for a request of the CLI; an odd id is returned as it is."""
    answer = {"subtype": "error", "request_id": request_id, "error": error}
    return json_line({"type": "control_response", "response": answer})


def unacceptable(attachments: tuple[Attachment, ...]) -> str:
    """Why these attachments cannot be sent, or nothing."""
    for attachment in attachments:
        kind = attachment.mime_type
        if kind not in IMAGES and attachment.kind not in {"pdf", "text"}:
            takes = ", ".join([*sorted(IMAGES), "pdf", "text"])
            return f"Claude Code takes no attachment of type {kind!r}; it takes: {takes}"
    return ""


def _block(attachment: Attachment) -> JsonObject:
    if attachment.kind == "text":
        text = attachment.data.decode("utf-8", "replace")
        name = attachment.name or "attachment"
        return {"type": "text", "text": f'<file name="{name}">\n{text}\n</file>'}
    source = {
        "type": "base64",
        "media_type": attachment.mime_type,
        "data": base64.b64encode(attachment.data).decode("ascii"),
    }
    kind = "image" if attachment.mime_type in IMAGES else "document"
    return {"type": kind, "source": source}


SUBTYPES: Final = {
    "set_model": "set_model",
    "set_mode": "set_permission_mode",
    "mcp_status": "mcp_status",
    "stop_task": "stop_task",
    "rewind_files": "rewind_files",
}
RAW: Final = "raw:"
SERVER_FIELDS: Final = ("name", "status", "error", "transport", "scope", "source", "tools")


class Initialize(Struct, frozen=True):
    """The handshake."""


class InterruptRequest(Struct, frozen=True):
    """The cancel of a turn, with the ids of all that was said in it."""

    uuids: tuple[str, ...]


class Unqueue(Struct, frozen=True):
    """Withdraw a message that the CLI has not started with."""

    uuid: str


class HostCall(Struct, frozen=True):
    """A Call of the host."""

    call: Call


class Goodbye(Struct, frozen=True):
    """The end of the session."""


Purpose: TypeAlias = Initialize | InterruptRequest | Unqueue | HostCall | Goodbye


class Requests:
    """The requests that have no answer yet."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._count = 0
        self._waiting: dict[str, Purpose] = {}

    def ask(self, purpose: Purpose, request: JsonObject) -> None:
        """Send the request, and remember its purpose for the answer."""
        self._count += 1
        request_id = f"avatar-{self._count}"
        self._waiting[request_id] = purpose
        self._send(control_request(request_id, request))

    def waits_for(self, response: ControlResponse) -> bool:
        """Whether this answers an open request."""
        return response.request_id in self._waiting

    def answered(self, response: ControlResponse) -> Purpose | None:
        """The purpose of the answered request; None if it is not ours."""
        return self._waiting.pop(response.request_id, None)


def call_request(call: Call) -> JsonObject | str:
    """The request for the call, or why there is none."""
    subtype = SUBTYPES.get(call.action, "")
    if call.action.startswith(RAW):
        subtype = call.action.removeprefix(RAW)
    if not subtype:
        return f"Claude Code cannot {call.action!r} over its protocol"
    return {**call.arguments, "subtype": subtype}


def call_answer(call: Call, response: ControlResponse) -> Answered:
    """The answer for the host. An MCP server's configuration may hold secrets and is left out."""
    if response.subtype != "success":
        return Answered(call.call_id, error=text_at(response.error) or "the request was refused")
    result = as_object(response.response)
    if call.action.removeprefix(RAW) == "mcp_status":
        servers = as_objects(result.get("mcpServers"))
        kept = [{key: one[key] for key in SERVER_FIELDS if key in one} for one in servers]
        result = {"mcpServers": kept}
    return Answered(call.call_id, result=result)
