"""Inspects a line without decoding it: its nesting depth, and the ids at its top level.

If the whole line cannot be read, its beginning and its very last field are inspected.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Final

from avatar_actors.wire.json_values import decoded

# How much of a line's beginning is inspected, and kept of a line that is too long.
HEAD_LENGTH: Final = 16 * 1024
_TAIL_LENGTH: Final = 512
_LEVELS: Final = 2

# Leaves stack to whoever decodes a message, however deep their own calls.
MAX_DEPTH: Final = 256

_TOKENS: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]:,]|[^\s"{}\[\]:,]+', re.DOTALL)
# The last field of the outermost object. A quote inside a string would have a backslash.
_LAST: Final = re.compile(rb'[,{]\s*("[A-Za-z_]{1,40}")\s*:\s*("[^"\\]*"|-?[0-9]+)\s*\}\s*\Z')


_STRINGS: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_STEPS: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def is_too_deep(line: bytes) -> bool:
    """Whether the message is nested more deeply than MAX_DEPTH."""
    if line.count(b"[") + line.count(b"{") <= MAX_DEPTH:
        return False
    # A message that is too deep mostly is so at its beginning.
    return _goes_too_deep(line[:HEAD_LENGTH]) or _goes_too_deep(line)


def _goes_too_deep(text: bytes) -> bool:
    # A string without an end was cut.
    plain = _STRINGS.sub(b"", text).partition(b'"')[0]
    depths = accumulate(map(_STEPS.__getitem__, plain.translate(None, _NO_BRACKETS)))
    return any(depth > MAX_DEPTH for depth in depths)


def fields_of(line: bytes) -> dict[str, object]:
    """The keys at the top of the message and one below ("response.request_id").

    A text or a number is kept, anything else is None.
    """
    found: dict[str, object] = {}
    last = _LAST.search(line[-_TAIL_LENGTH:])
    if last is not None:
        found[str(decoded(last[1]))] = _scalar(last[2])
    found.update(_in_head(line[:HEAD_LENGTH]))
    return found


def _in_head(head: bytes) -> dict[str, object]:
    found: dict[str, object] = {}
    keys: list[str] = []
    open_brackets: list[bytes] = []
    text = b""
    is_value = False
    for match in _TOKENS.finditer(head):
        token = match[0]
        depth = len(open_brackets)
        if token in (b"{", b"["):
            open_brackets.append(token)
            is_value = False
        elif not open_brackets:
            break
        elif token in (b"}", b"]"):
            open_brackets.pop()
            is_value = False
        elif token == b":" and depth <= _LEVELS and b"[" not in open_brackets:
            keys = [*keys[: depth - 1], str(decoded(text))]
            found[".".join(keys)] = None
            is_value = True
        elif is_value and token != b"," and depth <= _LEVELS:
            found[".".join(keys)] = _scalar(token)
            is_value = False
        text = token
    return found


def _scalar(token: bytes) -> object:
    value = decoded(token)
    return value if type(value) in (str, int, float) else None
