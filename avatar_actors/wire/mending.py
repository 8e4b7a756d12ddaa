"""Rewrites legal JSON that msgspec refuses: lone surrogates, and numbers that nothing can hold.

Only a line that was refused comes here. JavaScript writes half an emoji as `\\ud83d` wherever it
cuts a string (ES2019), and streams it so.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Final, TypeAlias

from avatar_actors.types import JsonObject

REPLACEMENT: Final = "\ufffd"

# An escaped backslash, a whole pair, a lone half; so no half is found behind an escaped backslash.
_ESCAPES: Final = re.compile(
    rb"\\\\"
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_LONE: Final = 6
_TOKENS: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*', re.DOTALL)
# Python reads no integer of more digits than this.
_MOST_DIGITS: Final = 4300
# So much is mended, in 0.15 s at worst: a line that needs more holds up everybody, and is refused.
_MOST_ESCAPES: Final = 200_000
_LONGEST_FOR_NUMBERS: Final = 256 * 1024
_LONGEST_PIECE: Final = 1024 * 1024


def mended(line: bytes) -> bytes:
    """The line with U+FFFD for each lone surrogate, and a number out of range as its text."""
    return _with_numbers(_ESCAPES.sub(_without_half, line, _MOST_ESCAPES))


def _with_numbers(line: bytes) -> bytes:
    return _TOKENS.sub(_in_range, line) if len(line) <= _LONGEST_FOR_NUMBERS else line


def _without_half(found: re.Match[bytes]) -> bytes:
    escape = found[0]
    return b"\\ufffd" if len(escape) == _LONE else escape


def _in_range(found: re.Match[bytes]) -> bytes:
    token = found[0]
    if token.startswith(b'"'):
        return token
    digits = token.lstrip(b"-")
    if digits.isdigit():
        return token if len(digits) <= _MOST_DIGITS else b'"' + token + b'"'
    try:
        return token if math.isfinite(float(token)) else b'"' + token + b'"'
    except ValueError:
        return token


# The object in a message that holds a piece of the answer, and under which key.
Piece: TypeAlias = tuple[JsonObject, str]


class SplitSigns:
    """Puts together what was split: half a sign at the end of a piece of text, half in the next.

    The first half is held back until the next message. `piece_of` finds the text in a message.
    """

    def __init__(self, piece_of: Callable[[object], Piece | None]) -> None:
        self._piece_of = piece_of
        self.half = ""

    def left_over(self) -> str:
        """What to tell in place of the half, when something else came than the other one."""
        half, self.half = self.half, ""
        return REPLACEMENT if half else ""

    def joined(self, line: bytes) -> tuple[str, bytes]:
        """The text that goes before the line's own, and the line; it may still need mending."""
        message = _loaded(line) if len(line) <= _LONGEST_PIECE else None
        piece = self._piece_of(message)
        if piece is None:
            return self.left_over(), line
        holder, key = piece
        text = str(holder[key])
        before = ""
        if self.half and "\udc00" <= text[:1] <= "\udfff":
            # The two halves are one sign only in UTF-16.
            sign = (self.half + text[0]).encode("utf-16", "surrogatepass").decode("utf-16")
            self.half, text = "", sign + text[1:]
        else:
            before = self.left_over()
        if "\ud800" <= text[-1:] <= "\udbff":
            self.half, text = text[-1], text[:-1]
        holder[key] = text
        return before, json.dumps(message).encode("ascii")


def _loaded(line: bytes) -> object:
    try:
        return json.loads(_with_numbers(line))
    except (ValueError, RecursionError):
        return None
