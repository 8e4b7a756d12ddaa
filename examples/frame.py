"""Puts the chapter, the tree and the log on a screen of any size."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from examples.spans import EMPTY, Line, Span, Style, clipped

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

MOST_LOG_LINES = 7
WIDE = 66


@dataclass(frozen=True)
class Caption:
    """What the viewer is told while a chapter plays."""

    title: str
    text: str


def frame(
    caption: Caption, tree: Sequence[Line], log: Sequence[Line], places: int, size: os.terminal_size
) -> list[Line]:
    """All lines from top to bottom; `places` is how many the tree will have when it is complete."""
    head = [*_heading(caption, size.columns), EMPTY]
    body = [*tree, *[EMPTY] * (places - len(tree))]
    room = size.lines - len(head) - len(body)
    if room < 0:
        head = head[:1]
        body = body[: size.lines - 1]
    tail = _tail(log, min(room, MOST_LOG_LINES + 1))
    return [clipped(line, size.columns) for line in (*head, *body, *tail)]


def _heading(caption: Caption, columns: int) -> list[Line]:
    rows = 2 if columns >= WIDE else 4
    wrapped = textwrap.wrap(caption.text, max(10, columns - 1))[:rows]
    title = (Span(caption.title, Style.BOLD),)
    text: list[Line] = [(Span(row),) for row in wrapped]
    return [title, *text, *[EMPTY] * (rows - len(wrapped))]


def _tail(log: Sequence[Line], rows: int) -> list[Line]:
    if rows < 2:
        return []
    last = list(log)[-(rows - 1) :]
    return [EMPTY, *last, *[EMPTY] * (rows - 1 - len(last))]
