"""What was said and done in this REPL, kept for /tools, /model, /mode and /export."""

from __future__ import annotations

from msgspec import Struct

from avatar_actors import (
    AvatarEvent,
    Choice,
    ContinuityEvent,
    Outcome,
    SessionInfoEvent,
    ToolCall,
    ToolEvent,
    ToolStatus,
    TurnEndedEvent,
    TurnStartedEvent,
    Usage,
)


class ToolRecord(Struct, frozen=True, kw_only=True):
    """A tool call of a turn; `ended` is 0.0 while it runs."""

    tool_id: str
    name: str
    title: str
    status: ToolStatus
    began: float
    ended: float = 0.0

    @property
    def label(self) -> str:
        """The tool with what it works on."""
        if not self.title or self.title == self.name:
            return self.name
        return self.title if self.title.startswith(self.name) else f"{self.name}: {self.title}"


class Exchange(Struct, frozen=True, kw_only=True):
    """A prompt, and all that came of it."""

    prompt: str
    answer: str
    outcome: Outcome
    reason: str
    asked_at: float
    duration: float
    session_id: str
    model: str
    usage: Usage
    tools: tuple[ToolCall, ...]


class SessionLog:
    """Told every event; forgets nothing that was said, and all tools but those of the last turn."""

    def __init__(self, model: str = "", mode: str = "") -> None:
        self.exchanges: list[Exchange] = []
        self.tools: dict[str, ToolRecord] = {}
        self.model, self.mode, self.session_id = model, mode, ""
        self.commands: tuple[Choice, ...] = ()
        self._started = TurnStartedEvent()

    def tell(self, event: AvatarEvent) -> None:
        """One more event."""
        match event:
            case TurnStartedEvent():
                self._started = event
                self.tools.clear()
            case ToolEvent():
                self._use(event)
            case TurnEndedEvent():
                self._end(event)
            case SessionInfoEvent():
                self._learn(event)
            case ContinuityEvent():
                self.session_id = event.session_id
            case _:
                pass

    def _use(self, event: ToolEvent) -> None:
        known = self.tools.get(event.tool_id)
        self.tools[event.tool_id] = ToolRecord(
            tool_id=event.tool_id,
            name=event.tool_name or (known.name if known else ""),
            title=event.title or (known.title if known else "") or _subject(event),
            status=event.status,
            began=known.began if known else event.timestamp,
            ended=event.timestamp if event.status.is_over else 0.0,
        )

    def _end(self, event: TurnEndedEvent) -> None:
        # A prompt that never got its turn has no start.
        is_ours = self._started.turn_id == event.turn_id
        self.session_id = event.session_id or self.session_id
        self.exchanges.append(
            Exchange(
                prompt=self._started.prompt if is_ours else "",
                answer=event.text,
                outcome=event.outcome,
                reason=event.reason,
                asked_at=self._started.timestamp if is_ours else event.timestamp,
                duration=event.duration,
                session_id=event.session_id,
                model=self.model,
                usage=event.usage,
                tools=event.tool_calls,
            )
        )

    def _learn(self, event: SessionInfoEvent) -> None:
        self.model = event.model or self.model
        self.mode = event.mode or self.mode
        if event.commands is not None:
            self.commands = event.commands


def _subject(event: ToolEvent) -> str:
    """What it works on, where nobody gave it a title: the first text that it is given."""
    return next((value for value in event.parameters.values() if isinstance(value, str)), "")
