"""Narrows JSON from an agent, times included; it never trusts the shape and never raises."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Final, TypeGuard, TypeVar

import msgspec

from avatar_actors.model.values import JsonObject
from avatar_actors.wire.mending import mended

T = TypeVar("T")

# What decoding raises: broken or mismatched JSON, broken UTF-8, and nesting beyond the stack.
UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

# How much is kept of input that was not understood, and shown in a message.
RAW_LENGTH: Final = 64 * 1024
SHOWN_LENGTH: Final = 200

MOST_FIGURE: Final = 2**53


def is_object(value: object) -> TypeGuard[JsonObject]:
    """Whether this is a JSON object; as JSON its keys are strings."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[object]]:
    """Whether this is a JSON array."""
    return isinstance(value, list)


def at(value: object, *path: str) -> object:
    """The value under these nested keys; None if there is none."""
    for key in path:
        if not is_object(value):
            return None
        value = value.get(key)
    return value


def text_at(value: object, *path: str) -> str:
    """The string under these keys, or an empty one."""
    found = at(value, *path)
    return found if isinstance(found, str) else ""


def count_at(value: object, *path: str) -> int:
    """The count under these keys, or 0."""
    return as_count(at(value, *path))


def as_count(value: object) -> int:
    """The value if it is a count within JavaScript's range, else 0."""
    return int(value) if is_figure(value) and value == int(value) else 0


def as_money(value: object) -> float | None:
    """The value if it is a sum of money, else None."""
    return float(value) if is_figure(value) else None


def is_figure(value: object) -> TypeGuard[int | float]:
    """Whether it is a number from 0 to the largest exact float, so that no sum is infinite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= MOST_FIGURE


def decoded(raw: bytes | msgspec.Raw) -> object:
    """The JSON value, or None if it cannot be read."""
    return decoded_as(object, raw)


def decoded_as(kind: type[T], raw: bytes | msgspec.Raw) -> T | None:
    """The JSON as this type, or None if it does not fit."""
    return decoded_by(partial(msgspec.json.decode, type=kind), raw)


def decoded_by(decode: Callable[[bytes | msgspec.Raw], T], raw: bytes | msgspec.Raw) -> T | None:
    """The result of `decode`, after mending if it is legal but refused; None if it does not fit."""
    try:
        return decode(raw)
    except UNREADABLE:
        pass
    try:
        return decode(mended(bytes(raw)))
    except UNREADABLE:
        return None


def raw_text(line: bytes) -> str:
    """What an agent sent, as text and cut, for a report of what was not understood."""
    return line[:RAW_LENGTH].decode("utf-8", "replace")


def shown(line: bytes) -> str:
    """The beginning of what an agent sent, for a message."""
    return ascii(line[:SHOWN_LENGTH].decode("utf-8", "replace"))


def timestamp_of(text: str) -> float:
    """An agent's time as a timestamp; the distant past if it cannot be read."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def time_text(seconds: float) -> str:
    """A time in the agents' format; empty if it is out of range."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return ""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
