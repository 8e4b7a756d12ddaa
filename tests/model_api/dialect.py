"""What a dialect is: how a model API is asked, answered and said no to, without I/O."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias
from uuid import uuid4

import msgspec
from msgspec import Struct

from tests.model_api.recorded import DialectName, HttpRequest, Json, ModelRequest
from tests.model_api.script import Fail, Utterance, Wait

# Bytes for the stream, or what keeps the next ones from coming.
Piece: TypeAlias = bytes | Wait


class Dialect(Struct, frozen=True):
    """A model API as data."""

    name: DialectName
    # What the agent wants.
    read: Callable[[HttpRequest, Json], ModelRequest]
    # The answer in events, as it is spoken.
    stream: Callable[[ModelRequest, Sequence[Utterance]], Iterator[Piece]]
    # The answer in one piece of JSON.
    whole: Callable[[ModelRequest, Sequence[Utterance]], Json]
    # The status and the JSON of an error.
    error: Callable[[Fail], tuple[int, Json]]


def sse(data: Json | str, event: str = "") -> bytes:
    """One server-sent event."""
    named = f"event: {event}\n".encode() if event else b""
    body = data.encode() if isinstance(data, str) else msgspec.json.encode(data)
    return named + b"data: " + body + b"\n\n"


def fresh_id(prefix: str) -> str:
    """Unique over servers, since an agent may take a session from one to the next."""
    return f"{prefix}_{uuid4().hex[:24]}"
