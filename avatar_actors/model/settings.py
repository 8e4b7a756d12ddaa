"""How an avatar and its runtime are set up: frozen settings, and checks that refuse bad ones."""

from __future__ import annotations

import logging
import math
import re
import sys
from collections.abc import Iterator, Sequence
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any, TypedDict

import msgspec
from msgspec import Struct

from avatar_actors.model.command_line import (
    check_environment,
    check_name,
    check_session_id,
    check_text,
    check_word,
)
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.prices import Price
from avatar_actors.model.tool_policy import ToolPolicy
from avatar_actors.model.values import Attachment, JsonObject, McpServer

_MOMENT = 0.001


def _check_numbers(settings: Struct, *, least: float) -> None:
    for name in settings.__struct_fields__:
        value: object = getattr(settings, name)
        if isinstance(value, int | float) and not value >= least:
            raise SettingsError(f"{name} must be at least {least:g}; got {value!r}")
        if isinstance(value, int) and value > sys.float_info.max:
            raise SettingsError(f"{name} is larger than any number that can be counted with")


class PermissionMode(Enum):
    """Who decides about a tool: nobody needs to (SAFE: only looking), the host, or the agent."""

    SAFE = "safe"
    ASK = "ask"
    UNRESTRICTED = "unrestricted"


class WhileBusy(Enum):
    """What happens to a prompt that comes during a turn."""

    QUEUE = "queue"
    INTERRUPT = "interrupt"
    STEER = "steer"
    REJECT = "reject"


class RateLimit(Struct, frozen=True):
    """A token bucket: so many prompts a minute, so many at once."""

    per_minute: float
    burst: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.per_minute < math.inf or self.burst < 1:
            raise SettingsError(f"rate limit needs per_minute > 0 and burst ≥ 1; got {self}")


class Budget(Struct, frozen=True, kw_only=True):
    """What an avatar, or a runtime, may spend in its life. None: no limit.

    `tokens` are input, cached and output together, as `Usage.tokens`.
    `reserve_usd` is what a turn holds back for itself while it runs; None: as much as the dearest
    turn so far.
    """

    cost_usd: float | None = None
    tokens: int | None = None
    turns: int | None = None
    warn_at: float = 0.8
    reserve_usd: float | None = None

    def __post_init__(self) -> None:
        _check_numbers(self, least=0)


class Restarts(Struct, frozen=True, kw_only=True):
    """How a crashed session comes back: the first time at once, then with growing pauses."""

    auto_restart: bool = True
    max_restarts: int = 5
    period: float = 60.0
    first_delay: float = 0.001
    factor: float = 8.0
    max_delay: float = 30.0

    def __post_init__(self) -> None:
        _check_numbers(self, least=0)
        if self.factor < 1 or self.first_delay < _MOMENT or self.period < _MOMENT:
            raise SettingsError(f"restarts need factor ≥ 1, first_delay and period > 0; got {self}")


class Retry(Struct, frozen=True, kw_only=True):
    """How often a start, or a prompt that the model's API refused for now, is tried in all.

    The pauses grow from `backoff_base` seconds, twofold, up to `max_delay`. One attempt is the
    default: a prompt is only sent again by this choice, and each time an event says so.
    """

    max_attempts: int = 1
    backoff_base: float = 1.0
    max_delay: float = 60.0

    def __post_init__(self) -> None:
        _check_numbers(self, least=0)
        if self.max_attempts < 1 or math.inf in {self.backoff_base, self.max_delay}:
            raise SettingsError(f"retry needs max_attempts ≥ 1 and finite pauses; got {self}")


class Timeouts(Struct, frozen=True, kw_only=True):
    """Seconds. `turn` and `permission` may be math.inf; after `interrupt` an agent is restarted."""

    start: float = 60.0
    turn: float = math.inf
    interrupt: float = 5.0
    stop: float = 2.0
    permission: float = math.inf
    stall_warning: float = 30.0
    stall_alarm: float = 60.0
    health_check_interval: float = 5.0

    def __post_init__(self) -> None:
        _check_numbers(self, least=_MOMENT)
        if math.inf in {self.start, self.interrupt, self.stop}:
            raise SettingsError("timeouts.start, interrupt and stop must be finite")


class AvatarSettings(Struct, frozen=True, kw_only=True):
    """Everything about one avatar except its provider and its name."""

    working_dir: Path = Path()
    model: str = ""
    system_prompt: str = ""
    mode: str = ""
    mcp_servers: tuple[McpServer, ...] = ()
    env: dict[str, str] = {}
    executable: str = ""
    args: tuple[str, ...] = ()
    options: dict[str, str] = {}
    url: str = ""
    headers: dict[str, str] = {}
    resume: str = ""
    continue_last: bool = False
    fork: str = ""
    output_schema: JsonObject | None = None
    permissions: PermissionMode = PermissionMode.ASK
    tools: ToolPolicy = ToolPolicy()
    while_busy: WhileBusy = WhileBusy.QUEUE
    rate_limit: RateLimit | None = None
    budget: Budget = Budget()
    prices: dict[str, Price] = {}
    restarts: Restarts = Restarts()
    retry: Retry = Retry()
    timeouts: Timeouts = Timeouts()
    max_history: int = 200
    max_line: int = 64 * 1024 * 1024
    max_answer: int = 16 * 1024 * 1024

    def __post_init__(self) -> None:
        if self.max_history < 0 or self.max_line < 1 or self.max_answer < 1:
            raise SettingsError("max_history is at least 0, max_line and max_answer are at least 1")
        if self.fork and self.resume:
            raise SettingsError("resume goes on with a session, fork with a copy: give one of them")
        _check_texts(self)

    def __repr__(self) -> str:
        # Only what was wished, and no values that may be secret.
        wished = {
            name: sorted(value) if name in {"env", "headers"} else value
            for name, value in msgspec.structs.asdict(self).items()
            if value != getattr(_DEFAULTS, name)
        }
        if "url" in wished:
            wished["url"] = self.url.partition("?")[0]
        return f"AvatarSettings({', '.join(f'{name}={wished[name]!r}' for name in wished)})"


def _check_texts(settings: AvatarSettings) -> None:
    """Refuse now what would reach a command line, a variable or a file of the agent and cannot."""
    check_name("model", settings.model)
    check_name("mode", settings.mode)
    for session_id in filter(None, (settings.resume, settings.fork)):
        check_session_id(session_id)
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
        for text in _strings(getattr(settings, name)):
            check_text(name, text)


def _strings(value: object) -> Iterator[str]:
    """Every text inside of a value, however deep."""
    waiting: list[Any] = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, Struct):
            waiting += msgspec.structs.astuple(part)
        elif isinstance(part, dict):
            waiting += [*part, *part.values()]
        elif isinstance(part, list | tuple):
            waiting += part


_DEFAULTS = AvatarSettings()


class SharedOptions(TypedDict, total=False):
    """The keyword arguments that `open_avatar` and `AvatarEngine` share; see AvatarSettings."""

    system_prompt: str
    mode: str
    mcp_servers: tuple[McpServer, ...]
    env: dict[str, str]
    executable: str
    args: tuple[str, ...]
    options: dict[str, str]
    url: str
    headers: dict[str, str]
    resume: str
    continue_last: bool
    fork: str
    output_schema: JsonObject | None
    permissions: PermissionMode
    tools: ToolPolicy
    while_busy: WhileBusy
    rate_limit: RateLimit | None
    budget: Budget
    prices: dict[str, Price]
    restarts: Restarts
    retry: Retry
    timeouts: Timeouts
    max_history: int
    max_line: int
    max_answer: int


class AvatarOptions(SharedOptions, total=False):
    """The keyword arguments of `open_avatar`; see AvatarSettings for their meaning."""

    working_dir: str | Path
    model: str


class PromptOptions(TypedDict, total=False):
    """What can be said with a prompt; where it is not, the avatar's settings hold."""

    attachments: Sequence[Attachment]
    context: JsonObject
    schema: JsonObject | None
    while_busy: WhileBusy | None
    timeout: float | None


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
    settings = msgspec.structs.replace(AvatarSettings(), **options)
    working_dir = absolute_path(settings.working_dir)
    if not working_dir.is_dir():
        raise SettingsError(f"working_dir {str(working_dir)!r} is not a directory; create it first")
    return msgspec.structs.replace(settings, working_dir=working_dir)


_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_LAST_PORT = 65535
_LONGEST_FORMAT = 1000
# A width, or a precision, of gigabytes would be written out in full with each line.
_WIDE = re.compile(r"%\([^)]*\)[^%a-zA-Z]*[0-9]{4}")


class ProviderType(StrEnum):
    """The names of the providers that come along."""

    GEMINI = "gemini"
    CLAUDE = "claude"
    CODEX = "codex"
    ACP = "acp"
    EMBEDDED = "embedded"


class LogSettings(Struct, frozen=True, kw_only=True):
    """Where the package's own loggers write. Without a file: to stderr."""

    level: str = "INFO"
    file: Path | None = None
    format: str = "%(asctime)s - %(name)s - %(levelname)s - %(message)s"
    max_bytes: int = 10 * 1024 * 1024
    backup_count: int = 3

    def __post_init__(self) -> None:
        if self.level.upper() not in _LEVELS:
            known = ", ".join(_LEVELS)
            raise SettingsError(f"log.level must be one of {known}; got {self.level!r}")
        if self.max_bytes < 0 or self.backup_count < 0:
            raise SettingsError("log.max_bytes and log.backup_count must be at least 0")
        if wrong := wrong_with_format(self.format):
            words = f"log.format {self.format[:100]!r} is no format of logging: {wrong}"
            raise SettingsError(f"{words}; as in %(asctime)s %(levelname)s %(message)s")


def wrong_with_format(text: str) -> str:
    """Why this is no format for lines of a log; else nothing."""
    if len(text) > _LONGEST_FORMAT or "\0" in text:
        return f"it has more than {_LONGEST_FORMAT} characters, or a NUL"
    if _WIDE.search(text):
        return "a field is wider than 999 characters"
    try:
        logging.Formatter(text).format(logging.makeLogRecord({}))
    except (ValueError, KeyError, TypeError) as error:
        return str(error) or type(error).__name__
    return ""


class MetricsKind(Enum):
    """Who collects the metrics."""

    PROMETHEUS = "prometheus"
    OPENTELEMETRY = "opentelemetry"


class MetricsSettings(Struct, frozen=True, kw_only=True):
    """How metrics are offered; the Prometheus endpoint is on loopback unless told otherwise.

    `port` 0 picks a free one, None opens no endpoint. `registry` is a CollectorRegistry of
    prometheus_client that the host has already; without one the runtime makes its own.
    """

    kind: MetricsKind = MetricsKind.PROMETHEUS
    host: str = "127.0.0.1"
    port: int | None = 9090
    endpoint: str = "/metrics"
    registry: object = None

    def __post_init__(self) -> None:
        if self.port is not None and not 0 <= self.port <= _LAST_PORT:
            raise SettingsError(f"metrics.port must be 0 to {_LAST_PORT}; got {self.port!r}")
        if not self.endpoint.startswith("/"):
            raise SettingsError(f"metrics.endpoint must begin with '/'; got {self.endpoint!r}")


class RuntimeOptions(TypedDict, total=False):
    """The keyword arguments of `open_runtime`: what all its avatars share, and who looks on."""

    max_avatars: int | None
    budget: Budget
    log: LogSettings | None
    metrics: MetricsSettings | None
    observable: bool
