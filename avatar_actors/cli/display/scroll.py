"""The finished output above the frame: answer, thoughts, boxes and lines, in order of arrival."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from rich.cells import set_cell_size
from rich.text import Text

from avatar_actors.cli.display.markdown_stream import MarkdownStream, PlainStream
from avatar_actors.cli.terminal.rendering import Renderer, Style

_INDENT: Final = 2
_MARGIN: Final = "   "


class Scroll:
    """Queues output until the width is known, then draws it in order."""

    def __init__(self, style: Style) -> None:
        self.renderer: Final = Renderer(style)
        self._sign = set_cell_size(style.signs.thought, len(_MARGIN))
        self._waiting: list[Callable[[int], None]] = []
        self._said: list[str] = []
        self._answer = MarkdownStream[str](self.renderer)
        self._thought = PlainStream[str](self.renderer, "thought", _MARGIN)
        self._block: str | None = None
        self._lines: list[str] = []
        self._last = ""  # the kind of the last line: boxes and texts have an empty line around them

    def say(self, text: str) -> None:
        """Append to the answer."""
        self._said.append(text)

    def think(self, text: str, block_id: str) -> None:
        """Append to a thought."""
        self._later(partial(self._draw_thought, text, block_id))

    def add(self, rows: Sequence[Text]) -> None:
        """Single lines; the answer continues below them."""
        if rows:
            self._later(partial(self._draw_lines, rows))

    def add_box(self, rows: Sequence[Text]) -> None:
        """Lines with space around them."""
        if rows:
            self._later(partial(self._draw_box, rows))

    def close(self) -> None:
        """End the open answer or thought: what follows starts a new block."""
        self._later(self._close)

    def take(self, width: int) -> list[str]:
        """The complete lines; each is returned once."""
        self._settle(width)
        lines, self._lines = self._lines, []
        return [row for line in lines for row in self.renderer.fitted(line, width)]

    def open_lines(self, width: int) -> list[str]:
        """The lines of the open block, which may still change."""
        self._settle(width)
        if thought := self._thought.open_lines(width):
            return self._apart("thought", thought)
        return self._apart("text", self._answer.open_lines(width))

    def _later(self, draw: Callable[[int], None]) -> None:
        """Draw this, after what was said, once the width is known."""
        said, self._said = "".join(self._said), []
        if said:
            self._waiting.append(partial(self._draw_answer, said))
        self._waiting.append(draw)

    def _settle(self, width: int) -> None:
        self._later(lambda _: None)
        waiting, self._waiting = self._waiting, []
        for draw in waiting:
            draw(width)

    def _draw_answer(self, text: str, width: int) -> None:
        self._close_thought(width)
        self._put("text", self._answer.feed(text, width))

    def _draw_thought(self, text: str, block_id: str, width: int) -> None:
        if block_id != self._block:
            self._close(width)
            self._block = block_id
            self._thought.begin(self._sign)
        self._put("thought", self._thought.feed(text, width))

    def _draw_box(self, rows: Sequence[Text], width: int) -> None:
        self._close(width)
        self._put("box", [self.renderer.cut(row, width) for row in rows])

    def _draw_lines(self, rows: Sequence[Text], width: int) -> None:
        wrapped = (self.renderer.wrapped(row, width, _INDENT) for row in rows)
        self._put("line", [line for each in wrapped for line in each])

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
        """The lines, after an empty one if another kind stands above."""
        return ["", *lines] if lines and self._last not in {"", kind} else list(lines)
