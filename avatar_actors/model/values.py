"""What callers pass and get: enums for states and outcomes, small frozen values, attachments."""

from __future__ import annotations

import mimetypes
from collections.abc import Collection
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr

from avatar_actors.model.checks import check_fields, checked
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.fields import FilePath, OneOf, Written
from avatar_actors.model.redaction import repr_without

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


_SURENESS: Final = tuple(CostSource)  # the surest first


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


class PermissionBasis(Enum):
    """What a permission mode or tool policy rests on, for an agent as it started.

    ENFORCED: its own mode or sandbox stops what changes things until the gatekeeper allows it.
    ASKED: it is told to ask, and known to. ON_TRUST: a tool that starts unasked is only noticed.
    """

    ENFORCED = "enforced"
    ASKED = "asked"
    ON_TRUST = "on trust"


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
    """Tokens and money, of one turn or in total. `cost_usd` is None when nobody can say it.

    `input_tokens` are those that were not read from a cache, `cached_tokens` those that were;
    `reasoning_tokens` are a part of `output_tokens`.
    """

    cost_usd: float | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost_source: CostSource = CostSource.UNKNOWN

    @property
    def tokens(self) -> int:
        """All that the model was given or gave: what a budget of tokens counts."""
        return self.input_tokens + self.cached_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage.sum_of((self, other))

    @classmethod
    def sum_of(cls, parts: Collection[Usage]) -> Usage:
        """All together; money that nobody told adds nothing, and the least sure source stays."""
        costs = [each.cost_usd for each in parts if each.cost_usd is not None]
        sources = {each.cost_source for each in parts if each.cost_usd is not None}
        return cls(
            cost_usd=sum(costs) if costs else None,
            input_tokens=sum(each.input_tokens for each in parts),
            output_tokens=sum(each.output_tokens for each in parts),
            cached_tokens=sum(each.cached_tokens for each in parts),
            reasoning_tokens=sum(each.reasoning_tokens for each in parts),
            cost_source=max(sources, key=_SURENESS.index, default=CostSource.UNKNOWN),
        )


class PlanEntry(Struct, frozen=True):
    """One step of the agent's plan."""

    content: str
    status: str = "pending"
    priority: str = "medium"


class ToolCall(Struct, frozen=True, kw_only=True):
    """A tool call of a turn, once it is over. `result` is the end of what it put out."""

    tool_id: str
    tool_name: str
    parameters: JsonObject = {}
    status: ToolStatus = ToolStatus.COMPLETED
    result: str = ""
    error: str = ""


class McpServer(Struct, frozen=True, kw_only=True):
    """An MCP server for the agent: a command (stdio), or a URL (http, unless sse is said)."""

    name: str
    command: Annotated[str, Written.PROGRAM, "The server's program."] = ""
    args: Annotated[tuple[str, ...], Written.INTERPOLATED, "Its arguments."] = ()
    env: Annotated[dict[str, str], "Its variables; for its secrets."] = {}
    url: Annotated[str, Written.INTERPOLATED, "A remote server instead."] = ""
    transport: Annotated[str, OneOf(("http", "sse")), "`http`."] = "stdio"
    headers: Annotated[dict[str, str], "Sent with each request to the URL."] = {}

    def __post_init__(self) -> None:
        check_fields(self)
        if bool(self.command) == bool(self.url):
            raise SettingsError(f"MCP server {self.name!r} needs a command or a url, not both")
        if self.url and self.transport == "stdio":
            force_setattr(self, "transport", "http")

    def __repr__(self) -> str:
        return repr_without(self, "env", "headers")


class Choice(Struct, frozen=True):
    """A model or a mode; `is_current` if the agent began with it, as far as it says so."""

    choice_id: str
    name: str = ""
    is_current: bool = False


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
    structured_output: str = "prompted"
    streaming: bool = True
    parallel_tools: bool = False
    cancellable: bool = False
    interruptible: bool = True
    steering: bool = False
    mcp_supported: bool = False
    tool_policy_granularity: str = "tool"
    editable_input: bool = False
    permissions: PermissionBasis = PermissionBasis.ON_TRUST
    attachments: tuple[str, ...] = ()
    models: tuple[Choice, ...] = ()
    modes: tuple[Choice, ...] = ()
    containment: str = "best effort"


class StoredSession(Struct, frozen=True):
    """A session that the agent could resume. `file` is where its store has it, if one was read."""

    session_id: str
    title: str = ""
    working_dir: str = ""
    updated_at: str = ""
    created_at: str = ""
    file: str = ""


class StoredMessage(Struct, frozen=True):
    """What the user or the assistant said in a stored session, as its `role` tells."""

    role: str
    text: str
    at: str = ""


class Message(Struct, frozen=True):
    """One line of the history. `unasked`: the agent said it by itself, after no prompt."""

    role: str
    content: str
    turn_id: int
    timestamp: float
    tool_calls: tuple[ToolCall, ...] = ()
    unasked: bool = False


_TEXTS: Final = {f"application/{name}" for name in ("json", "xml", "yaml", "toml", "javascript")}


class Attachment(Struct, frozen=True):
    """What goes along with a prompt: bytes of an image, a PDF, a sound, or a text file."""

    mime_type: str
    data: bytes
    name: str = ""

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    @checked
    def from_file(cls, path: FilePath) -> Attachment:
        """The file, its type told by its name; where the name tells none, text if it is text."""
        file = Path(path)
        try:
            data = file.read_bytes()
        except OSError as error:
            raise SettingsError(f"cannot attach {str(file)!r}: {error.strerror}") from error
        mime_type, _ = mimetypes.MimeTypes().guess_type(file.name)  # by no table of the system
        given = cls(mime_type or "", data, file.name)
        is_text = given.kind == "other" and _is_text(data)  # by its name, `.ts` is a video
        kind = "text/plain" if is_text else given.mime_type or "application/octet-stream"
        return cls(kind, data, file.name)

    @property
    def kind(self) -> str:
        """As `capabilities().attachments` has it: image, pdf, audio, text, or other."""
        group = self.mime_type.partition("/")[0]
        if self.mime_type == "application/pdf":
            return "pdf"
        if group == "text" or self.mime_type in _TEXTS:
            return "text"
        return group if group in {"image", "audio"} else "other"


def _is_text(data: bytes) -> bool:
    return b"\0" not in data and data.decode("utf-8", "ignore").encode() == data


class HealthStatus(Struct, frozen=True, kw_only=True):
    """The health of an avatar; `continuity` is what its agent remembered at its last start."""

    state: BridgeState
    provider: str
    session_id: str = ""
    continuity: Continuity = Continuity.NEW
    continuity_why: str = ""
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

    healthy = is_healthy

    @property
    def total_cost_usd(self) -> float:
        """What is known to have been spent."""
        return self.total.cost_usd or 0.0
