"""Encodes what the host sends to Claude Code; `control` matches requests with their answers."""

from __future__ import annotations

import base64
from typing import Final

from avatar_actors.model.values import Attachment, JsonObject
from avatar_actors.wire.framing import json_line

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
