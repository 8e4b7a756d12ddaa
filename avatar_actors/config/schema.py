"""The whole table of keys, and the JSON Schema of it for editors."""

from __future__ import annotations

from typing import Final

from avatar_actors.config import provider_sections
from avatar_actors.config.avatar_sections import DOLLARS, RATE_LIMIT, SHARE, SHARED
from avatar_actors.config.keys import Key, Meaning, Meanings, Section
from avatar_actors.config.kinds import Checked, FilePath, Flag, OneOf, Text, Whole
from avatar_actors.model.settings import MetricsKind, wrong_with_format
from avatar_actors.model.values import JsonObject

LEVELS: Final = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


_FORMAT: Final = Checked(
    "a format of Python's logging, as %(message)s", lambda text: not wrong_with_format(text)
)
_PATH: Final = Checked("a path that begins with a slash", lambda text: text.startswith("/"))
_LOGGING: Final = Section((
    Key("level", OneOf(LEVELS), "log.level", "From which level on: `INFO`."),
    Key("file", FilePath(), "log.file", "Empty: to stderr."),
    Key("format", _FORMAT, "log.format", "A line, in the words of Python's logging."),
    Key("max_bytes", Whole(), "log.max_bytes", "A longer file is turned over; 0: never."),
    Key("backup_count", Whole(), "log.backup_count", "How many old files are kept."),
))  # fmt: skip
_COLLECTORS: Final = {kind.value: Meaning({"metrics.kind": kind}) for kind in MetricsKind}
_METRICS: Final = Section((
    Key("enabled", Flag(), "metrics.enabled", "Off without taking the section out."),
    Key("type", Meanings(_COLLECTORS), "", "Who collects."),
    Key("host", Text(), "metrics.host", "Where the endpoint is offered: loopback."),
    Key("port", Whole(most=65535), "metrics.port", "Its port: 9090; 0: any."),
    Key("endpoint", _PATH, "metrics.endpoint", "Its path: `/metrics`."),
))  # fmt: skip
_BUDGET: Final = Section((
    Key("cost_usd", DOLLARS, "budget.cost_usd", "Dollars."),
    Key("tokens", Whole(), "budget.tokens", "Tokens, cached ones included."),
    Key("turns", Whole(), "budget.turns", "Prompts."),
    Key("warn_at", SHARE, "budget.warn_at", "The share at which there is a warning: 0.8."),
))  # fmt: skip
_RUNTIME: Final = Section((
    Key("max_avatars", Whole(least=1), "max_avatars", "How many may be up at once."),
    Key("observable", Flag(), "observable", "Your other programs, as `avatar tree`, may watch."),
))  # fmt: skip

ROOT: Final = Section((
    Key("provider", Text(), "provider", "The agent: a name of those below; `embedded`."),
    Key("engine", Section(SHARED), "", "What holds for every avatar."),
    Key("claude", provider_sections.CLAUDE, "", "Claude Code."),
    Key("gemini", provider_sections.GEMINI, "", "Gemini CLI."),
    Key("codex", provider_sections.CODEX, "", "Codex, by an ACP adapter."),
    Key("acp", provider_sections.ACP, "", "Any ACP agent, by its command or URL."),
    Key("embedded", provider_sections.EMBEDDED, "", "The agent that comes along."),
    Key("providers", provider_sections.OWN, "providers", "ACP agents of your own, by name."),
    Key("rate_limit", RATE_LIMIT, "rate_limit.enabled", "How many prompts an avatar takes."),
    Key("budget", _BUDGET, "", "What all avatars together may spend."),
    Key("runtime", _RUNTIME, "", "Limits of the whole."),
    Key("logging", _LOGGING, "log.enabled", "Where the package's own loggers write."),
    Key("metrics", _METRICS, "metrics.enabled", "How metrics are offered."),
))  # fmt: skip
HOST_SECTIONS: Final = ("budget", "runtime", "logging", "metrics")


def config_schema() -> JsonObject:
    """A JSON Schema (2020-12) of the configuration file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration of avatar-actors",
        **ROOT.schema(),
    }
