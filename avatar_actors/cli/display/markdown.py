"""Draws Markdown with rich: plain headings, code that can be copied, HTML shown as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final, TypeAlias

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.segment import Segment
from rich.syntax import Syntax
from rich.text import Text

from avatar_actors.cli.terminal.rendering import CODE_THEME

# Without HTML, what looks like a tag is text and is shown.
PARSER: Final = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
INDENT: Final = 2
# Renders at a width, into the segments of each row.
Rows: TypeAlias = Callable[[RenderableType, int], list[list[Segment]]]


class _Code(CodeBlock):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield highlighted(str(self.text).rstrip(), self.lexer_name, str(self.theme))


class _Heading(Heading):
    LEVEL_ALIGN: ClassVar = {}


class MarkdownBlock(Markdown):
    """One block of an answer; `ordinal` is the number of the first item of a numbered list."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
    }

    def __init__(self, source: str, ordinal: int = -1, code_theme: str = CODE_THEME) -> None:
        # rich's own `__init__` builds a parser each time, which takes a millisecond per block.
        self.markup, self.parsed = source, PARSER.parse(source)
        self.code_theme = self.inline_code_theme = code_theme
        self.justify, self.style = None, "none"
        self.hyperlinks, self.inline_code_lexer = False, None
        for token in self.parsed:
            # As in a chat, a line break is a line break.
            for child in token.children or ():
                child.type = "hardbreak" if child.type == "softbreak" else child.type
        if ordinal >= 0 and self.parsed and self.parsed[0].type == "ordered_list_open":
            self.parsed[0].attrs["start"] = ordinal


def highlighted(code: str, language: str, theme: str) -> Padding:
    """Code, set off by its indent alone, so that it can be copied."""
    syntax = Syntax(
        code, language, theme=theme, word_wrap=True, background_color="default", tab_size=4
    )
    return Padding(syntax, (0, 0, 0, INDENT))


def blocks(source: str) -> list[Token]:
    """The opening token of each top-level block; for a list, of each item."""
    return [token for token in PARSER.parse(source) if _opens_block(token)]


def _opens_block(token: Token) -> bool:
    if token.nesting < 0 or token.map is None:
        return False
    if token.level == 0:
        return not token.type.endswith("_list_open")
    return token.level == 1 and token.type == "list_item_open"


def inline(source: str, rows_of: Rows) -> Text:
    """A paragraph as one text, not wrapped yet."""
    rows = rows_of(MarkdownBlock(source), 4 * len(source) + 40)
    lines = [
        Text.assemble(*((segment.text, segment.style or "") for segment in row)) for row in rows
    ]
    for line in lines:
        line.rstrip()
    while lines and not lines[-1].plain:
        lines.pop()
    return Text("\n").join(lines)
