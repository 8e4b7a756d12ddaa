"""What subscribers see: frozen events with number, time, avatar and turn; and the response."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from avatar_actors.model.errors import TurnFailed
from avatar_actors.model.questions import UserQuestion
from avatar_actors.model.values import (
    ActivityStatus,
    BridgeState,
    Choice,
    Continuity,
    CostSource,
    EngineState,
    JsonObject,
    Level,
    Outcome,
    PermissionOption,
    Permit,
    PlanEntry,
    StallVerdict,
    ThinkingPhase,
    ToolCall,
    ToolStatus,
    Usage,
)


class AvatarEvent(Struct, frozen=True, tag_field="type", tag="event"):
    """The root of all events. `turn_id` 0: outside of any turn; below 0: of an unasked turn."""

    seq: int = 0
    timestamp: float = 0.0
    provider: str = ""
    avatar: str = ""
    turn_id: int = 0

    @property
    def unasked(self) -> bool:
        """Whether it is of a turn that the agent began by itself: no prompt of yours."""
        return self.turn_id < 0


class TextEvent(AvatarEvent, frozen=True, tag="text"):
    """A piece of the answer. `is_complete`: the text ends here; such a piece may be empty.

    A tool, a thought, a question, a plan or the end of the turn comes next, or another text.
    """

    text: str = ""
    is_complete: bool = False


class ThinkingEvent(AvatarEvent, frozen=True, tag="thinking"):
    """A piece of a thought. `synthetic`: the agent shows none, so this is only our guess."""

    thought: str = ""
    subject: str = ""
    phase: ThinkingPhase = ThinkingPhase.GENERAL
    is_start: bool = False
    is_complete: bool = False
    block_id: str = ""
    token_count: int = 0
    category: str = ""
    synthetic: bool = False


class ToolEvent(AvatarEvent, frozen=True, tag="tool"):
    """A tool call has come to `status`. `parent_id` is the tool call of the sub-agent it is in."""

    tool_name: str = ""
    tool_id: str = ""
    parameters: JsonObject = {}
    status: ToolStatus = ToolStatus.STARTED
    result: str | None = None
    error: str | None = None
    kind: str = "other"
    title: str = ""
    parent_id: str = ""


class ActivityEvent(AvatarEvent, frozen=True, tag="activity"):
    """A node of the tree of what runs now: the turn, its tools, sub-agents, background tasks.

    `output` is the tail of what the activity printed so far.
    """

    activity_id: str = ""
    parent_activity_id: str = ""
    activity_type: str = "tool_use"
    name: str = ""
    status: ActivityStatus = ActivityStatus.PENDING
    progress: float = 0.0
    detail: str = ""
    concurrent_group: str = ""
    is_cancellable: bool = False
    started_at: float = 0.0
    completed_at: float = 0.0
    output: str = ""


class StateEvent(AvatarEvent, frozen=True, tag="state"):
    """The connection to the agent changed."""

    old_state: BridgeState = BridgeState.DISCONNECTED
    new_state: BridgeState = BridgeState.DISCONNECTED
    detail: str = ""
    pid: int | None = None
    """The agent's process, while it is connected and runs here."""


class EngineStateEvent(AvatarEvent, frozen=True, tag="engine_state"):
    """What the avatar does changed."""

    old_state: EngineState = EngineState.IDLE
    new_state: EngineState = EngineState.IDLE


class ErrorEvent(AvatarEvent, frozen=True, tag="error"):
    """Something failed. `recoverable`: the avatar goes on by itself."""

    error: str = ""
    recoverable: bool = True


class DiagnosticEvent(AvatarEvent, frozen=True, tag="diagnostic"):
    """A notice of the agent, a line of its stderr, a remark of a wire or of the runtime."""

    message: str = ""
    level: Level = Level.INFO
    source: str = ""


class CostEvent(AvatarEvent, frozen=True, tag="cost"):
    """A usage report: what this turn has used up to now."""

    cost_usd: float | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    source: CostSource = CostSource.UNKNOWN

    @property
    def usage(self) -> Usage:
        """The figures alone."""
        return Usage(
            cost_usd=self.cost_usd,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cached_tokens=self.cached_tokens,
            reasoning_tokens=self.reasoning_tokens,
            cost_source=self.source,
        )


class ContextEvent(AvatarEvent, frozen=True, tag="context"):
    """How full the agent's context window is."""

    used_tokens: int = 0
    size_tokens: int = 0


class PermissionEvent(AvatarEvent, frozen=True, tag="permission"):
    """The agent asks whether a tool may run; answer with `avatar.answer(request_id, …)`.

    `deadline` is the wall-clock time at which it is denied; 0.0: it waits for ever.
    """

    request_id: str = ""
    tool_name: str = ""
    tool_input: JsonObject = {}
    options: tuple[PermissionOption, ...] = ()
    deadline: float = 0.0
    tool_id: str = ""
    title: str = ""


class PermissionClosedEvent(AvatarEvent, frozen=True, tag="permission_closed"):
    """A permission request is over; `why` says who decided."""

    request_id: str = ""
    permit: Permit = Permit.CANCELLED
    why: str = ""


class QuestionEvent(AvatarEvent, frozen=True, tag="question"):
    """The model asks its user; answer with `avatar.answer_question(request_id, …)`.

    `message` introduces the questions. `deadline` is the wall-clock time at which they are
    declined; 0.0: they wait for ever.
    """

    request_id: str = ""
    questions: tuple[UserQuestion, ...] = ()
    message: str = ""
    deadline: float = 0.0
    tool_id: str = ""


class QuestionClosedEvent(AvatarEvent, frozen=True, tag="question_closed"):
    """The model's questions are over; `why` says who answered or declined them."""

    request_id: str = ""
    is_answered: bool = False
    why: str = ""


class TurnStartedEvent(AvatarEvent, frozen=True, tag="turn_started"):
    """The prompt's turn has come. `trace_parent`: the caller's span, as W3C's `traceparent`.

    Of an `unasked` turn `prompt` is its cause: which background command has ended, and how.
    """

    prompt: str = ""
    trace_parent: str = ""


class TurnEndedEvent(AvatarEvent, frozen=True, tag="turn_ended"):
    """The one outcome of a prompt. Nothing of its turn comes after this.

    `unknown_tools`: calls that were under way when the agent died. `can_retry`: it crashed, or was
    refused for now, and no tool had started: sending it again cannot do anything twice. `data`: the
    validated object, where a schema was asked for. `is_cut`: there was more text than `max_answer`.
    `needs_login`: it failed since the agent is not signed in; `reason` says what to do.
    """

    outcome: Outcome = Outcome.COMPLETED
    text: str = ""
    reason: str = ""
    stop_reason: str = ""
    usage: Usage = Usage()
    duration: float = 0.0
    unknown_tools: tuple[str, ...] = ()
    can_retry: bool = False
    session_id: str = ""
    data: Any = None
    tool_calls: tuple[ToolCall, ...] = ()
    is_cut: bool = False
    needs_login: bool = False
    raw_events: tuple[JsonObject, ...] = ()


class RetryEvent(AvatarEvent, frozen=True, tag="retry"):
    """By the retry policy a refused prompt is sent again, or a failed start is tried again.

    `attempt` is the one to come, `of` how many there may be in all, `delay` the pause before it.
    """

    attempt: int = 0
    of: int = 0
    delay: float = 0.0
    reason: str = ""


class ContinuityEvent(AvatarEvent, frozen=True, tag="continuity"):
    """What the agent remembers after its process was started again, and why."""

    continuity: Continuity = Continuity.NEW
    session_id: str = ""
    why: str = ""


class SupervisionEvent(AvatarEvent, frozen=True, tag="supervision"):
    """A part of the avatar started, crashed, restarts, gave up or stopped."""

    notice: str = ""
    path: str = ""
    detail: str = ""
    delay: float = 0.0


class StallEvent(AvatarEvent, frozen=True, tag="stall"):
    """Nothing was heard for `seconds`; the verdict, with what it rests on."""

    verdict: StallVerdict = StallVerdict.WORKING
    seconds: float = 0.0
    evidence: str = ""


class PlanEvent(AvatarEvent, frozen=True, tag="plan"):
    """The agent's plan, whole."""

    entries: tuple[PlanEntry, ...] = ()


class SessionInfoEvent(AvatarEvent, frozen=True, tag="session_info"):
    """The agent changed its title, mode, model or commands. None: unchanged."""

    title: str | None = None
    mode: str | None = None
    model: str | None = None
    commands: tuple[Choice, ...] | None = None


class QueueEvent(AvatarEvent, frozen=True, tag="queue"):
    """So many prompts wait behind the present turn now."""

    waiting: int = 0


class OrphansReapedEvent(AvatarEvent, frozen=True, tag="orphans_reaped"):
    """The agent has ended, and with it so many processes that it had left behind."""

    count: int = 0


class UnrecognisedEvent(AvatarEvent, frozen=True, tag="unrecognised"):
    """Something the wire does not know, as the agent sent it (cut to 64 KiB)."""

    raw: str = ""
    source: str = ""


class EventsLostEvent(AvatarEvent, frozen=True, tag="events_lost"):
    """A subscriber was too slow even for merged events: so many are missing here."""

    count: int = 0


class BridgeResponse(Struct, frozen=True, kw_only=True):
    """The answer to one prompt; true if the agent finished it, else `outcome` and `error` say why.

    `data` is the validated object where a schema was asked for. `tool_calls` are all of the turn.
    `is_cut`: there was more text than the avatar's `max_answer`; it was told by events alone.
    `needs_login`: it failed since the agent is not signed in; `error` says what to do.
    `raw_events`: what the agent wrote, message by message, if the prompt asked for it.
    """

    content: str
    outcome: Outcome
    error: str = ""
    turn_id: int = 0
    session_id: str = ""
    duration_ms: int = 0
    usage: Usage = Usage()
    data: Any = None
    tool_calls: tuple[ToolCall, ...] = ()
    unknown_tools: tuple[str, ...] = ()
    can_retry: bool = False
    is_cut: bool = False
    needs_login: bool = False
    raw_events: tuple[JsonObject, ...] = ()

    def __bool__(self) -> bool:
        return self.success

    @property
    def success(self) -> bool:
        """Whether the agent finished its answer."""
        return self.outcome is Outcome.COMPLETED

    def raise_for_outcome(self) -> BridgeResponse:
        """The response itself if the agent finished its answer; else TurnFailed is raised."""
        if not self.success:
            raise TurnFailed(self)
        return self

    @property
    def cost_usd(self) -> float | None:
        """The cost of the turn, if known."""
        return self.usage.cost_usd

    @property
    def cost_source(self) -> CostSource:
        """Where the cost figure comes from."""
        return self.usage.cost_source

    @property
    def token_usage(self) -> dict[str, int]:
        """The tokens alone, by their kind."""
        return {
            "input": self.usage.input_tokens,
            "output": self.usage.output_tokens,
            "cached": self.usage.cached_tokens,
            "reasoning": self.usage.reasoning_tokens,
        }


def response_of(ended: TurnEndedEvent) -> BridgeResponse:
    """The answer that this end of a turn tells."""
    return BridgeResponse(
        content=ended.text,
        outcome=ended.outcome,
        error="" if ended.outcome is Outcome.COMPLETED else ended.reason,
        turn_id=ended.turn_id,
        session_id=ended.session_id,
        duration_ms=round(ended.duration * 1000),
        usage=ended.usage,
        data=ended.data,
        tool_calls=ended.tool_calls,
        unknown_tools=ended.unknown_tools,
        can_retry=ended.can_retry,
        is_cut=ended.is_cut,
        needs_login=ended.needs_login,
        raw_events=ended.raw_events,
    )
