"""Streams a growing answer as Markdown, or plain text as it is, into finished and open lines.

Where a block ends depends on the text alone, never on the pieces it came in. A tall block is cut,
so that the work per frame does not grow with the answer.
"""

from __future__ import annotations

import re
from itertools import accumulate, repeat
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, Protocol, TypeVar

from msgspec import Struct
from rich.cells import get_character_cell_size
from rich.console import RenderableType
from rich.segment import Segment
from rich.text import Text

if TYPE_CHECKING:
    from markdown_it.token import Token

LineT = TypeVar("LineT")

# A block is cut after about this many screen lines; one that is hard to continue, later.
TALL: Final = 12
VERY_TALL: Final = 60
# Nobody reads more than this as it comes: the rest is shown as plain text, which is fast.
MOST: Final = 100_000
# Keeps the first word of a continued paragraph from being read as the start of a block. The text
# of agents has none: `terminal_safe` drops it.
JOINER: Final = "\N{WORD JOINER}"
_SLICE: Final = 8192
_BLANK: Final = re.compile(r"(?: *\n)+")
_SPACE: Final = re.compile(r"\s")
_ORDINAL: Final = re.compile(r" {0,3}(\d{1,9})[.)]")
_TABLE_HEAD: Final = 2


class LineRenderer(Protocol[LineT]):
    """Draws rows of the kind that a screen takes: strings with codes, or the strips of an app."""

    @property
    def code_theme(self) -> str:
        """The colours of code, by their name in Pygments."""
        ...

    def rows(self, content: RenderableType, width: int) -> list[list[Segment]]:
        """The content wrapped to the width, as segments."""
        ...

    def divided(self, text: Text, width: int) -> list[Text]:
        """One line of text as several."""
        ...

    def lines(self, content: RenderableType, width: int) -> list[LineT]:
        """The content wrapped to the width, without empty lines around it."""
        ...

    def line(self, text: Text) -> LineT:
        """A text of one line."""
        ...

    def coded(self, row: list[Segment]) -> LineT:
        """The segments of one line."""
        ...

    def styled(self, text: str, style: str) -> LineT:
        """One line in one style."""
        ...


class MarkdownPiece(Struct, frozen=True):
    """A complete block of the answer, or what there is of the last one."""

    kind: str
    source: str
    opener: str = ""
    goes_on: bool = False


class BlockSpan(NamedTuple):
    """The kind of a block, and its start and end in the text."""

    kind: str
    start: int
    end: int


class MarkdownStream(Generic[LineT]):
    """Markdown in, lines out. A new width redraws only the open block."""

    def __init__(self, renderer: LineRenderer[LineT]) -> None:
        self._renderer = renderer
        self._plain = PlainStream[LineT](renderer)
        self._room = MOST
        self._source = ""
        self._opener = ""  # the first line of a block that was cut
        self._carry: Text | None = None  # the last line of a paragraph that continues
        self._before = ""  # the kind of the previous block
        self._ordinal = -1  # the number of the previous item in a numbered list
        self._drawn: tuple[str, int] | None = None
        self._open: list[LineT] = []

    def feed(self, text: str, width: int) -> list[LineT]:
        """Append to the answer; returns the lines that are complete now."""
        room, self._room = self._room, max(0, self._room - len(text))
        lines = self._markdown(text[:room], width)
        if len(text) > room:
            if self._is_open:
                lines += self._draw(self._last_block(), width)
                self._forget()
            lines += self._plain.feed(text[room:], width)
        return lines

    def _markdown(self, text: str, width: int) -> list[LineT]:
        lines: list[LineT] = []
        for at in range(0, len(text), _SLICE):
            self._source += text[at : at + _SLICE]
            while complete := self._complete(width):
                for block in complete:
                    lines += self._draw(block, width)
        return lines

    def end(self, width: int) -> list[LineT]:
        """End the answer, or interrupt it; returns the remaining lines."""
        lines = self._draw(self._last_block(), width) if self._is_open else []
        self._forget()
        self._before, self._room = "", MOST
        return lines + self._plain.end(width)

    def _forget(self) -> None:
        self._source, self._opener, self._carry = "", "", None
        self._drawn, self._open = None, []

    def open_lines(self, width: int) -> list[LineT]:
        """The lines of the open block."""
        if not self._is_open:
            return self._plain.open_lines(width)
        if self._drawn != (self._source, width):
            carry, before, ordinal = self._carry, self._before, self._ordinal
            self._open = self._draw(self._last_block(), width)
            self._carry, self._before, self._ordinal = carry, before, ordinal
            self._drawn = (self._source, width)
        return self._open

    @property
    def _is_open(self) -> bool:
        return bool(self._source.strip()) or self._carry is not None

    def _last_block(self) -> MarkdownPiece:
        return MarkdownPiece(_kind(self._opener + self._source), self._source, self._opener)

    def _complete(self, width: int) -> list[MarkdownPiece]:
        """The blocks that are followed by another, else the upper part of a tall one."""
        if not self._opener and (blank := _BLANK.match(self._source)):
            self._source = self._source[blank.end() :]
        window = self._source[: VERY_TALL * width]
        found = self._found(window[: window.rfind("\n") + 1])
        complete: list[MarkdownPiece] = []
        for kind, start, end in found[:-1]:
            if self._is_tall(start, end, width):
                break
            complete.append(MarkdownPiece(kind, self._source[start:end], self._opener))
            self._opener = ""
        if complete:
            self._source = self._source[sum(len(block.source) for block in complete) :]
            return complete
        end = found[0].end if len(found) > 1 else len(self._source)
        cut = self._cut_block(width, end) if self._is_tall(0, end, width) else None
        if cut is not None:
            return [cut]
        return [self._taken(found[0])] if len(found) > 1 else []

    def _taken(self, first: BlockSpan) -> MarkdownPiece:
        source, self._source = self._source[: first.end], self._source[first.end :]
        opener, self._opener = self._opener, ""
        return MarkdownPiece(first.kind, source, opener)

    def _is_tall(self, start: int, end: int, width: int) -> bool:
        return end - start > TALL * width or self._source.count("\n", start, end) > TALL

    def _found(self, whole: str) -> list[BlockSpan]:
        """The blocks in these lines, without gaps."""
        from avatar_actors.cli.display.markdown import blocks  # noqa: PLC0415 - 60 ms

        tokens = blocks(self._opener + whole)
        skipped = self._opener.count("\n")
        lines = [0, *accumulate(len(line) + 1 for line in whole.split("\n"))]
        starts = [0, *(lines[_line_of(token) - skipped] for token in tokens[1:]), len(whole)]
        return [
            BlockSpan(token.type, start, end)
            for token, start, end in zip(tokens, starts, starts[1:], strict=False)
        ]

    def _cut_block(self, width: int, end: int) -> MarkdownPiece | None:
        """The upper part of a tall block; None if it may still grow."""
        kind = _kind(self._opener + self._source[: min(end, TALL * width)])
        if kind == "fence":
            return self._cut_lines(kind, width, TALL)
        if kind == "paragraph_open":
            return self._cut_paragraph(min(TALL * width, _offset(self._source, TALL)))
        if end > VERY_TALL * width or self._source.count("\n", 0, end) > VERY_TALL:
            return self._cut_lines(kind, width, VERY_TALL)
        return None

    def _cut_lines(self, kind: str, width: int, most: int) -> MarkdownPiece | None:
        """At most this many lines, or the characters that would fill them."""
        at = min(_offset(self._source, most), most * width)
        at = self._source.rfind("\n", 0, at) + 1 or at
        if at >= len(self._source):
            return None
        source, self._source = self._source[:at], self._source[at:]
        block = MarkdownPiece(kind, source, self._opener, goes_on=True)
        self._opener = _opener(kind, self._opener + source)
        return block

    def _cut_paragraph(self, most: int) -> MarkdownPiece:
        at = _between_words(self._source[:most]) or most
        source, self._source = self._source[:at], self._source[at:]
        if self._source.startswith("\n"):
            source, self._source = f"{source}\n", self._source[1:]
        block = MarkdownPiece("paragraph_open", source, self._opener, goes_on=True)
        self._opener = JOINER
        return block

    def _draw(self, block: MarkdownPiece, width: int) -> list[LineT]:
        gap = [self._renderer.coded([])] if self._is_apart(block) else []
        self._before = f"{block.kind} goes on" if block.goes_on else block.kind
        if block.kind != "list_item_open":
            self._ordinal = -1
        if block.kind == "paragraph_open":
            return gap + self._paragraph(block, width)
        if block.kind == "fence":
            return gap + self._fence(block, width)
        return gap + self._other(block, width)

    def _is_apart(self, block: MarkdownPiece) -> bool:
        if not self._before or self._before.endswith("goes on"):
            return False
        return not (self._before == block.kind == "list_item_open")

    def _paragraph(self, block: MarkdownPiece, width: int) -> list[LineT]:
        from avatar_actors.cli.display.markdown import inline  # noqa: PLC0415 - 60 ms

        text = inline(block.opener + block.source, self._renderer.rows)
        if text.plain.startswith(JOINER):
            text = text[len(JOINER) :]
        if self._carry is not None:
            text = Text.assemble(self._carry, text)
            self._carry = None
        lines = self._renderer.divided(text, width)
        if block.goes_on and lines and not block.source.endswith("\n"):
            self._carry = lines.pop()
        return [self._renderer.line(line) for line in lines]

    def _fence(self, block: MarkdownPiece, width: int) -> list[LineT]:
        from avatar_actors.cli.display.markdown import blocks, highlighted  # noqa: PLC0415

        token = blocks(block.opener + block.source)[0]
        language = token.info.split(maxsplit=1)[0] if token.info.strip() else "text"
        code = token.content if block.goes_on else token.content.rstrip("\n")
        shown = highlighted(code.removesuffix("\n"), language, self._renderer.code_theme)
        rows = self._renderer.rows(shown, width)
        return [self._renderer.coded(row) for row in rows]

    def _other(self, block: MarkdownPiece, width: int) -> list[LineT]:
        from avatar_actors.cli.display.markdown import MarkdownBlock  # noqa: PLC0415 - 60 ms

        ordinal = _ORDINAL.match(block.source) if block.kind == "list_item_open" else None
        self._ordinal = (self._ordinal + 1 or int(ordinal[1])) if ordinal else -1
        # A cut paragraph may turn out to be a heading, by the line below it.
        opener = block.opener.removeprefix(JOINER)
        theme = self._renderer.code_theme
        drawn = MarkdownBlock(opener + block.source, self._ordinal, theme)
        return self._renderer.lines(drawn, width)


def _line_of(token: Token) -> int:
    return token.map[0] if token.map else 0


def _kind(source: str) -> str:
    from avatar_actors.cli.display.markdown import blocks  # noqa: PLC0415 - 60 ms

    return next((token.type for token in blocks(source)), "")


def _offset(text: str, line: int) -> int:
    """The offset at which this line starts."""
    at = 0
    for _ in range(line):
        at = text.find("\n", at) + 1
        if not at:
            return len(text)
    return at


def _opener(kind: str, source: str) -> str:
    """What the rest of a cut block must start with to be of the same kind."""
    if kind == "fence":
        return source[: _offset(source, 1)]
    return source[: _offset(source, _TABLE_HEAD)] if kind == "table_open" else ""


def _between_words(text: str) -> int:
    """The last space, preferably one that does not cut `code`, **bold** or a [link]."""
    spaces = [found.start() for found in _SPACE.finditer(text, len(text) // 2)]
    ends = [at for at in spaces if text[at] == "\n"]
    for at in [*reversed(ends), *reversed(spaces)]:
        head = text[:at]
        if not head.count("`") % 2 and not head.count("**") % 2 and _is_level(head):
            return at
    return spaces[-1] if spaces else 0


def _is_level(text: str) -> bool:
    return text.count("[") == text.count("]") and text.count("(") == text.count(")")


class PlainStream(Generic[LineT]):
    """Text in, wrapped lines out; only the last row is open, however long a line grows."""

    def __init__(self, renderer: LineRenderer[LineT], style: str = "", margin: str = "") -> None:
        self._renderer = renderer
        self._style = style
        self._margin = margin
        self._lead = margin
        self._row = ""

    def begin(self, lead: str) -> None:
        """Start the next row with this instead of the margin; both have the same width."""
        self._lead = lead

    def feed(self, text: str, width: int) -> list[LineT]:
        """Append; returns the lines that are complete now."""
        width = max(1, width - len(self._margin))
        *whole, self._row = (self._row + text).split("\n")
        rows: list[str] = []
        for line in whole:
            complete, rest = divided(line, width)
            rows += [*complete, rest]
        complete, self._row = divided(self._row, width)
        lines = self._drawn([*rows, *complete])
        self._lead = self._margin if lines else self._lead
        return lines

    def end(self, width: int) -> list[LineT]:
        """The remaining lines."""
        lines = self.open_lines(width)
        self._row, self._lead = "", self._margin
        return lines

    def open_lines(self, width: int) -> list[LineT]:
        """The open row, or two if the width has changed."""
        if not self._row.strip():
            return []
        complete, rest = divided(self._row, max(1, width - len(self._margin)))
        return self._drawn([*complete, rest])

    def _drawn(self, rows: list[str]) -> list[LineT]:
        margins = [self._lead, *repeat(self._margin, len(rows))]
        return [
            self._renderer.styled(f"{margin}{row}".rstrip(), self._style)
            for margin, row in zip(margins, rows, strict=False)
        ]


def divided(line: str, width: int) -> tuple[list[str], str]:
    """The full rows, which no later text changes, and the last one."""
    rows: list[str] = []
    at = 0
    while (fits := _fitting(line, at, width)) < len(line):
        space = line.rfind(" ", at + 1, fits + 1)
        end = fits if space < 0 or not line[at:space].strip() else space
        rows.append(line[at:end].rstrip())
        at = end + 1 if line[end] == " " else end
    return rows, line[at:]


def _fitting(line: str, at: int, width: int) -> int:
    """The index up to which the line fits into the width."""
    end = min(len(line), at + width)
    if line[at:end].isascii():
        return end
    cells = 0
    for index in range(at, len(line)):
        cells += get_character_cell_size(line[index])
        if cells > width:
            return max(index, at + 1)
    return len(line)
