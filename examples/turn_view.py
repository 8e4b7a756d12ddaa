"""What a person sees of a turn: its events as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from avatar_actors import (
    AvatarEvent,
    Outcome,
    PermissionClosedEvent,
    PermissionEvent,
    PlanEvent,
    TextEvent,
    ThinkingEvent,
    ToolEvent,
    ToolStatus,
    TurnEndedEvent,
)
from examples.spans import Line, Span, Style

if TYPE_CHECKING:
    from collections.abc import Iterator

LABEL = 7
# A line this long was broken by an editor, so the next one goes on with it.
LONG = 60

PLAN_SIGNS = {"completed": "✔", "in_progress": "▸"}
TOOL_LOOKS = {
    ToolStatus.PENDING: ("·", Style.DIM, "waits"),
    ToolStatus.APPROVAL: ("?", Style.WAITING, "wants a permission"),
    ToolStatus.STARTED: ("▸", Style.BUSY, "begins"),
    ToolStatus.COMPLETED: ("✔", Style.GOOD, "done"),
    ToolStatus.FAILED: ("✖", Style.BAD, "failed"),
    ToolStatus.CANCELLED: ("○", Style.DIM, "cancelled"),
    ToolStatus.UNKNOWN: ("?", Style.BAD, "outcome unknown"),
}


class TurnView:
    """Holds back text until something else comes, so that its paragraphs can be set anew."""

    def __init__(self, name: str, home: str) -> None:
        self.events: int = 0
        self._name = name
        self._home = home
        self._text: list[str] = []
        self._began: dict[str, float] = {}

    def lines(self, event: AvatarEvent) -> Iterator[Line]:
        """What there is to show now; often nothing."""
        self.events += 1
        if isinstance(event, TextEvent):
            self._text.append(event.text)
            return
        said = self._line(event)
        if said:
            yield from self._spoken()
            yield said

    def _spoken(self) -> Iterator[Line]:
        text, self._text = "".join(self._text), []
        rows = reflowed(text.strip())
        for number, row in enumerate(rows):
            yield labelled("" if number else self._name, Span(row))

    def _line(self, event: AvatarEvent) -> Line:
        match event:
            case ThinkingEvent(thought=thought, subject=subject) if thought:
                words = thought.removeprefix(f"**{subject}**").strip()
                return labelled(
                    "thinks", Span(f"{subject}: {words}" if subject else words, Style.DIM)
                )
            case PlanEvent(entries=entries):
                steps = [f"{PLAN_SIGNS.get(e.status, '○')} {e.content}" for e in entries]
                return labelled("plan", Span("   ".join(steps), Style.FACT))
            case ToolEvent():
                return self._tool(event)
            case PermissionEvent() | PermissionClosedEvent():
                return _permission(event)
            case TurnEndedEvent():
                return self._ending(event)
            case _:
                return ()

    def _tool(self, tool: ToolEvent) -> Line:
        sign, style, word = TOOL_LOOKS[tool.status]
        if tool.status is ToolStatus.STARTED and tool.tool_id in self._began:
            word = "goes on"
        began = self._began.setdefault(tool.tool_id, tool.timestamp)
        took = f" after {short_time(tool.timestamp - began)}" if tool.status.is_over else ""
        title = (tool.title or tool.tool_name).replace(self._home, ".")
        return labelled("tool", Span(f"{sign} {title} ", style), Span(f"{word}{took}", Style.DIM))

    def _ending(self, ended: TurnEndedEvent) -> Line:
        good = ended.outcome is Outcome.COMPLETED
        sign, style = ("✔", Style.GOOD) if good else ("✖", Style.BAD)
        took = f" after {short_time(ended.duration)}, {self.events} events"
        return labelled("", Span(f"{sign} {ended.outcome.value}", style), Span(took, Style.DIM))


def _permission(event: PermissionEvent | PermissionClosedEvent) -> Line:
    if isinstance(event, PermissionEvent):
        return labelled("asks", Span(f"? May I? {event.title or event.tool_name}", Style.WAITING))
    return labelled("", Span(f"{event.permit.value}, decided by the {event.why}", Style.WAITING))


def labelled(label: str, *spans: Span) -> Line:
    """A line with who or what it is about in front."""
    return Span(label.ljust(LABEL), Style.BOLD), *spans


def short_time(seconds: float) -> str:
    """A time that is short, for people."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def reflowed(text: str) -> list[str]:
    """The lines of a text, with those joined that an editor broke."""
    rows: list[str] = []
    goes_on = False
    for row in text.splitlines():
        if goes_on and row.strip():
            rows[-1] += f" {row.strip()}"
        else:
            rows.append(row)
        goes_on = len(row) > LONG
    return rows
