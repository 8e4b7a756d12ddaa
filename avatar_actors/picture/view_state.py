"""The current state of an avatar, folded from its events; how it is drawn is decided elsewhere."""

from __future__ import annotations

from msgspec import Struct, field

from avatar_actors import (
    AvatarEvent,
    BridgeState,
    ContextEvent,
    CostEvent,
    EngineState,
    EngineStateEvent,
    ErrorEvent,
    PermissionClosedEvent,
    PermissionEvent,
    PlanEntry,
    PlanEvent,
    QuestionClosedEvent,
    QuestionEvent,
    QueueEvent,
    SessionInfoEvent,
    StallEvent,
    StateEvent,
    ThinkingEvent,
    TurnEndedEvent,
    TurnStartedEvent,
    Usage,
)
from avatar_actors.cli.terminal.text import one_line


class OpenRequest(Struct, frozen=True):
    """An open permission request or question, and when it will be denied; 0.0: never."""

    event: PermissionEvent | QuestionEvent
    until: float


class ViewState(Struct):
    """The avatar now. Times are of the clock that the display is given."""

    provider: str = ""
    model: str = ""
    mode: str = ""
    title: str = ""
    engine: EngineState = EngineState.IDLE
    bridge: BridgeState = BridgeState.READY
    bridge_since: float = 0.0
    has_given_up: bool = False
    turn_since: float | None = None
    engine_since: float = 0.0
    subject: str = ""
    thought_since: float | None = None
    spent: Usage = Usage()
    turn_usage: Usage = Usage()
    context_used: int = 0
    context_size: int = 0
    waiting: int = 0
    plan: tuple[PlanEntry, ...] = ()
    stall: StallEvent | None = None
    stall_since: float = 0.0
    asks: dict[str, OpenRequest] = field(default_factory=dict[str, OpenRequest])
    can_edit: bool = False

    @property
    def usage(self) -> Usage:
        """The total usage, the current turn included."""
        return self.spent + self.turn_usage

    def fold(self, event: AvatarEvent, now: float) -> None:
        """Fold one event in."""
        self.provider = one_line(event.provider) or self.provider
        if event.turn_id and not isinstance(event, StallEvent):
            self.stall = None
        match event:
            case EngineStateEvent(new_state=state):
                self.engine, self.engine_since = state, now
            case StateEvent(new_state=state):
                self.bridge, self.bridge_since, self.has_given_up = state, now, False
            case ErrorEvent(recoverable=False):
                self.has_given_up = True
            case ThinkingEvent():
                self._think(event, now)
            case CostEvent(usage=usage):
                self.turn_usage = usage
            case ContextEvent(used_tokens=used, size_tokens=size):
                self.context_used, self.context_size = used, size
            case PlanEvent(entries=entries):
                self.plan = entries
            case QueueEvent(waiting=waiting):
                self.waiting = waiting
            case StallEvent():
                self.stall, self.stall_since = event, now - event.seconds
            case SessionInfoEvent():
                self._inform(event)
            case _:
                self._fold_turn(event, now)

    def _fold_turn(self, event: AvatarEvent, now: float) -> None:
        match event:
            case TurnStartedEvent():
                self.turn_since, self.engine_since = now, now
                self.subject, self.thought_since, self.plan = "", None, ()
            case TurnEndedEvent(usage=usage):
                self.spent, self.turn_usage = self.spent + usage, Usage()
                self.turn_since, self.subject, self.thought_since = None, "", None
            case PermissionEvent() | QuestionEvent():
                left = event.deadline - event.timestamp
                until = now + left if event.deadline else 0.0
                self.asks[event.request_id] = OpenRequest(event, until)
            case PermissionClosedEvent() | QuestionClosedEvent():
                request_id = event.request_id
                self.asks.pop(request_id, None)
            case _:
                pass

    def _think(self, event: ThinkingEvent, now: float) -> None:
        if self.thought_since is None or event.is_start:
            self.thought_since, self.subject = now, ""
        self.subject = one_line(event.subject) or self.subject
        if event.is_complete:
            self.thought_since = None

    def _inform(self, event: SessionInfoEvent) -> None:
        self.model = self.model if event.model is None else one_line(event.model)
        self.mode = self.mode if event.mode is None else one_line(event.mode)
        self.title = self.title if event.title is None else one_line(event.title)
