"""What callers pass and get: words for states and outcomes, and small frozen values."""

from __future__ import annotations

from enum import Enum
from typing import Any, TypeAlias

from msgspec import Struct

# JSON that only passes through: what an agent's tool was given. Nothing here looks inside.
JsonObject: TypeAlias = dict[str, Any]


class BridgeState(Enum):
    """Where the connection to the agent stands."""

    DISCONNECTED = "disconnected"
    WARMING_UP = "warming_up"
    READY = "ready"
    BUSY = "busy"
    ERROR = "error"


class EngineState(Enum):
    """What the avatar does now, the most important thing first."""

    ERROR = "error"
    WAITING_APPROVAL = "waiting_approval"
    TOOL_EXECUTING = "tool_executing"
    RESPONDING = "responding"
    THINKING = "thinking"
    IDLE = "idle"


class Outcome(Enum):
    """How a prompt ended. Each has exactly one."""

    COMPLETED = "completed"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    FAILED = "failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    OVER_BUDGET = "over_budget"
    REJECTED = "rejected"


class ThinkingPhase(Enum):
    """What a thought is about, guessed from its words."""

    GENERAL = "general"
    ANALYZING = "analyzing"
    PLANNING = "planning"
    CODING = "coding"
    REVIEWING = "reviewing"
    TOOL_PLANNING = "tool_planning"


class ToolStatus(Enum):
    """How far a tool call is. UNKNOWN: the agent died, nobody can say whether it took effect."""

    PENDING = "pending"
    APPROVAL = "approval"
    STARTED = "started"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to come of this call."""
        return self not in {ToolStatus.PENDING, ToolStatus.APPROVAL, ToolStatus.STARTED}


class ActivityStatus(Enum):
    """How far an activity is."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class CostSource(Enum):
    """Where a cost comes from: the agent said it, we computed it, guessed it, or nobody knows."""

    REPORTED = "reported"
    COMPUTED = "computed"
    ESTIMATED = "estimated"
    UNKNOWN = "unknown"


class Level(Enum):
    """How much a diagnostic matters."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Continuity(Enum):
    """What the agent remembers after its process was started; PENDING: it tells with a prompt."""

    NEW = "new"
    PENDING = "pending"
    RESUMED = "resumed"
    FRESH = "fresh"


class StallVerdict(Enum):
    """Why nothing is heard: the agent works, waits on you, or is wedged."""

    WORKING = "working"
    WAITING_ON_YOU = "waiting_on_you"
    WEDGED = "wedged"


class Permit(Enum):
    """The answers to a permission request."""

    ALLOW_ONCE = "allow_once"
    ALLOW_ALWAYS = "allow_always"
    REJECT_ONCE = "reject_once"
    REJECT_ALWAYS = "reject_always"
    CANCELLED = "cancelled"

    @property
    def allows(self) -> bool:
        """Whether the tool may run."""
        return self in {Permit.ALLOW_ONCE, Permit.ALLOW_ALWAYS}


class CancelResult(Enum):
    """What became of a request to cancel one activity."""

    STOPPED = "stopped"
    ALREADY_DONE = "already_done"
    ESCALATED = "escalated"
    UNSUPPORTED = "unsupported"


class PermissionOption(Struct, frozen=True):
    """One of the answers that the agent offers. Several may share a kind."""

    option_id: str
    kind: Permit
    name: str = ""


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens and money, of one turn or in total. `cost_usd` is None when nobody said it."""

    cost_usd: float | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0


class PlanEntry(Struct, frozen=True):
    """One step of the agent's plan."""

    content: str
    status: str = "pending"
    priority: str = "medium"


class Attachment(Struct, frozen=True):
    """What goes along with a prompt: bytes of an image, a PDF, a sound, or a text file."""

    mime_type: str
    data: bytes
    name: str = ""


class McpServer(Struct, frozen=True, kw_only=True):
    """An MCP server for the agent: a command (stdio), or a URL (http or sse)."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    url: str = ""
    transport: str = "stdio"
    headers: dict[str, str] = {}


class Choice(Struct, frozen=True):
    """A model or a mode that can be chosen."""

    choice_id: str
    name: str = ""


class ProviderCapabilities(Struct, frozen=True, kw_only=True):
    """What this agent can do, as it said itself when it started."""

    agent: str = ""
    version: str = ""
    can_list_sessions: bool = False
    can_load_session: bool = False
    can_continue_last: bool = False
    can_fork_session: bool = False
    thinking_supported: bool = False
    thinking_structured: bool = False
    cost_tracking: bool = False
    budget_enforcement: bool = False
    system_prompt: str = "unsupported"
    streaming: bool = True
    parallel_tools: bool = False
    cancellable: bool = False
    interruptible: bool = True
    steering: bool = False
    mcp_supported: bool = False
    tool_policy_granularity: str = "tool"
    attachments: tuple[str, ...] = ()
    models: tuple[Choice, ...] = ()
    modes: tuple[Choice, ...] = ()
    containment: str = "best effort"


class StoredSession(Struct, frozen=True):
    """A session that the agent could resume."""

    session_id: str
    title: str = ""
    working_dir: str = ""
    updated_at: str = ""


class Message(Struct, frozen=True):
    """One line of the history."""

    role: str
    content: str
    turn_id: int
    timestamp: float


class HealthStatus(Struct, frozen=True, kw_only=True):
    """How an avatar does."""

    state: BridgeState
    provider: str
    session_id: str = ""
    pid: int | None = None
    returncode: int | None = None
    uptime_seconds: float = 0.0
    restarts: int = 0
    turns: int = 0
    waiting: int = 0
    history_length: int = 0
    total: Usage = Usage()

    @property
    def is_healthy(self) -> bool:
        """Whether a prompt would be taken now or after those that wait."""
        return self.state in {BridgeState.READY, BridgeState.BUSY}


class BridgeResponse(Struct, frozen=True, kw_only=True):
    """The answer to one prompt."""

    content: str
    outcome: Outcome
    error: str = ""
    turn_id: int = 0
    session_id: str = ""
    duration_ms: int = 0
    usage: Usage = Usage()
    unknown_tools: tuple[str, ...] = ()
    can_retry: bool = False

    @property
    def success(self) -> bool:
        """Whether the agent finished its answer."""
        return self.outcome is Outcome.COMPLETED

    @property
    def cost_usd(self) -> float | None:
        """What the turn cost, if anybody said it."""
        return self.usage.cost_usd
