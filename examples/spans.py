"""Coloured text as data, so that it is measured and cut before any escape code is in it."""

from __future__ import annotations

import unicodedata
from enum import Enum
from typing import NamedTuple, TypeAlias


class Style(Enum):
    """What a colour says; the value is its number in the terminal's language."""

    PLAIN = ""
    BOLD = "1"
    DIM = "2"
    GOOD = "32"
    BUSY = "33"
    WAITING = "35"
    BAD = "1;31"
    FACT = "36"


class Span(NamedTuple):
    text: str
    style: Style = Style.PLAIN


Line: TypeAlias = tuple[Span, ...]

EMPTY: Line = ()


def columns(text: str) -> int:
    """How many cells of a terminal the text takes."""
    return sum(_columns_of(char) for char in text)


def line_columns(line: Line) -> int:
    return sum(columns(span.text) for span in line)


def padded(text: str, width: int) -> str:
    return text + " " * (width - columns(text))


def clipped(line: Line, width: int) -> Line:
    """The line, cut with an ellipsis if it is wider than that."""
    if line_columns(line) <= width:
        return line
    kept: list[Span] = []
    room = max(0, width - 1)
    for span in line:
        text = head(span.text, room)
        kept.append(Span(text, span.style))
        room -= columns(text)
        if text != span.text:
            break
    return (*kept, Span("…"[:width], Style.DIM))


def without_colours(line: Line) -> str:
    return "".join(span.text for span in line)


def with_colours(line: Line) -> str:
    return "".join(
        f"\x1b[{span.style.value}m{span.text}\x1b[0m" if span.style.value else span.text
        for span in line
    )


def writable(text: str, encoding: str) -> str:
    """The text with a question mark for each sign that the encoding lacks."""
    return text.encode(encoding, "replace").decode(encoding)


def head(text: str, room: int) -> str:
    """As much of the beginning as fits."""
    for end, char in enumerate(text):
        room -= _columns_of(char)
        if room < 0:
            return text[:end]
    return text


def _columns_of(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
