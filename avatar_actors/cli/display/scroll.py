"""What goes up and stays: the answer, thoughts, boxes and lines, in the order they came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from rich.cells import set_cell_size
from rich.text import Text

from avatar_actors.cli.display.markdown_stream import MarkdownStream
from avatar_actors.cli.display.plain_stream import PlainStream
from avatar_actors.cli.display.rendering import Renderer
from avatar_actors.cli.display.style import Style

_INDENT: Final = 2
_MARGIN: Final = "   "


class Said(Struct, frozen=True):
    """A piece of the answer."""

    text: str


class Thought(Struct, frozen=True):
    """A piece of a thought."""

    text: str
    block_id: str


class Rows(Struct, frozen=True):
    """Lines that belong together; a box has space around it."""

    rows: tuple[Text, ...]
    is_box: bool


class Closed(Struct, frozen=True):
    """What was open is complete."""


class Scroll:
    """Waits with drawing until the width is known, and keeps the order all the same."""

    def __init__(self, style: Style) -> None:
        self.ink: Final = Renderer(style)
        self._sign = set_cell_size(style.signs.thought, len(_MARGIN))
        self._waiting: list[Said | Thought | Rows | Closed] = []
        self._answer = MarkdownStream(self.ink)
        self._thought = PlainStream(self.ink, "thought", _MARGIN)
        self._block: str | None = None
        self._lines: list[str] = []
        self._last = ""  # what the last line belongs to: boxes and texts have space around them

    def say(self, text: str) -> None:
        """More of the answer."""
        self._waiting.append(Said(text))

    def think(self, text: str, block_id: str) -> None:
        """More of a thought."""
        self._waiting.append(Thought(text, block_id))

    def add(self, rows: Sequence[Text]) -> None:
        """Lines; the answer goes on below them."""
        if rows:
            self._waiting.append(Rows(tuple(rows), is_box=False))

    def add_box(self, rows: Sequence[Text]) -> None:
        """Lines with space around them."""
        if rows:
            self._waiting.append(Rows(tuple(rows), is_box=True))

    def close(self) -> None:
        """What follows is no continuation of what was said or thought."""
        self._waiting.append(Closed())

    def take(self, width: int) -> list[str]:
        """All that is complete, once."""
        self._settle(width)
        lines, self._lines = self._lines, []
        return [row for line in lines for row in self.ink.fitted(line, width)]

    def open_lines(self, width: int) -> list[str]:
        """What is still open: it may change."""
        self._settle(width)
        if thought := self._thought.open_lines(width):
            return self._apart("thought", thought)
        return self._apart("text", self._answer.open_lines(width))

    def _settle(self, width: int) -> None:
        waiting, self._waiting = self._waiting, []
        said: list[str] = []
        for item in [*waiting, None]:
            if isinstance(item, Said):
                said.append(item.text)
                continue
            if said:
                self._close_thought(width)
                self._put("text", self._answer.feed("".join(said), width))
                said = []
            self._settle_one(item, width)

    def _settle_one(self, item: Thought | Rows | Closed | None, width: int) -> None:
        match item:
            case Thought(text=text, block_id=block_id):
                if block_id != self._block:
                    self._close(width)
                    self._block = block_id
                    self._thought.begin(self._sign)
                self._put("thought", self._thought.feed(text, width))
            case Rows(rows=rows, is_box=True):
                self._close(width)
                self._put("box", [self.ink.cut(row, width) for row in rows])
            case Rows(rows=rows):
                lines = [line for row in rows for line in self.ink.wrapped(row, width, _INDENT)]
                self._put("line", lines)
            case Closed():
                self._close(width)
            case None:
                pass

    def _close_thought(self, width: int) -> None:
        self._put("thought", self._thought.end(width))
        self._block = None

    def _close(self, width: int) -> None:
        self._close_thought(width)
        self._put("text", self._answer.end(width))

    def _put(self, kind: str, lines: Sequence[str]) -> None:
        if lines:
            self._lines += self._apart(kind, lines)
            self._last = kind

    def _apart(self, kind: str, lines: Sequence[str]) -> list[str]:
        """With an empty line before it, where something else stands above."""
        return ["", *lines] if lines and self._last not in {"", kind} else list(lines)
