"""Renders styled text as terminal lines, cut or wrapped by cell width; others choose the text."""

from __future__ import annotations

import io
from typing import Final

from msgspec import Struct
from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.text import Text
from rich.theme import Theme

from avatar_actors.cli.terminal.painter import SGR


class Style(Struct, frozen=True, kw_only=True):
    """What the terminal can show and what the user asked to see."""

    show_thinking: bool = False
    verbose: int = 0
    """1 adds what happens behind the answer, 2 every event."""
    colour: bool = True
    unicode: bool = True
    """Without it, boxes and icons are ASCII."""

    @property
    def signs(self) -> Signs:
        """The icons and lines that the terminal can show."""
        return UNICODE if self.unicode else ASCII


class Signs(Struct, frozen=True, kw_only=True):
    """Icons, the spinner's characters, and those of boxes and bars; by default in Unicode."""

    ok: str = "✓"
    failed: str = "✗"
    cancelled: str = "⊘"
    waiting: str = "⏳"
    unknown: str = "?"
    warning: str = "⚠"
    again: str = "↻"
    thought: str = "💭"
    todo: str = "☐"
    doing: str = "▸"
    spinner: str = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
    top: str = "┌"
    side: str = "│"
    bottom: str = "└"
    line: str = "─"
    full: str = "█"
    empty: str = "░"
    dot: str = "·"
    arrow: str = "→"


UNICODE: Final = Signs()
ASCII: Final = Signs(
    ok="+", failed="x", cancelled="/", waiting="~", warning="!", again="@", thought="*", todo="-",
    doing=">", spinner="|/-\\", top="+", side="|", bottom="+", line="-", full="#", empty=".",
    dot="-", arrow="->",
)  # fmt: skip


_THEME: Final = Theme(
    {
        "border": "dim",
        # Shortened first when a line is too long: see `cut`.
        "label": "none",
        "label.busy": "bold",
        "ok": "green",
        "failed": "red",
        "warning": "yellow",
        "spinner": "cyan",
        "thought": "dim italic",
        "added": "green",
        "removed": "red",
        "place": "cyan",
        "key": "bold",
        "markdown.code": "cyan",
        "markdown.code_block": "none",
        "markdown.item.bullet": "cyan",
        "markdown.item.number": "cyan",
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.link": "cyan",
        "markdown.link_url": "dim",
        "markdown.block_quote": "dim",
        "markdown.table.border": "dim",
        "markdown.table.header": "bold",
    }
)
# The characters that rich draws with, for terminals that know only ASCII.
_PLAIN: Final = str.maketrans("•▌─━│┃┌┐└┘├┤┬┴┼…╺╸", "*|--||++++|||++.--")

# The terminal's own colours, which are readable on any background.
CODE_THEME: Final = "ansi_dark"

# A label with fewer cells than this is not recognisable.
_KNOWN_BY: Final = 12


class Renderer:
    """Renders to strings with the terminal's colours and signs; it writes nowhere."""

    def __init__(self, style: Style) -> None:
        self.code_theme = CODE_THEME
        self._is_plain = not style.unicode
        self._console = Console(
            file=io.StringIO(),
            force_terminal=True,
            color_system="standard" if style.colour else None,
            no_color=not style.colour,
            legacy_windows=False,
            theme=_THEME,
            highlight=False,
            emoji=False,
            markup=False,
            width=80,
            height=24,
        )

    def lines(self, content: RenderableType, width: int) -> list[str]:
        """The content wrapped to the width, without empty lines around it."""
        lines = [self.coded(row) for row in self.rows(content, width)]
        while lines and not lines[-1]:
            lines.pop()
        while lines and not lines[0]:
            lines.pop(0)
        return lines

    def rows(self, content: RenderableType, width: int) -> list[list[Segment]]:
        """The same as segments, empty lines included."""
        options = self._console.options.update(width=max(1, width), height=None)
        return self._console.render_lines(content, options, pad=False)

    def wrapped(self, text: Text, width: int, indent: int = 0) -> list[str]:
        """Text of any number of lines; what does not fit continues below, indented."""
        lines: list[str] = []
        for line in text.split("\n", allow_blank=True):
            own = len(line.plain) - len(line.plain.lstrip(" "))
            margin = " " * min(own + indent, width // 3)
            first = next(iter(self.divided(line, width)), line)
            lines.append(self.line(first))
            rest = line[len(first.plain) :]
            rest = rest[len(rest.plain) - len(rest.plain.lstrip(" ")) :]
            if rest.plain:
                below = self.divided(rest, width - len(margin))
                lines += [margin + self.line(row) for row in below]
        return lines

    def divided(self, text: Text, width: int) -> list[Text]:
        """One line of text as several, split at spaces where possible."""
        return [*text.wrap(self._console, max(1, width), justify="default", overflow="fold")]

    def cut(self, text: Text, width: int) -> str:
        """One line; what does not fit is cut with an ellipsis, from its label first."""
        if (excess := cell_len(text.plain) - width) > 0:
            text = _with_shorter_label(text, excess)
            text.truncate(width, overflow=text.overflow or "ellipsis")
        return self.line(text)

    def line(self, text: Text) -> str:
        """A text of one line, with its codes."""
        return self.coded(segments_of(text, self._console))

    def styled(self, text: str, style: str) -> str:
        """One line in one style; the **heading** of a thought is bold."""
        line = Text(text, style)
        if style == "thought":
            line = Text("", style)
            for number, part in enumerate(text.split("**")):
                line.append(part, "bold" if number % 2 else "")
        return self.line(line)

    def fitted(self, line: str, width: int) -> list[str]:
        """A line that was rendered for another width, as one or several."""
        if cell_len(SGR.sub("", line)) <= width:
            return [line]
        return [self.line(row) for row in self.divided(Text.from_ansi(line), width)]

    def coded(self, row: list[Segment]) -> str:
        """The segments of one line, with their codes."""
        system = ColorSystem.STANDARD if self._console.color_system else None
        coded = [
            segment.style.render(segment.text, color_system=system)
            if segment.style is not None
            else segment.text
            for segment in _without_trailing_space(row)
        ]
        line = "".join(coded)
        return line.translate(_PLAIN) if self._is_plain else line


def segments_of(text: Text, console: Console) -> list[Segment]:
    """The text in its styles. rich 15 leaves out the style of a text that has no spans."""
    if text.spans or not text.plain:
        return list(text.render(console))
    return [Segment(text.plain, console.get_style(text.style, default="none"))]


def _with_shorter_label(text: Text, excess: int) -> Text:
    """A copy whose label is shorter by `excess` cells, if it stays recognisable."""
    for span in text.spans:
        if str(span.style).startswith("label"):
            label = text[span.start : span.end]
            room = cell_len(label.plain) - excess
            if room >= _KNOWN_BY:
                label.truncate(room, overflow="ellipsis")
                return Text.assemble(text[: span.start], label, text[span.end :])
    return text.copy()


def _without_trailing_space(row: list[Segment]) -> list[Segment]:
    row = [segment for segment in row if segment.text and not segment.control]
    while row and not row[-1].text.rstrip():
        row.pop()
    if row:
        text, style, _ = row[-1]
        row[-1] = Segment(text.rstrip(), style)
    return row
