"""Lines of the REPL's own, made to fit the screen: by words where that can be, by cells at last."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len, chop_cells

# What does not fit goes on this much further to the right.
_INDENT = 2
# On a narrower screen there is no room for that.
_NARROW = 20


def fitted(line: str, width: int) -> list[str]:
    """The line as several, none wider than `width` cells; its indentation and columns stay."""
    if cell_len(line) <= width:
        return [line]
    margin = " " * (_margin(line) if width > _NARROW else 0)
    return list(_wrapped(line, max(1, width), margin))


def cut(line: str, width: int) -> str:
    """The line's beginning, and a sign where something is missing."""
    if cell_len(line) <= width:
        return line
    return chop_cells(line, max(1, width - 1))[0] + "…"


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip()) + _INDENT


def _wrapped(line: str, width: int, margin: str) -> Iterator[str]:
    while cell_len(line) > width:
        head = chop_cells(line, width)[0]
        end = len(head) if line[len(head)] == " " else head.rfind(" ")
        # Not right behind the indentation, or behind the prompt's sign.
        if end > len(margin):
            head = head[:end]
        yield head.rstrip()
        line = margin + line[len(head) :].lstrip()
    yield line
