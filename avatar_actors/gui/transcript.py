"""What was said, as rows of strips: sealed once, re-wrapped when the width changes; no widget."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec import Struct, field
from rich.text import Text
from textual.strip import Strip

from avatar_actors.cli.display.markdown_stream import MarkdownStream
from avatar_actors.gui.strips import StripRenderer

GUTTER: Final = 2
# Kinds whose lines are cut, not wrapped.
_CUT: Final = frozenset({"box", "plan"})
# Characters that are drawn before the time is looked at.
_SLICE: Final = 16_384


class TalkRow(NamedTuple):
    """A line of the screen, and the kind of what it belongs to."""

    kind: str
    strip: Strip
    is_first: bool = False


class TalkEntry(Struct):
    """One thing in the order of the talk: a prompt, an answer, or lines."""

    kind: str
    said: str = ""
    rows: Sequence[Text] = field(default_factory=list[Text])
    is_closed: bool = True

    @property
    def source(self) -> str:
        """As it can be copied."""
        return self.said or "\n".join(row.plain for row in self.rows)


class TalkTranscript:
    """Prompts, answers and notes. Text is drawn by `settle`, in slices of the time it is given."""

    def __init__(self, renderer: StripRenderer) -> None:
        self.entries: list[TalkEntry] = []
        self.rows: list[TalkRow] = []
        self.starts: list[int] = []
        self._renderer = renderer
        self._waiting: list[str] = []
        self._restart(0)

    def _restart(self, width: int) -> None:
        self.rows, self.starts = [], []
        self._width, self._at, self._drawn_to = width, 0, 0
        self._stream = MarkdownStream[Strip](self._renderer)

    def redraw(self, renderer: StripRenderer) -> None:
        """Draw all of it anew, in other colours."""
        self._renderer = renderer
        self._restart(0)

    def clear(self) -> None:
        """Forget all."""
        self.entries, self._waiting = [], []
        self._restart(self._width)

    # What comes.

    def say(self, text: str) -> None:
        """Append to the answer."""
        self._waiting.append(text)

    def close(self) -> None:
        """The answer is over, or something stands below it."""
        self._join()
        if self.entries:
            self.entries[-1].is_closed = True

    def quote(self, prompt: str) -> None:
        """A prompt of the person."""
        self.close()
        self.entries.append(TalkEntry("quote", prompt))

    def add(self, rows: Sequence[Text], kind: str = "note") -> None:
        """LinePane as they are, wrapped."""
        if rows:
            self.close()
            self.entries.append(TalkEntry(kind, rows=list(rows)))

    def _join(self) -> None:
        if not self._waiting:
            return
        said, self._waiting = "".join(self._waiting), []
        last = self.entries[-1] if self.entries else None
        if last is None or last.is_closed:
            last = TalkEntry("answer", is_closed=False)
            self.entries.append(last)
        last.said += said

    # What is seen.

    @property
    def is_open(self) -> bool:
        """Whether an answer still grows."""
        return bool(self.entries) and not self.entries[-1].is_closed

    def settle(self, width: int, seconds: float) -> None:
        """Draw what is not drawn yet, for at most about this long."""
        self._join()
        width = max(8, width - GUTTER)
        if width != self._width:
            self._restart(width)
        until = time.perf_counter() + seconds
        while self._at < len(self.entries) and self._draw(self.entries[self._at]):
            if time.perf_counter() > until:
                break

    def open_rows(self) -> list[TalkRow]:
        """The rows of the open block, which may still change."""
        if not self.is_open or self._at < len(self.entries) - 1:
            return []
        is_first = self._starts_here()
        lines = self._stream.open_lines(self._width)
        return [TalkRow("answer", line, is_first and not y) for y, line in enumerate(lines)]

    @property
    def is_behind(self) -> bool:
        """Whether not all that was said is drawn."""
        left = len(self.entries) - self._at
        return left > 1 or (left == 1 and self._drawn_to < len(self.entries[-1].said))

    def _draw(self, entry: TalkEntry) -> bool:
        """A slice of the entry; False: there is nothing more to draw now."""
        if len(self.starts) == self._at:
            self._begin(entry)
        if entry.kind != "answer":
            self._put(entry.kind, self._lines(entry))
            self._next()
            return True
        text = entry.said[self._drawn_to : self._drawn_to + _SLICE]
        self._put("answer", self._stream.feed(text, self._width))
        self._drawn_to += len(text)
        if self._drawn_to < len(entry.said):
            return True
        if not entry.is_closed:
            return False
        self._put("answer", self._stream.end(self._width))
        self._next()
        return True

    def _begin(self, entry: TalkEntry) -> None:
        before = self.entries[self._at - 1].kind if self._at else ""
        if before and not before == entry.kind == "note":
            self.rows.append(TalkRow("", Strip([])))
        self.starts.append(len(self.rows))

    def _next(self) -> None:
        self._at, self._drawn_to = self._at + 1, 0
        self._stream = MarkdownStream[Strip](self._renderer)

    def _lines(self, entry: TalkEntry) -> list[Strip]:
        if entry.kind in _CUT:
            return [self._renderer.line(_cut(row, self._width)) for row in entry.rows]
        rows = [Text(entry.said, "quote")] if entry.kind == "quote" else entry.rows
        return [line for row in rows for line in self._renderer.wrapped(row, self._width)]

    def _put(self, kind: str, lines: Sequence[Strip]) -> None:
        is_first = self._starts_here()
        self.rows += [TalkRow(kind, line, is_first and not y) for y, line in enumerate(lines)]

    def _starts_here(self) -> bool:
        return bool(self.starts) and self.starts[-1] == len(self.rows)


def _cut(row: Text, width: int) -> Text:
    cut = row.copy()
    cut.truncate(width, overflow=row.overflow or "ellipsis")
    return cut
