"""From rich text to the strips that Textual paints: colours of the theme, and a pane of lines."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Final

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style as RichStyle
from rich.text import Text
from rich.theme import Theme
from textual.color import Color
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from avatar_actors.cli.terminal.rendering import segments_of

AGENT_COLOURS: Final = ("accent", "secondary", "success", "warning", "primary", "error")
_LIGHT, _DARK = "friendly", "monokai"


class Look:
    """A theme's colours under the names that the command line's drawing uses, on one console."""

    def __init__(self, variables: Mapping[str, str], *, is_dark: bool) -> None:
        self._colours = {
            name: Color.parse(variables[name])
            for name in (*AGENT_COLOURS, "foreground", "background", "surface")
        }
        self.code_theme = _DARK if is_dark else _LIGHT
        self.console = Console(
            file=io.StringIO(),
            force_terminal=True,
            color_system="truecolor",
            legacy_windows=False,
            theme=Theme(self._styles(), inherit=True),
            highlight=False,
            emoji=False,
            markup=False,
            width=80,
            height=24,
        )

    def colour(self, name: str, strength: float = 1.0) -> str:
        """A colour of the theme, blended into the background where it is not at full strength."""
        colour = self._colours[name]
        return self._colours["background"].blend(colour, strength).hex6

    def style(self, name: str) -> RichStyle:
        """The style of this name."""
        return self.console.get_style(name)

    def strip(self, text: Text) -> Strip:
        """One line of text."""
        return Strip(segments_of(text, self.console))

    def _styles(self) -> dict[str, str]:
        muted = self.colour("foreground", 0.55)
        plain = {
            "muted": muted,
            "border": self.colour("foreground", 0.4),
            "label": "none",
            "label.busy": "bold",
            "title": f"bold {self.colour('primary')}",
            "ok": self.colour("success"),
            "failed": self.colour("error"),
            "warning": self.colour("warning"),
            "alarm": f"bold {self.colour('error')}",
            "spinner": self.colour("primary"),
            "thought": f"italic {muted}",
            "added": self.colour("success"),
            "removed": self.colour("error"),
            "place": self.colour("accent"),
            "key": f"bold {self.colour('accent')}",
            "quote": "bold",
            "gutter": self.colour("primary"),
        }
        agents = {f"agent{n}": self.colour(name) for n, name in enumerate(AGENT_COLOURS, 1)}
        return {**plain, **agents, **self._markdown(muted)}

    def _markdown(self, muted: str) -> dict[str, str]:
        accent = self.colour("accent")
        return {
            "markdown.code": accent,
            "markdown.code_block": "none",
            "markdown.item.bullet": self.colour("primary"),
            "markdown.item.number": self.colour("primary"),
            "markdown.h1": f"bold underline {self.colour('primary')}",
            "markdown.h2": f"bold {self.colour('primary')}",
            "markdown.h3": "bold",
            "markdown.link": accent,
            "markdown.link_url": muted,
            "markdown.block_quote": muted,
            "markdown.table.border": muted,
            "markdown.table.header": "bold",
        }


class StripRenderer:
    """Renders Markdown and lines to strips, as `Renderer` does to strings."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._console = look.console
        self.code_theme = look.code_theme

    def rows(self, content: RenderableType, width: int) -> list[list[Segment]]:
        """The content wrapped to the width, as segments."""
        options = self._console.options.update(width=max(1, width), height=None)
        return self._console.render_lines(content, options, pad=False)

    def divided(self, text: Text, width: int) -> list[Text]:
        """One line of text as several, split at spaces where possible."""
        return [*text.wrap(self._console, max(1, width), justify="default", overflow="fold")]

    def lines(self, content: RenderableType, width: int) -> list[Strip]:
        """The content without empty lines around it."""
        found = [self.coded(row) for row in self.rows(content, width)]
        while found and not found[-1].text:
            found.pop()
        while found and not found[0].text:
            found.pop(0)
        return found

    def line(self, text: Text) -> Strip:
        """A text of one line."""
        return self.coded(segments_of(text, self._console))

    def coded(self, row: list[Segment]) -> Strip:
        """The segments of one line, without blanks at its end."""
        row = [segment for segment in row if segment.text and not segment.control]
        while row and not row[-1].text.rstrip():
            row.pop()
        return Strip(row)

    def styled(self, text: str, style: str) -> Strip:
        """One line in one style."""
        return Strip([Segment(text, self._look.style(style) if style else None)] if text else [])

    def wrapped(self, text: Text, width: int) -> list[Strip]:
        """Text of any number of lines, wrapped."""
        found: list[Strip] = []
        for line in text.split("\n", allow_blank=True):
            found += [self.line(row) for row in self.divided(line, width)] or [Strip([])]
        return found


class LinePane(Widget):
    """A pane of lines that repaints only those that changed, and never causes a layout."""

    DEFAULT_CSS = "LinePane { height: 1; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._rows: list[Text] = []
        self._strips: list[Strip] = []
        self._drawn_by: Look | None = None

    def show(self, rows: Sequence[Text], look: Look) -> None:
        """Show these instead of the present ones."""
        is_new_look, self._drawn_by = look is not self._drawn_by, look
        old, self._rows = self._rows, list(rows)
        strips = self._strips[: len(rows)]
        for y, row in enumerate(self._rows):
            if y < len(strips) and not is_new_look and y < len(old) and _is_same(row, old[y]):
                continue
            strips[y:] = [look.strip(row), *strips[y + 1 :]]
            self._repaint(y)
        for y in range(len(rows), len(old)):
            self._repaint(y)
        self._strips = strips

    @property
    def shown(self) -> str:
        """The lines as plain text."""
        return "\n".join(row.plain for row in self._rows)

    def render_line(self, y: int) -> Strip:
        """One row, at the width of the pane."""
        width, base = self.size.width, self.rich_style
        if y >= len(self._strips):
            return Strip.blank(width, base)
        return self._strips[y].crop_extend(0, width, base).apply_style(base)

    def _repaint(self, y: int) -> None:
        if y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))


def _is_same(one: Text, other: Text) -> bool:
    return one.plain == other.plain and one.spans == other.spans and one.style == other.style


def between(left: Text, right: Text, width: int) -> Text:
    """One line with something at each end; the right one gives way first."""
    room = width - cell_len(left.plain)
    right = right.copy()
    right.truncate(max(0, room - 1), overflow="ellipsis")
    gap = max(1, room - cell_len(right.plain))
    line = Text.assemble(left, " " * gap, right)
    line.truncate(max(0, width), overflow="ellipsis")
    return line
