"""What a host wishes beyond its avatars: the log, the metrics, the limits of the whole runtime."""

from __future__ import annotations

import logging
from enum import Enum, StrEnum
from pathlib import Path
from typing import TypedDict

from msgspec import Struct

from avatar_actors.errors import SettingsError
from avatar_actors.settings import Budget

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_LAST_PORT = 65535


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
        try:
            logging.Formatter(self.format).format(logging.makeLogRecord({}))
        except (ValueError, KeyError, TypeError) as error:
            words = f"log.format {self.format!r} is no format of logging: {error}"
            raise SettingsError(f"{words}; as in %(asctime)s %(levelname)s %(message)s") from error


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
