"""What a host wishes beyond its avatars: the log, the metrics, the limits of the whole runtime."""

from __future__ import annotations

from enum import Enum, StrEnum
from pathlib import Path
from typing import TypedDict

from msgspec import Struct

from avatar_actors.settings import Budget


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


class MetricsKind(Enum):
    """Who collects the metrics."""

    PROMETHEUS = "prometheus"
    OPENTELEMETRY = "opentelemetry"


class MetricsSettings(Struct, frozen=True, kw_only=True):
    """How metrics are offered; the Prometheus endpoint is on loopback unless told otherwise."""

    kind: MetricsKind = MetricsKind.PROMETHEUS
    host: str = "127.0.0.1"
    port: int = 9090
    endpoint: str = "/metrics"


class RuntimeOptions(TypedDict, total=False):
    """The keyword arguments of `open_runtime`: what all its avatars share, and who looks on."""

    max_avatars: int | None
    budget: Budget
    log: LogSettings | None
    metrics: MetricsSettings | None
