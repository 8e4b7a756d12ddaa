"""Encodes what the host says as one line of JSON, safe for the line readers of JavaScript."""

from __future__ import annotations

import json
from typing import Final

import msgspec

from avatar_actors.model.values import JsonObject

# Signs that JavaScript's line readers may take for the end of a line.
LINE_ENDS: Final = ((b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))


def json_line(message: JsonObject) -> bytes:
    """The line, with its end."""
    try:
        encoded = msgspec.json.encode(message)
    except UnicodeEncodeError:
        # Half a surrogate pair in the host's text: only the escaped form can carry it.
        encoded = json.dumps(message).encode("ascii")
    for sign, escaped in LINE_ENDS:
        encoded = encoded.replace(sign, escaped)
    return encoded + b"\n"
