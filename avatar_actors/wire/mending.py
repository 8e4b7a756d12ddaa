"""Rewrites legal JSON that msgspec refuses: lone surrogates and numbers out of range.

Only refused lines come here. JavaScript writes half an emoji as `\\ud83d` wherever it cuts a string
(ES2019), and streams it that way.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import partial
from typing import Final, NoReturn, TypeAlias

from avatar_actors.model.values import JsonObject

REPLACEMENT: Final = "\ufffd"
# What JSON's decoder has not joined.
_HALVES: Final = re.compile("[\ud800-\udfff]+")

# The first half of a character without its second, and vice versa.
_FIRST_ALONE: Final = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])")
_SECOND_ALONE: Final = re.compile(
    rb"(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
# Python reads no integer with more digits than this.
_MOST_DIGITS: Final = 4300
# A longer line is not decoded in Python: that may take a hundred times its memory.
_LONGEST: Final = 1024 * 1024


def mended(line: bytes) -> bytes:
    """The line with U+FFFD for each lone surrogate, and a number out of range as its text."""
    if len(line) > _LONGEST:
        return _without_halves(line)
    try:
        text = json.dumps(_loaded(line), ensure_ascii=False)
    except (ValueError, RecursionError):
        return line
    return _HALVES.sub(_replaced, text).encode()


def _replaced(halves: re.Match[str]) -> str:
    return REPLACEMENT * len(halves[0])


def _without_halves(line: bytes) -> bytes:
    # An escaped backslash precedes no half; legal JSON has no NUL.
    plain = line.replace(b"\\\\", b"\0\0")
    plain = _SECOND_ALONE.sub(rb"\\ufffd", _FIRST_ALONE.sub(rb"\\ufffd", plain))
    return plain.replace(b"\0\0", b"\\\\")


def _loaded(line: bytes) -> object:
    """The value; a number out of range becomes its text. ValueError if it is not JSON."""
    load = partial(json.loads, line, parse_float=_float, parse_constant=_refuse_constant)
    try:
        return load()
    except ValueError:
        return load(parse_int=_int)


def _int(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MOST_DIGITS else digits


def _float(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


# The object in a message that holds a piece of the answer, and its key.
Piece: TypeAlias = tuple[JsonObject, str]


class SplitSigns:
    """Joins characters that were split between two pieces of text.

    The first half is held back until the next message. `piece_of` finds the text in a message; only
    lines that contain `marker` are inspected.
    """

    def __init__(self, marker: bytes, piece_of: Callable[[object], Piece | None]) -> None:
        self._marker = marker
        self._piece_of = piece_of
        self.half = ""

    def left_over(self) -> str:
        """The replacement for a half whose other half did not come."""
        half, self.half = self.half, ""
        return REPLACEMENT if half else ""

    def joined(self, line: bytes) -> tuple[str, bytes]:
        """The text to put before the line's own, and the line, which may still need mending."""
        message = _message(line) if self._marker in line else None
        piece = self._piece_of(message)
        if piece is None:
            return self.left_over(), line
        holder, key = piece
        text = str(holder[key])
        before = ""
        if self.half and "\udc00" <= text[:1] <= "\udfff":
            # The two halves are one character only in UTF-16.
            sign = (self.half + text[0]).encode("utf-16", "surrogatepass").decode("utf-16")
            self.half, text = "", sign + text[1:]
        else:
            before = self.left_over()
        if "\ud800" <= text[-1:] <= "\udbff":
            self.half, text = text[-1], text[:-1]
        holder[key] = text
        return before, json.dumps(message).encode("ascii")


def _message(line: bytes) -> object:
    try:
        return _loaded(line) if len(line) <= _LONGEST else None
    except (ValueError, RecursionError):
        return None
