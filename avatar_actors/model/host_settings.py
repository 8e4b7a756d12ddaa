"""What a host wishes beyond its avatars: the log, the metrics, the limits of the whole runtime."""

from __future__ import annotations

import logging
import re
from enum import Enum, StrEnum
from pathlib import Path
from typing import TypedDict

from msgspec import Struct

from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import Budget

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
