"""JSON lines: records to bytes and back, and the narrowing of what came in."""

from __future__ import annotations

import json

# The name that type checkers know; `import typing` itself costs this program's start 3 ms.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeGuard

Record = dict[str, object]

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_encode_ascii = json.JSONEncoder(separators=(",", ":")).encode


def to_json(value: object) -> str:
    """The value as compact JSON text."""
    return _encode(value)


def encode(record: Record) -> bytes:
    """One line, with its newline."""
    try:
        return (_encode(record) + "\n").encode()
    except UnicodeEncodeError:
        # A lone surrogate, which came in as an escape, can only leave as one.
        return (_encode_ascii(record) + "\n").encode()


def decode(line: bytes) -> object:
    """The value of a line; raises ValueError for anything that is not JSON."""
    try:
        value: object = json.loads(line)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def is_record(value: object) -> TypeGuard[Record]:
    """Whether it is a JSON object."""
    return isinstance(value, dict)


def is_items(value: object) -> TypeGuard[list[object]]:
    """Whether it is a JSON array."""
    return isinstance(value, list)


def text_in(record: Record, key: str, default: str = "") -> str:
    """The string under the key, else the default."""
    value = record.get(key)
    return value if isinstance(value, str) else default


def number_in(record: Record, key: str, default: float = 0) -> float:
    """The number under the key, else the default; `true` is no number."""
    value = record.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return default
    return value


def record_in(record: Record, key: str) -> Record:
    """The object under the key, else an empty one."""
    value = record.get(key)
    return value if is_record(value) else {}


def items_in(record: Record, key: str) -> list[object]:
    """The array under the key, else an empty one."""
    value = record.get(key)
    return value if is_items(value) else []


def records_in(record: Record, key: str) -> list[Record]:
    """The objects of the array under the key."""
    return [item for item in items_in(record, key) if is_record(item)]
