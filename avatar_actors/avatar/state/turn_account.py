"""The account of the running turn: its text, tools and usage, and which events follow from others.

The activity tracker folds all events into it; who hears of them is the fan-out's business.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from avatar_actors.avatar.messages import BeginTurn, EndTurn, PartialAnswer, TryAgain
from avatar_actors.avatar.state.activities import Activities
from avatar_actors.model.events import (
    AvatarEvent,
    CostEvent,
    DiagnosticEvent,
    PermissionEvent,
    PlanEvent,
    QuestionEvent,
    TextEvent,
    ThinkingEvent,
    ToolEvent,
    TurnEndedEvent,
    TurnStartedEvent,
)
from avatar_actors.model.values import ActivityStatus, Level, Outcome, ToolCall, ToolStatus, Usage

_ENDED = {
    Outcome.COMPLETED: (ToolStatus.UNKNOWN, ActivityStatus.COMPLETED),
    Outcome.CANCELLED: (ToolStatus.CANCELLED, ActivityStatus.CANCELLED),
    Outcome.TIMED_OUT: (ToolStatus.CANCELLED, ActivityStatus.CANCELLED),
    Outcome.OVER_BUDGET: (ToolStatus.CANCELLED, ActivityStatus.CANCELLED),
    Outcome.CRASHED: (ToolStatus.UNKNOWN, ActivityStatus.UNKNOWN),
}
_ENDED_BADLY = (ToolStatus.UNKNOWN, ActivityStatus.FAILED)
# What an agent does when it has said something; all else may come between two words.
_AFTER_TEXT = (ThinkingEvent, ToolEvent, PermissionEvent, QuestionEvent, PlanEvent)
# How much of a tool's output the end of its turn repeats.
_TAIL = 4000


class Moment(Struct, frozen=True):
    """The same moment on two clocks."""

    loop: float
    """The event loop's clock, for durations."""
    wall: float
    """Seconds since the epoch, for people."""


class TurnAccount:
    """The running turn, and the activities beside it."""

    def __init__(self, max_answer: int, activities: Activities) -> None:
        self.activities = activities
        self.shows_thoughts = True
        self.turn_id = 0
        self.sent = 0
        self._max_answer = max_answer
        self._text = AnswerText(max_answer)
        self._usage = Usage()
        self._refused = Usage()
        self._began = 0.0
        self._calls: dict[str, ToolCall] = {}
        self._unknown: dict[str, None] = {}
        self._guess = ""
        # Whether a streamed text goes on, which nobody has called complete.
        self._speaks = False

    def said(self, turn_id: int) -> PartialAnswer:
        """The text of this turn so far; nothing if it is not the running one."""
        if self.turn_id != turn_id:
            return PartialAnswer()
        return PartialAnswer(self._text.whole(), self._text.is_cut)

    def begin(self, begin: BeginTurn, now: Moment) -> list[AvatarEvent]:
        """Open the account of a new turn."""
        turn_id, prompt = begin.turn_id, begin.prompt
        self.turn_id, self._text, self._usage = turn_id, AnswerText(self._max_answer), Usage()
        self._refused, self._calls = Usage(), {}
        self._began = now.loop
        name = prompt.splitlines()[0][:60] if prompt.strip() else "prompt"
        activity = self.activities.begin_turn(turn_id, name, now.wall)
        started = TurnStartedEvent(prompt=prompt, trace_parent=begin.trace_parent)
        return [started, *activity, *self._guessed_thought()]

    def fold(
        self, turn_id: int, events: Sequence[AvatarEvent], wall: float
    ) -> Sequence[AvatarEvent]:
        """The events to publish for these: with what follows from them, without late ones."""
        if turn_id and turn_id != self.turn_id:
            return ()  # its turn has ended, and nothing of a turn may follow its end
        texts = [event.text for event in events if type(event) is TextEvent]
        is_cut = bool(turn_id) and self._text.add("".join(texts))
        if len(texts) < len(events) or self._guess or not turn_id:
            events = self._with_consequences(turn_id, events, wall)
        elif events:
            self._speaks = not _is_complete(events[-1])
            events = [*self.activities.observe(events[0], 0.0, turn_id), *events]
        return [*events, self._cut_event()] if is_cut else events

    def try_again(self, again: TryAgain) -> bool:
        """Begin the account of a refused prompt anew, unless the agent had begun to work on it."""
        said, refused = self._text.whole().strip(), again.refused
        # Some agents say the refusal as their answer.
        if again.turn_id != self.turn_id or self._calls or said not in refused.reason:
            return False
        self._refused += refused.usage or self._usage
        self._text, self._usage, self.sent = AnswerText(self._max_answer), Usage(), 0
        return True

    def end(self, end: EndTurn, now: Moment) -> list[AvatarEvent]:
        """Close the turn's account. The last of these events is its TurnEndedEvent."""
        ending, outcome = end.ending, end.ending.outcome
        if end.turn_id != self.turn_id:  # it never began
            return [TurnEndedEvent(turn_id=end.turn_id, outcome=outcome, reason=ending.reason)]
        tool_status, status = _ENDED.get(outcome, _ENDED_BADLY)
        rest = [*self._close_text(), *self._close_guess()]
        rest += self.activities.end_turn(end.turn_id, tool_status, status, now.wall)
        self._note_tools(end.turn_id, rest)
        may_help = outcome is Outcome.CRASHED or ending.is_recoverable
        was_refused = outcome is Outcome.OVER_BUDGET and self.sent != end.turn_id
        ended = TurnEndedEvent(
            turn_id=end.turn_id,
            outcome=outcome,
            text=self._text.whole(),
            is_cut=self._text.is_cut,
            reason=ending.reason,
            stop_reason=ending.stop_reason,
            usage=self._refused + (ending.usage or self._usage),
            duration=0.0 if was_refused else now.loop - self._began,
            unknown_tools=tuple(self._unknown),
            can_retry=may_help and not self._calls,
            session_id=end.session_id,
            data=ending.data,
            tool_calls=tuple(self._calls.values()),
            needs_login=ending.needs_login,
            raw_events=ending.raw_events,
        )
        self.turn_id, self._text = 0, AnswerText(self._max_answer)
        self._unknown, self._calls = {}, {}
        return [*rest, ended]

    def _with_consequences(
        self, turn_id: int, events: Sequence[AvatarEvent], wall: float
    ) -> list[AvatarEvent]:
        told: list[AvatarEvent] = []
        for event in events:
            if isinstance(event, CostEvent) and turn_id:
                self._usage = event.usage
            if self._guess and isinstance(event, TextEvent | ToolEvent | ThinkingEvent):
                told += self._close_guess()
            if isinstance(event, TextEvent):
                self._speaks = not event.is_complete
            elif turn_id and isinstance(event, _AFTER_TEXT):
                told += self._close_text()
            # A task's own report is replaced by its node of the tree.
            consequences = self.activities.observe(event, wall, turn_id)
            told += consequences if _is_node(event, consequences) else [event, *consequences]
        self._note_tools(turn_id, told)
        return told

    def _note_tools(self, turn_id: int, events: Sequence[AvatarEvent]) -> None:
        for event in events:
            if isinstance(event, ToolEvent):
                if turn_id:
                    self._calls[event.tool_id] = _call(event)
                if event.status is ToolStatus.UNKNOWN:
                    self._unknown[event.tool_id] = None

    def _cut_event(self) -> DiagnosticEvent:
        words = f"the answer is longer than max_answer ({self._max_answer} characters)"
        rest = "the rest arrives as events but is not kept"
        return DiagnosticEvent(message=f"{words}; {rest}", level=Level.WARNING, source="turn")

    def _close_text(self) -> list[AvatarEvent]:
        speaks, self._speaks = self._speaks, False
        return [TextEvent(is_complete=True)] if speaks else []

    def _guessed_thought(self) -> list[AvatarEvent]:
        if self.shows_thoughts:
            return []
        self._guess = f"guess-{self.turn_id}"
        return [ThinkingEvent(is_start=True, block_id=self._guess, synthetic=True)]

    def _close_guess(self) -> list[AvatarEvent]:
        guess, self._guess = self._guess, ""
        if not guess:
            return []
        return [ThinkingEvent(is_complete=True, block_id=guess, synthetic=True)]


class AnswerText:
    """The text of one answer, of which the first `limit` characters are kept."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[str] = []
        self._length = 0
        self.is_cut = False

    def add(self, piece: str) -> bool:
        """Append a piece; True if this is the piece that passes the limit."""
        self._length += len(piece)
        excess = self._length - self._limit
        if excess <= 0:
            # One string per batch: the memory of a long turn is that of its text.
            self._pieces.append(piece)
            return False
        self._pieces += [] if self.is_cut else [piece[: len(piece) - excess]]
        is_first, self.is_cut = not self.is_cut, True
        return is_first

    def whole(self) -> str:
        """The text that is kept."""
        return "".join(self._pieces)


def _call(tool: ToolEvent) -> ToolCall:
    return ToolCall(
        tool_id=tool.tool_id,
        tool_name=tool.tool_name,
        parameters=tool.parameters,
        status=tool.status,
        result=(tool.result or "")[-_TAIL:],
        error=tool.error or "",
    )


def _is_complete(event: AvatarEvent) -> bool:
    return type(event) is TextEvent and event.is_complete


def _is_node(event: AvatarEvent, consequences: Sequence[AvatarEvent]) -> bool:
    return bool(consequences) and type(consequences[0]) is type(event)
