"""An answer as it grows: blocks of Markdown that are complete never change, one is open.

Where a block ends depends on the text alone, never on the pieces it came in; and no block is open
for long: a tall one is cut, so that the work per frame does not grow with the answer.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct
from rich.text import Text

from avatar_actors.cli.display.plain_stream import PlainStream
from avatar_actors.cli.display.rendering import Renderer

if TYPE_CHECKING:
    from markdown_it.token import Token

# A block is cut after about so many lines of the screen; what cannot go on well, later.
TALL: Final = 12
VERY_TALL: Final = 60
# What goes beyond is nothing that a person reads as it comes: it is shown as it is, and fast.
MOST: Final = 100_000
# Keeps the first word of a paragraph that goes on from being read as the start of a block.
JOINER: Final = "\N{WORD JOINER}"
_SLICE: Final = 8192
_BLANK: Final = re.compile(r"(?: *\n)+")
_SPACE: Final = re.compile(r"\s")
_ORDINAL: Final = re.compile(r" {0,3}(\d{1,9})[.)]")
_TABLE_HEAD: Final = 2


class MarkdownPiece(Struct, frozen=True):
    """A piece of the answer that is complete, or all that there is of the last one."""

    kind: str
    source: str
    opener: str = ""
    goes_on: bool = False


class BlockSpan(NamedTuple):
    """A block in the text that came: its kind, and from where to where."""

    kind: str
    start: int
    end: int


class MarkdownStream:
    """Text in, lines out. Every call names the width; a change of it harms only the open block."""

    def __init__(self, ink: Renderer) -> None:
        self._ink = ink
        self._plain = PlainStream(ink)
        self._room = MOST
        self._source = ""
        self._opener = ""  # what the open block began with, if its beginning is gone
        self._carry: Text | None = None  # the last line of a paragraph that goes on
        self._before = ""  # the kind of the block before
        self._ordinal = -1  # the number of the item before, in a list with numbers
        self._drawn: tuple[str, int] | None = None
        self._open: list[str] = []

    def feed(self, text: str, width: int) -> list[str]:
        """More of the answer; the lines that are complete now."""
        room, self._room = self._room, max(0, self._room - len(text))
        lines = self._markdown(text[:room], width)
        if len(text) > room:
            if self._is_open:
                lines += self._draw(self._last_block(), width)
                self._forget()
            lines += self._plain.feed(text[room:], width)
        return lines

    def _markdown(self, text: str, width: int) -> list[str]:
        lines: list[str] = []
        for at in range(0, len(text), _SLICE):
            self._source += text[at : at + _SLICE]
            while complete := self._complete(width):
                for block in complete:
                    lines += self._draw(block, width)
        return lines

    def end(self, width: int) -> list[str]:
        """The answer is over, or something else comes in between: the rest."""
        lines = self._draw(self._last_block(), width) if self._is_open else []
        self._forget()
        self._before, self._room = "", MOST
        return lines + self._plain.end(width)

    def _forget(self) -> None:
        self._source, self._opener, self._carry = "", "", None
        self._drawn, self._open = None, []

    def open_lines(self, width: int) -> list[str]:
        """The open block as it is now."""
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
        """Blocks that others follow, else the upper part of a tall one."""
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
        """The blocks in these lines, one after the other without a gap."""
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
        """The upper part of a tall block; None: it may grow on."""
        kind = _kind(self._opener + self._source[: min(end, TALL * width)])
        if kind == "fence":
            return self._cut_lines(kind, width, TALL)
        if kind == "paragraph_open":
            return self._cut_paragraph(min(TALL * width, _offset(self._source, TALL)))
        if end > VERY_TALL * width or self._source.count("\n", 0, end) > VERY_TALL:
            return self._cut_lines(kind, width, VERY_TALL)
        return None

    def _cut_lines(self, kind: str, width: int, most: int) -> MarkdownPiece | None:
        """So many lines, or what has as many characters as they could hold."""
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

    def _draw(self, block: MarkdownPiece, width: int) -> list[str]:
        gap = [""] if self._is_apart(block) else []
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

    def _paragraph(self, block: MarkdownPiece, width: int) -> list[str]:
        from avatar_actors.cli.display.markdown import inline  # noqa: PLC0415 - 60 ms

        text = inline(block.opener + block.source, self._ink)
        if text.plain.startswith(JOINER):
            text = text[len(JOINER) :]
        if self._carry is not None:
            text = Text.assemble(self._carry, text)
            self._carry = None
        lines = self._ink.divided(text, width)
        if block.goes_on and lines and not block.source.endswith("\n"):
            self._carry = lines.pop()
        return [self._ink.line(line) for line in lines]

    def _fence(self, block: MarkdownPiece, width: int) -> list[str]:
        from avatar_actors.cli.display.markdown import blocks, highlighted  # noqa: PLC0415

        token = blocks(block.opener + block.source)[0]
        language = token.info.split(maxsplit=1)[0] if token.info.strip() else "text"
        code = token.content if block.goes_on else token.content.rstrip("\n")
        rows = self._ink.rows(highlighted(code.removesuffix("\n"), language), width)
        return [self._ink.coded(row) for row in rows]

    def _other(self, block: MarkdownPiece, width: int) -> list[str]:
        from avatar_actors.cli.display.markdown import MarkdownBlock  # noqa: PLC0415 - 60 ms

        ordinal = _ORDINAL.match(block.source) if block.kind == "list_item_open" else None
        self._ordinal = (self._ordinal + 1 or int(ordinal[1])) if ordinal else -1
        # A paragraph that was cut may turn out to be a heading, by a line below it.
        opener = block.opener.removeprefix(JOINER)
        return self._ink.lines(MarkdownBlock(opener + block.source, self._ordinal), width)


def _line_of(token: Token) -> int:
    return token.map[0] if token.map else 0


def _kind(source: str) -> str:
    from avatar_actors.cli.display.markdown import blocks  # noqa: PLC0415 - 60 ms

    return next((token.type for token in blocks(source)), "")


def _offset(text: str, line: int) -> int:
    """Where this line begins."""
    at = 0
    for _ in range(line):
        at = text.find("\n", at) + 1
        if not at:
            return len(text)
    return at


def _opener(kind: str, source: str) -> str:
    """What the rest of a cut block must begin with to be of the same kind."""
    if kind == "fence":
        return source[: _offset(source, 1)]
    return source[: _offset(source, _TABLE_HEAD)] if kind == "table_open" else ""


def _between_words(text: str) -> int:
    """The last place between two words, best one that cuts no `code`, **bold** or [link]."""
    spaces = [found.start() for found in _SPACE.finditer(text, len(text) // 2)]
    ends = [at for at in spaces if text[at] == "\n"]
    for at in [*reversed(ends), *reversed(spaces)]:
        head = text[:at]
        if not head.count("`") % 2 and not head.count("**") % 2 and _is_level(head):
            return at
    return spaces[-1] if spaces else 0


def _is_level(text: str) -> bool:
    return text.count("[") == text.count("]") and text.count("(") == text.count(")")
