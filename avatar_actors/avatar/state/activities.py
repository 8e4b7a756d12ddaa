"""The activities that run now, as a tree, and the verdict on a silent agent. Pure."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from avatar_actors.model.events import (
    ActivityEvent,
    AvatarEvent,
    EngineStateEvent,
    PermissionClosedEvent,
    PermissionEvent,
    QuestionClosedEvent,
    QuestionEvent,
    TextEvent,
    ThinkingEvent,
    ToolEvent,
)
from avatar_actors.model.values import ActivityStatus, EngineState, StallVerdict, ToolStatus
from avatar_actors.processes import Vitals

_TAIL = 4000
# Characters of a question in an outcome's reason.
_WORDS = 100
# The ends of so many activities are remembered, so that a late cancel gets a true answer.
_REMEMBERED = 256

_STATUS = {
    ToolStatus.PENDING: ActivityStatus.PENDING,
    ToolStatus.APPROVAL: ActivityStatus.PENDING,
    ToolStatus.STARTED: ActivityStatus.RUNNING,
    ToolStatus.COMPLETED: ActivityStatus.COMPLETED,
    ToolStatus.FAILED: ActivityStatus.FAILED,
    ToolStatus.CANCELLED: ActivityStatus.CANCELLED,
    ToolStatus.UNKNOWN: ActivityStatus.UNKNOWN,
}
_OVER = frozenset(ActivityStatus) - {ActivityStatus.PENDING, ActivityStatus.RUNNING}


class Activities:
    """The tree of turn, tools, sub-agents and background tasks, and the engine state above it."""

    def __init__(self) -> None:
        self.open: dict[str, ActivityEvent] = {}
        self.tools: dict[str, ToolEvent] = {}
        self.state: EngineState = EngineState.IDLE
        # The open turns: one that was asked for, one that was not.
        self._turns: dict[int, str] = {}
        self._voice = EngineState.IDLE
        self.questions: dict[str, str] = {}
        """What the host is asked, in words, by request id."""
        self._group = ""
        self._is_broken = False
        self._over: dict[str, ActivityStatus] = {}

    @property
    def waits_for_host(self) -> bool:
        """Whether a question is open."""
        return bool(self.questions)

    def find(self, activity_id: str) -> ActivityEvent | None:
        """An activity that runs; for one that ended recently, only its status."""
        status = self._over.get(activity_id)
        ended = ActivityEvent(activity_id=activity_id, status=status) if status else None
        return self.open.get(activity_id) or ended

    def begin_turn(self, turn_id: int, name: str, now: float) -> list[AvatarEvent]:
        """Open the turn as the root of its activities."""
        root = self._turns[turn_id] = f"turn-{turn_id}" if turn_id > 0 else f"unasked{turn_id}"
        self._voice = EngineState.THINKING
        turn = ActivityEvent(
            turn_id=turn_id,
            activity_id=root,
            activity_type="turn",
            name=name,
            status=ActivityStatus.RUNNING,
            is_cancellable=True,
            started_at=now,
        )
        self.open[root] = turn
        return [turn, *self._state_change()]

    def observe(self, event: AvatarEvent, now: float, turn_id: int) -> list[AvatarEvent]:
        """The events that follow from an event of this turn; most often none."""
        changes: list[AvatarEvent] = []
        if isinstance(event, TextEvent):
            if self._voice is EngineState.RESPONDING:
                return changes
            self._voice = EngineState.RESPONDING
        elif isinstance(event, ThinkingEvent):
            self._voice = EngineState.THINKING
        elif isinstance(event, ToolEvent):
            changes = self._tool(event, now, turn_id)
        elif isinstance(event, ActivityEvent):
            return [self._task(event, now, turn_id), *self._state_change()]
        elif isinstance(event, PermissionEvent):
            self.questions[event.request_id] = f"whether {event.tool_name!r} may run"
        elif isinstance(event, QuestionEvent):
            self.questions[event.request_id] = _question_in_words(event)
        elif isinstance(event, PermissionClosedEvent | QuestionClosedEvent):
            self.questions.pop(event.request_id, None)
        return changes + self._state_change()

    def end_turn(
        self, turn_id: int, tool_status: ToolStatus, status: ActivityStatus, now: float
    ) -> list[AvatarEvent]:
        """Close what the turn left open with this status; background tasks go on."""
        ends: list[AvatarEvent] = []
        for tool in [each for each in self.tools.values() if self._is_of(turn_id, each)]:
            ended = msgspec.structs.replace(tool, status=tool_status)
            ends += [ended, *self._tool(ended, now, turn_id)]
        turn = self.open.get(self._turns.pop(turn_id, ""))
        if turn is not None:
            ends.append(self._close(turn, status, now))
        self._voice = EngineState.THINKING if self._turns else EngineState.IDLE
        return ends + self._state_change()

    def _is_of(self, turn_id: int, tool: ToolEvent) -> bool:
        return self.open[tool.tool_id].turn_id == turn_id

    def broken(self) -> list[AvatarEvent]:
        """The agent has died."""
        self._is_broken = True
        return self._state_change()

    def recovered(self) -> list[AvatarEvent]:
        """There is an agent again."""
        self._is_broken = False
        return self._state_change()

    def lose_all(self, now: float) -> list[AvatarEvent]:
        """The process is gone: close what ran in the background."""
        lost: list[AvatarEvent] = []
        for activity in list(self.open.values()):
            is_turn = activity.activity_id in self._turns.values()
            if not is_turn and activity.activity_id not in self.tools:
                lost.append(self._close(activity, ActivityStatus.UNKNOWN, now))
        return lost

    def _tool(self, tool: ToolEvent, now: float, turn_id: int) -> list[AvatarEvent]:
        known = self.open.get(tool.tool_id)
        if known is None and (tool.status.is_over and tool.tool_id in self._over):
            return []
        if not self.tools:
            self._group = tool.tool_id
        if known is None:
            known = ActivityEvent(
                turn_id=turn_id,
                activity_id=tool.tool_id,
                parent_activity_id=tool.parent_id or self._turns.get(turn_id, ""),
                name=tool.tool_name,
                concurrent_group=self._group,
                is_cancellable=True,
                started_at=now,
            )
        command = tool.parameters.get("command")
        detail = (command if isinstance(command, str) else tool.title) or known.detail
        tail = (tool.result or tool.error or "")[-_TAIL:]
        activity = msgspec.structs.replace(
            known, status=_STATUS[tool.status], detail=detail, output=tail or known.output
        )
        if tool.status.is_over:
            self.tools.pop(tool.tool_id, None)
            return [self._close(activity, activity.status, now)]
        self.tools[tool.tool_id] = tool
        self.open[tool.tool_id] = activity
        return [activity]

    def _task(self, event: ActivityEvent, now: float, turn_id: int) -> AvatarEvent:
        known = self.open.get(event.activity_id)
        activity = msgspec.structs.replace(
            event,
            turn_id=known.turn_id if known else turn_id,
            is_cancellable=True,
            parent_activity_id=event.parent_activity_id or self._turns.get(turn_id, ""),
            name=event.name or (known.name if known else ""),
            output=((known.output if known else "") + event.output)[-_TAIL:],
            started_at=known.started_at if known else now,
        )
        if activity.status in _OVER:
            return self._close(activity, activity.status, now)
        self.open[activity.activity_id] = activity
        return activity

    def _close(self, activity: ActivityEvent, status: ActivityStatus, now: float) -> ActivityEvent:
        closed = msgspec.structs.replace(
            activity, status=status, completed_at=now, is_cancellable=False
        )
        self.open.pop(closed.activity_id, None)
        self._over[closed.activity_id] = status
        while len(self._over) > _REMEMBERED:
            del self._over[next(iter(self._over))]
        return closed

    def _state_change(self) -> list[AvatarEvent]:
        if self._is_broken:
            state = EngineState.ERROR
        elif self.questions:
            state = EngineState.WAITING_APPROVAL
        elif self.tools:
            state = EngineState.TOOL_EXECUTING
        else:
            state = self._voice if self._turns else EngineState.IDLE
        if state is self.state:
            return []
        old, self.state = self.state, state
        return [EngineStateEvent(old_state=old, new_state=state)]


def _question_in_words(event: QuestionEvent) -> str:
    text = " ".join((event.questions[0].text if event.questions else event.message).split())
    return f"the model's question {text[:_WORDS]!r}"


# Less than this in a sample is an idle event loop's own ticking.
_BUSY = 0.02


class Stall(Struct, frozen=True, kw_only=True):
    """The evidence: two samples of the agent's processes, some seconds apart."""

    silence: float
    waits_for_host: bool
    tools: tuple[str, ...]
    before: Vitals | None
    after: Vitals | None


def judge(stall: Stall) -> tuple[StallVerdict, str]:
    """The verdict and the evidence for it, in words."""
    silence = f"no output for {stall.silence:.0f} s"
    if stall.waits_for_host:
        return StallVerdict.WAITING_ON_YOU, f"{silence}; a question is open"
    waiting = f"; waiting for {', '.join(stall.tools)}" if stall.tools else ""
    idle = StallVerdict.WORKING if waiting else StallVerdict.WEDGED
    if stall.before is None or stall.after is None or not stall.after.processes:
        return idle, f"{silence}; its process cannot be seen{waiting}"
    stopped = stall.after.states.get("T", 0)
    if stopped == stall.after.processes:
        return StallVerdict.WEDGED, f"{silence}; its {stopped} processes are stopped (SIGSTOP)"
    spent = stall.after.cpu_seconds - stall.before.cpu_seconds
    seen = f"{silence}; {spent:.2f} s of CPU in {stall.after.processes} processes"
    if spent >= _BUSY:
        return StallVerdict.WORKING, seen
    return idle, f"{seen}{waiting}"
