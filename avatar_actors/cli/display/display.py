"""Turns an avatar's events into the lines a person sees; it does no I/O and reads no clock."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from avatar_actors import (
    ActivityEvent,
    AvatarEvent,
    PermissionClosedEvent,
    PermissionEvent,
    ProviderCapabilities,
    QuestionClosedEvent,
    QuestionEvent,
    RetryEvent,
    TextEvent,
    ThinkingEvent,
    ToolEvent,
    TurnEndedEvent,
)
from avatar_actors.cli.display import permission_question
from avatar_actors.cli.display.frame_layout import FrameParts, arranged, checklist
from avatar_actors.cli.display.notices import NoticeLine, answered, lifecycle, notice
from avatar_actors.cli.display.scroll import Scroll
from avatar_actors.cli.display.work import final_box
from avatar_actors.cli.options import CommandOptions
from avatar_actors.cli.terminal.device import has_unicode, wants_colour
from avatar_actors.cli.terminal.rendering import Style
from avatar_actors.cli.terminal.text import one_line, terminal_safe
from avatar_actors.picture.view_state import ViewState
from avatar_actors.picture.work import Work


class Display:
    """What a person sees of an avatar. It is handed the time and writes nothing itself.

    Call `finished`, then `frame`, with the same width. Finished lines are printed once, above the
    frame, which is painted again and again.
    """

    def __init__(self, style: Style) -> None:
        self._style = style
        self._state = ViewState()
        self._work = Work()
        self._scroll = Scroll(style)

    @property
    def asks(self) -> tuple[PermissionEvent | QuestionEvent, ...]:
        """The open permission requests and questions, oldest first."""
        return tuple(asked.event for asked in self._state.asks.values())

    def tell(self, event: AvatarEvent, now: float) -> None:
        """Fold one event in; `now` is of the same clock as the frame's."""
        if not isinstance(event, ThinkingEvent):
            self._show_details(event)
        match event:
            case TextEvent(text=text):
                self._close_work()
                self._scroll.say(terminal_safe(text))
                if event.is_complete:
                    self._scroll.close()
            case ThinkingEvent():
                self._think(event)
            case ToolEvent():
                self._begin_work(event.tool_id)
                self._work.tool(event, now)
            case ActivityEvent(activity_type=kind):
                if kind not in {"turn", "tool_use"}:
                    self._begin_work(event.activity_id)
                self._work.activity(event, now)
            case PermissionEvent() | QuestionEvent():
                self._ask(event)
            case PermissionClosedEvent() | QuestionClosedEvent():
                self._answered(event)
            case TurnEndedEvent():
                self.flush()
            case RetryEvent():
                self._scroll.close()
            case _:
                pass
        self._state.fold(event, now)
        self._add(notice(event, self._style.signs))

    def meet(self, can: ProviderCapabilities) -> None:
        """Questions offer the keys that this agent takes."""
        self._state.can_edit = can.editable_input

    def note(self, text: str) -> None:
        """Add a line of the program's own above the frame."""
        self._scroll.add([Text(one_line(text), "dim")])

    def flush(self) -> None:
        """End the turn: only what runs in the background stays in the frame."""
        self._scroll.close()
        self._scroll.add_box(final_box(self._work.take(), self._style))
        self._scroll.add_box(checklist(self._state.plan, self._style.signs))
        self._state.plan, self._state.stall = (), None

    def finished(self, width: int) -> list[str]:
        """The lines that will not change, each at most `width` cells; each is returned once."""
        return self._scroll.take(max(1, width))

    def frame(self, width: int, height: int, now: float) -> list[str]:
        """The live lines, at most `height` of them, each at most `width` cells."""
        width = max(1, width)
        text = self._scroll.open_lines(width)
        parts = FrameParts(self._state, self._work, self._style, now)
        return arranged(parts, text, self._scroll.renderer, (width, max(0, height)))

    def _show_details(self, event: AvatarEvent) -> None:
        line = lifecycle(event)
        if line is not None:
            self._add([line])

    def _add(self, lines: Sequence[NoticeLine]) -> None:
        self._scroll.add(
            [Text(line.words, line.look) for line in lines if line.verbose <= self._style.verbose]
        )

    def _think(self, event: ThinkingEvent) -> None:
        if not event.synthetic:
            self._close_work()
        if not event.is_complete:
            self._show_details(event)
        if self._style.show_thinking and not event.synthetic:
            self._scroll.think(terminal_safe(event.thought), event.block_id)
        if event.is_complete:
            self._scroll.close()
            self._show_details(event)

    def _begin_work(self, job_id: str) -> None:
        if job_id not in self._work.jobs:
            self._scroll.close()

    def _close_work(self) -> None:
        if self._work.is_over:
            self._scroll.add_box(final_box(self._work.take(), self._style))

    def _ask(self, event: PermissionEvent | QuestionEvent) -> None:
        self._scroll.close()
        rows = permission_question.details(event)
        if permission_question.is_long(rows):
            # Not in a box, which would cut what is wider than the screen.
            title = Text(permission_question.introduction(event), "warning")
            self._scroll.add([title, *rows])

    def _answered(self, event: PermissionClosedEvent | QuestionClosedEvent) -> None:
        asked = self._state.asks.get(event.request_id)
        waiting = [job.label for job in self._work.jobs.values() if job.asks]
        what = "".join(waiting[-1:]) or event.request_id
        what = permission_question.named(asked.event) if asked else what
        self._add([answered(event, what, self._style.signs)])


def display_for(wanted: CommandOptions, *notes: str) -> Display:
    """The display for the person at this terminal, with notes of the program's own first."""
    style = Style(
        show_thinking=wanted.show_thinking,
        verbose=wanted.verbose,
        colour=wants_colour(),
        unicode=has_unicode(),
    )
    display = Display(style)
    for note in notes:
        display.note(note)
    return display
