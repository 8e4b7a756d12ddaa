"""The conversation as a widget: scrolls by itself, so that a growing answer causes no layout."""

from __future__ import annotations

from typing import Final

from rich.segment import Segment
from textual import events
from textual.binding import Binding
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from avatar_actors.gui.strips import Look, StripRenderer
from avatar_actors.gui.transcript import GUTTER, TalkRow, TalkTranscript

# Seconds of one beat that drawing may take; what is left is drawn in the next one.
_BUDGET: Final = 0.03
_BLINK: Final = 5
_WHEEL: Final = 3
_SIGNS: Final = {"quote": "❯ ", "answer": "▌ "}


class Talk(Widget, can_focus=True):
    """Follows the end until the person scrolls up; alt+up and alt+down choose a block to copy."""

    BINDINGS = [  # noqa: RUF012 - Textual's way
        Binding("up", "scroll(-1)", show=False),
        Binding("down", "scroll(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "to_start", show=False),
        Binding("end", "to_end", show=False),
    ]

    def __init__(self, look: Look) -> None:
        super().__init__(id="talk")
        self.transcript = TalkTranscript(StripRenderer(look))
        self.look = look
        self.block: int | None = None
        """The entry that is chosen to be copied."""
        self.top = 0
        """The first row that is in sight."""
        self._follows = True
        self._tail: list[TalkRow] = []
        self._sealed = 0
        self._has_cursor = False

    # The heartbeat.

    def beat(self, tick: int) -> None:
        """Draw what came since the last beat; nothing, where nothing came."""
        if not self.size.width:
            return
        self.transcript.settle(self.size.width - 1, _BUDGET)
        tail = self.transcript.open_rows()
        cursor = self.transcript.is_open and tick % (2 * _BLINK) < _BLINK
        sealed, first = len(self.transcript.rows), min(self._sealed, len(self.transcript.rows))
        is_changed = sealed != self._sealed or tail != self._tail
        is_blink = cursor != self._has_cursor
        self._sealed, self._tail, self._has_cursor = sealed, tail, cursor
        if is_changed:
            self._follow(first)
        elif is_blink:
            self._repaint_from(self._total - 1)

    def _follow(self, changed: int) -> None:
        before = self.top
        if self._follows:
            self.top = self._last_top
        self.top = min(self.top, self._last_top)
        if self.top == before:
            self._repaint_from(changed)
            self._repaint_bar()
        else:
            self.refresh()

    def _repaint_from(self, line: int) -> None:
        y = max(0, line - self.top)
        if y < self.size.height:
            self.refresh(Region(0, y, self.size.width, self.size.height - y))

    def _repaint_bar(self) -> None:
        self.refresh(Region(self.size.width - 1, 0, 1, self.size.height))

    @property
    def _total(self) -> int:
        return len(self.transcript.rows) + len(self._tail)

    @property
    def _last_top(self) -> int:
        return max(0, self._total - self.size.height)

    def restyle(self, look: Look) -> None:
        """Draw all of it in other colours."""
        self.look = look
        self.transcript.redraw(StripRenderer(look))
        self._sealed, self._tail = 0, []
        self.refresh()

    @property
    def rows(self) -> list[TalkRow]:
        """All that is drawn, also out of sight."""
        return self.transcript.rows + self._tail

    @property
    def has_cursor(self) -> bool:
        """Whether the cursor stands behind the last row now."""
        return self._has_cursor

    # Painting.

    def row(self, index: int) -> TalkRow:
        """A row of the whole talk."""
        sealed = self.transcript.rows
        return sealed[index] if index < len(sealed) else self._tail[index - len(sealed)]

    def render_line(self, y: int) -> Strip:
        """One row of the view: sign, text, cursor and scroll bar."""
        width, base, index = self.size.width, self.rich_style, self.top + y
        if index >= self._total:
            return Strip.join([Strip.blank(width - 1, base), self._bar(y)]).apply_style(base)
        row = self.row(index)
        strip = self._selected(row.strip, index).apply_offsets(0, index)
        parts = [self._gutter(row, index), strip]
        if self._has_cursor and index == self._total - 1:
            parts.append(Strip([Segment("▌", self.look.style("gutter"))]))
        line = Strip.join(parts).crop_extend(0, width - 1, base)
        return Strip.join([line, self._bar(y)]).apply_style(base)

    def _gutter(self, row: TalkRow, index: int) -> Strip:
        if self._is_chosen(index):
            return Strip([Segment("┃ ", self.look.style("warning"))])
        sign = _SIGNS.get(row.kind, "")
        if row.kind == "quote" and not row.is_first:
            sign = ""
        style = self.look.style("gutter")
        return Strip([Segment(sign.ljust(GUTTER), style)])

    def _is_chosen(self, index: int) -> bool:
        if self.block is None or self.block >= len(self.transcript.starts):
            return False
        starts = [*self.transcript.starts, self._total + 1]
        return starts[self.block] <= index < starts[self.block + 1] - 1

    def _bar(self, y: int) -> Strip:
        height, total = self.size.height, self._total
        if total <= height:
            return Strip([Segment(" ")])
        size = max(1, height * height // total)
        at = round(self.top / max(1, self._last_top) * (height - size))
        is_thumb = at <= y < at + size
        sign, style = ("▐", "border") if is_thumb else (" ", "none")
        return Strip([Segment(sign, self.look.style(style))])

    # Selecting with the mouse.

    def _selected(self, strip: Strip, index: int) -> Strip:
        selection = self.text_selection
        span = selection.get_span(index) if selection is not None else None
        if span is None:
            return strip
        start, end = span
        length = len(strip.text)
        cells = [strip.index_to_cell_position(at) for at in (min(start, length), length)]
        if 0 <= end < length:
            cells[1] = strip.index_to_cell_position(end)
        style = self.screen.get_component_rich_style("screen--selection")
        before, inside, after = (
            strip.crop(0, cells[0]),
            strip.crop(cells[0], cells[1]),
            strip.crop(cells[1]),
        )
        lit = Strip([Segment(each.text, (each.style or style) + style) for each in inside])
        return Strip.join([before, lit, after])

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, without the signs at the left."""
        text = "\n".join(row.strip.text for row in self.rows)
        return selection.extract(text), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Paint it."""
        del selection
        self.refresh()

    # Scrolling and choosing.

    def scroll_lines(self, lines: int) -> None:
        """Up or down; at the end it follows again."""
        top = min(max(0, self.top + lines), self._last_top)
        self._follows = top == self._last_top
        if top != self.top:
            self.top = top
            self.refresh()

    def action_scroll(self, lines: int) -> None:
        """One line."""
        self.scroll_lines(lines)

    def action_page(self, pages: int) -> None:
        """Almost a screen."""
        self.scroll_lines(pages * max(1, self.size.height - 2))

    def action_to_start(self) -> None:
        """The beginning."""
        self.scroll_lines(-self._total)

    def action_to_end(self) -> None:
        """The end, and follow it."""
        self.scroll_lines(self._total)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel."""
        event.stop()
        self.scroll_lines(-_WHEEL)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel."""
        event.stop()
        self.scroll_lines(_WHEEL)

    def on_resize(self) -> None:
        """Wrap anew: the next beat draws it."""
        self._sealed = 0
        self._tail = []

    def choose(self, step: int) -> None:
        """Choose the block above or below; past the last one, none."""
        blocks = len(self.transcript.starts)
        if not blocks:
            return
        at = blocks if self.block is None else self.block
        at = max(0, at + step)
        self.block = at if at < blocks else None
        if self.block is not None:
            start = self.transcript.starts[self.block]
            if not self.top <= start < self.top + self.size.height:
                self.scroll_lines(start - self.top)
        self.refresh()

    def chosen_source(self) -> str:
        """What copying the chosen block gives; of none, of the last answer."""
        entries = self.transcript.entries
        if self.block is not None and self.block < len(entries):
            return entries[self.block].source
        answers = [entry.source for entry in entries if entry.kind == "answer"]
        return answers[-1] if answers else ""
