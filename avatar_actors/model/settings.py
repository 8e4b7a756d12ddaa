"""How an avatar and its runtime are set up: frozen settings, and checks that refuse bad ones.

Each setting is declared here and nowhere else: its type, its bounds and its meaning. What has a
description is also a key of the configuration file; the room `config` reads it from here.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, TypedDict

import msgspec
from msgspec import Meta, Struct

from avatar_actors.model.checks import check_fields
from avatar_actors.model.command_line import (
    NAME,
    check_environment,
    check_name,
    check_session_id,
    check_text,
    check_word,
    is_name,
)
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.fields import (
    LOG_FORMAT,
    Amount,
    Checked,
    Count,
    FilePath,
    OneOf,
    Pause,
    PositiveCount,
    Scope,
    Seconds,
    SecondsOrNone,
    Share,
    Written,
    strings_in,
    wrong_with_format,
)
from avatar_actors.model.host_functions import PermissionHandler, QuestionHandler
from avatar_actors.model.prices import Price
from avatar_actors.model.questions import handlers_apart
from avatar_actors.model.tool_policy import ToolPolicy
from avatar_actors.model.values import Attachment, JsonObject, McpServer


class PermissionMode(Enum):
    """Who decides about a tool that the agent asks for."""

    SAFE = "safe"
    """Only tools that look are allowed."""
    ASK = "ask"
    """The host is asked."""
    UNRESTRICTED = "unrestricted"
    """Every question is answered with yes."""


class WhileBusy(Enum):
    """What happens to a prompt that comes during a turn."""

    QUEUE = "queue"
    INTERRUPT = "interrupt"
    STEER = "steer"
    REJECT = "reject"


class RateLimit(Struct, frozen=True):
    """A token bucket for prompts."""

    per_minute: float
    burst: Annotated[PositiveCount, "Prompts that may come at once."] = 1

    def __post_init__(self) -> None:
        check_fields(self)
        if not 0 < self.per_minute < math.inf:
            raise SettingsError(f"per_minute must be above 0 and finite; got {self.per_minute!r}")


class Budget(Struct, frozen=True, kw_only=True):
    """What an avatar, or a runtime, may spend in its life. None: no limit."""

    cost_usd: Annotated[Amount, "Dollars."] | None = None
    tokens: Annotated[Count, "Tokens: input, cached and output."] | None = None
    turns: Annotated[Count, "Prompts."] | None = None
    warn_at: Annotated[Share, "The share that causes a warning."] = 0.8
    reserve_usd: Amount | None = None
    """What a turn reserves while it runs. None: as much as the most expensive turn so far."""

    def __post_init__(self) -> None:
        check_fields(self)


class Restarts(Struct, frozen=True, kw_only=True):
    """How a crashed session is restarted: the first time at once, then after growing pauses."""

    auto_restart: bool = True
    max_restarts: Count = 5
    period: Annotated[Seconds, "The time in which restarts are counted."] = 60.0
    first_delay: Annotated[Seconds, "The pause before the second one."] = 0.001
    factor: Annotated[float, Meta(ge=1), "By how much the pause grows."] = 8.0
    max_delay: Annotated[Pause, "The longest pause."] = 30.0

    def __post_init__(self) -> None:
        check_fields(self)


class Retry(Struct, frozen=True, kw_only=True):
    """How often a start, or a prompt that the model's API refused for now, is tried.

    A prompt is only sent again if this says so, and each time an event tells it.
    """

    max_attempts: Annotated[PositiveCount, "Attempts, the first included."] = 1
    backoff_base: Annotated[Pause, "The first pause; it doubles."] = 1.0
    max_delay: Annotated[Pause, "The longest pause."] = 60.0

    def __post_init__(self) -> None:
        check_fields(self)
        if math.inf in {self.backoff_base, self.max_delay}:
            raise SettingsError(f"retry needs finite pauses; got {self}")


class Timeouts(Struct, frozen=True, kw_only=True):
    """Limits of time, in seconds. `turn` and `permission` may be math.inf."""

    start: Annotated[Seconds, "Until the agent takes prompts."] = 60.0
    turn: Annotated[SecondsOrNone, "A turn; the same as `timeout`."] = math.inf
    interrupt: Annotated[Seconds, "An agent that ignores an interrupt so long is restarted."] = 5.0
    stop: Annotated[Seconds, "Between SIGTERM and SIGKILL."] = 2.0
    permission: Annotated[SecondsOrNone, "An unanswered question is denied."] = math.inf
    stall_warning: Annotated[Seconds, "Silence that causes a warning."] = 30.0
    stall_alarm: Annotated[Seconds, "Silence that causes an alarm."] = 60.0
    health_check_interval: Annotated[Seconds, "How often the agent's health is checked."] = 5.0

    def __post_init__(self) -> None:
        check_fields(self)
        if math.inf in {self.start, self.interrupt, self.stop}:
            raise SettingsError("timeouts.start, interrupt and stop must be finite")


_Name = Annotated[str, Checked(NAME, is_name), Scope.PROVIDER]
_PRIORITIES = ("low", "normal")


class AvatarSettings(Struct, frozen=True, kw_only=True):
    """Everything about one avatar except its provider and its name."""

    working_dir: Annotated[Path, "The agent's directory; empty: the current one."] = Path()
    system_prompt: Annotated[str, "Instructions that precede every prompt."] = ""
    max_history: Annotated[Count, "Messages that the history keeps."] = 200
    max_history_bytes: Annotated[Count, "Memory for their texts; the latest pair always fits."] = (
        64 * 1024
    )
    timeouts: Annotated[Timeouts, "Limits of time."] = Timeouts()
    permissions: Annotated[PermissionMode, "Who decides about tools."] = PermissionMode.ASK
    while_busy: Annotated[WhileBusy, "What happens to a prompt that comes during a turn."] = (
        WhileBusy.QUEUE
    )
    retry: Annotated[Retry, "How starts, and prompts refused for now, are tried again."] = Retry()
    mcp_servers: Annotated[tuple[McpServer, ...], "MCP servers by name."] = ()
    max_line: Annotated[PositiveCount, "Bytes of an agent's longest message."] = 64 * 1024 * 1024
    max_answer: Annotated[PositiveCount, "Characters of an answer that are kept."] = (
        16 * 1024 * 1024
    )
    priority: Annotated[
        str, OneOf(_PRIORITIES), "Low: the agent gets the CPU time that other programs leave."
    ] = "low"
    model: Annotated[_Name, "Empty: the agent's own."] = ""
    mode: Annotated[_Name, "A mode, by the agent's own name for it."] = ""
    env: Annotated[dict[str, str], Scope.PROVIDER, "Variables for the agent, as its keys."] = {}
    executable: Annotated[
        str, Written.PROGRAM, Scope.COMMAND, "Instead of the provider's program."
    ] = ""
    args: Annotated[tuple[str, ...], Scope.COMMAND, "Further arguments."] = ()
    url: Annotated[str, Written.INTERPOLATED, Scope.REMOTE, "A remote agent."] = ""
    headers: Annotated[dict[str, str], Scope.REMOTE, "Sent to the URL, as a token."] = {}
    options: dict[str, str] = {}
    """The provider's own options."""
    resume: str = ""
    """The session to continue."""
    continue_last: bool = False
    """Whether to continue the directory's last session."""
    fork: str = ""
    """The session to continue as a copy."""
    output_schema: JsonObject | None = None
    """The JSON Schema of every answer."""
    tools: ToolPolicy = ToolPolicy()
    rate_limit: RateLimit | None = None
    budget: Budget = Budget()
    prices: dict[str, Price] = {}
    """What the tokens of a model cost, for agents that do not say it."""
    restarts: Restarts = Restarts()
    permission_handler: PermissionHandler | None = None
    """Decides in ask mode; the option `permissions` takes it."""
    question_handler: QuestionHandler | None = None
    """Answers the model's questions; the option `questions`."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.fork and self.resume:
            raise SettingsError("resume goes on with a session, fork with a copy: give one of them")
        _check_texts(self)

    def __repr__(self) -> str:
        # Only what differs from the defaults, and no values that may be secret.
        given = {
            name: sorted(value) if name in {"env", "headers"} else value
            for name, value in msgspec.structs.asdict(self).items()
            if value != getattr(_DEFAULTS, name)
        }
        if "url" in given:
            given["url"] = self.url.partition("?")[0]
        return f"AvatarSettings({', '.join(f'{name}={given[name]!r}' for name in given)})"


def _check_texts(settings: AvatarSettings) -> None:
    """Refuse now what would reach a command line, a variable or a file of the agent and cannot."""
    check_name("model", settings.model)
    check_name("mode", settings.mode)
    for name, session_id in (("resume", settings.resume), ("fork", settings.fork)):
        if session_id:
            check_session_id(session_id, name)
    check_word("executable", settings.executable)
    for word in settings.args:
        check_word("args", word)
    check_environment(settings.env)
    for server in settings.mcp_servers:
        check_environment(server.env)
    for name in (
        "system_prompt",
        "options",
        "url",
        "headers",
        "mcp_servers",
        "output_schema",
        "tools",
    ):
        for text in strings_in(getattr(settings, name)):
            check_text(name, text)


_DEFAULTS = AvatarSettings()


PermissionWord: TypeAlias = Literal["safe", "ask", "unrestricted"]
WhileBusyWord: TypeAlias = Literal["queue", "interrupt", "steer", "reject"]


class SharedOptions(TypedDict, total=False):
    """The keyword arguments that `open_avatar` and `AvatarEngine` share; see AvatarSettings."""

    system_prompt: str
    mode: str
    mcp_servers: Sequence[McpServer]
    env: Mapping[str, str]
    executable: str
    args: Sequence[str]
    options: dict[str, str]
    url: str
    headers: Mapping[str, str]
    resume: str
    continue_last: bool
    fork: str
    output_schema: JsonObject | None
    permissions: PermissionMode | PermissionWord | PermissionHandler
    questions: QuestionHandler | None
    tools: ToolPolicy
    while_busy: WhileBusy | WhileBusyWord
    rate_limit: RateLimit | None
    budget: Budget
    prices: dict[str, Price]
    restarts: Restarts
    retry: Retry
    timeouts: Timeouts
    max_history: Count
    max_history_bytes: Count
    max_line: PositiveCount
    max_answer: PositiveCount
    priority: Literal["low", "normal"]


class AvatarOptions(SharedOptions, total=False):
    """The keyword arguments of `open_avatar`; see AvatarSettings for their meaning."""

    working_dir: FilePath
    model: str


class PromptOptions(TypedDict, total=False):
    """What can be said with a prompt; where it is not, the avatar's settings hold."""

    attachments: Sequence[Attachment]
    context: JsonObject
    schema: JsonObject | None
    while_busy: WhileBusy | WhileBusyWord | None
    timeout: Seconds | None
    raw_events: bool


def absolute_path(path: str | Path) -> Path:
    """The path from the root; SettingsError for a relative one in a directory that is gone."""
    try:
        return Path(path).absolute()
    except OSError as error:
        raise SettingsError("the current directory is gone; change to another one") from error


def settings_from(options: AvatarOptions) -> AvatarSettings:
    """The settings that these keyword arguments mean, checked."""
    unknown = set(options) - set(AvatarOptions.__annotations__)
    if unknown:
        known = ", ".join(sorted(AvatarOptions.__annotations__))
        raise SettingsError(f"unknown option {min(unknown)!r}; there are: {known}")
    settings = msgspec.structs.replace(AvatarSettings(), **handlers_apart(options))
    working_dir = absolute_path(settings.working_dir)
    # Not `is_dir`, which lets out what it thinks of a name that is too long.
    if not os.path.isdir(working_dir):  # noqa: PTH112
        shown = f"{str(working_dir)!r:.500}"
        raise SettingsError(f"working_dir {shown} is not a directory; create it first")
    return msgspec.structs.replace(settings, working_dir=working_dir)


_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_LAST_PORT = 65535
_URL_PATH = Checked("a path that begins with a slash", lambda text: text.startswith("/"))


class ProviderType(StrEnum):
    """The names of the providers that come along."""

    GEMINI = "gemini"
    CLAUDE = "claude"
    CODEX = "codex"
    ACP = "acp"
    CLAUDE_AGENT_ACP = "claude-agent-acp"
    OPENCODE = "opencode"
    QWEN = "qwen"
    EMBEDDED = "embedded"


class LogSettings(Struct, frozen=True, kw_only=True):
    """Where and how the package's own loggers write."""

    level: Annotated[str, OneOf(_LEVELS), "The lowest level."] = "INFO"
    file: Annotated[Path, "Empty: to stderr."] | None = None
    format: Annotated[str, LOG_FORMAT, "One line, as Python's logging writes it."] = (
        "%(asctime)s - %(name)s - %(levelname)s - %(message)s"
    )
    max_bytes: Annotated[Count, "A longer file is rotated; 0: never."] = 10 * 1024 * 1024
    backup_count: Annotated[Count, "How many old files are kept."] = 3

    def __post_init__(self) -> None:
        # First the format, since of this more can be said than that it is wrong.
        if wrong := wrong_with_format(self.format):
            words = f"log.format {self.format[:100]!r} is not a format of logging: {wrong}"
            raise SettingsError(f"{words}; as in %(asctime)s %(levelname)s %(message)s")
        check_fields(self, "log.")


class MetricsKind(Enum):
    """Who collects the metrics."""

    PROMETHEUS = "prometheus"
    OPENTELEMETRY = "opentelemetry"


class MetricsSettings(Struct, frozen=True, kw_only=True):
    """How metrics are offered."""

    kind: MetricsKind = MetricsKind.PROMETHEUS
    host: Annotated[str, "The endpoint's address."] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=_LAST_PORT), "The endpoint's port; 0: any."] | None = 9090
    """None opens no endpoint."""
    endpoint: Annotated[str, _URL_PATH, "The endpoint's path."] = "/metrics"
    registry: object = None
    """The host's CollectorRegistry of prometheus_client; the runtime makes its own otherwise."""

    def __post_init__(self) -> None:
        check_fields(self, "metrics.")


class RuntimeOptions(TypedDict, total=False):
    """The keyword arguments of `open_runtime`: what all its avatars share, and who looks on."""

    max_avatars: PositiveCount | None
    budget: Budget
    log: LogSettings | None
    metrics: MetricsSettings | None
    observable: bool
