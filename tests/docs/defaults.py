"""The reference's tables of settings and their defaults, made from the declarations.

`python -m tests.docs.defaults` writes them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import Enum
from typing import Any, get_args, get_type_hints

import msgspec

from avatar_actors import Budget, LogSettings, MetricsSettings, RateLimit, Restarts, Retry, Timeouts
from tests.docs.test_snippets import ROOT

PAGE = ROOT / "docs" / "avatars" / "reference.md"
BEGIN, END = "<!-- defaults: begin -->\n", "<!-- defaults: end -->\n"
SETTINGS: tuple[type[msgspec.Struct], ...] = (
    *(Timeouts, Restarts, Retry, RateLimit, Budget, LogSettings, MetricsSettings),
)
# Where the declaration has no words of its own, since a configuration says it otherwise.
WORDS = {
    "Restarts.auto_restart": "Whether a crashed agent is restarted.",
    "Restarts.max_restarts": "How often, within `period`.",
    "RateLimit.per_minute": "Prompts per minute.",
    "Budget.reserve_usd": "What a turn reserves; None: as much as the most expensive so far.",
    "MetricsSettings.kind": "`PROMETHEUS` or `OPENTELEMETRY`.",
    "MetricsSettings.registry": "A `CollectorRegistry` of your own.",
}


def tables() -> str:
    """One table for each kind of settings."""
    return "\n".join(map(_table, SETTINGS))


def _table(kind: type[msgspec.Struct]) -> str:
    head = f"| `{kind.__name__}` | default | |\n|---|---|---|\n"
    return head + "".join(f"{row}\n" for row in _rows(kind))


def _rows(kind: type[msgspec.Struct]) -> Iterator[str]:
    hints = get_type_hints(kind, include_extras=True)
    for field in msgspec.structs.fields(kind):
        name = f"{kind.__name__}.{field.name}"
        words = WORDS.get(name) or " ".join(_words(hints[field.name]))
        if not words:
            raise SystemExit(f"{name} has no words: add them to its declaration, or to WORDS here")
        yield f"| `{field.name}` | {_shown(field.default)} | {words} |"


def _words(hint: Any) -> Iterator[str]:
    """The sentences in the annotations, wherever they stand."""
    for part in getattr(hint, "__metadata__", ()):
        if isinstance(part, str):
            yield part
    for part in get_args(hint):
        if not isinstance(part, str):
            yield from _words(part)


def _shown(default: object) -> str:
    if default is msgspec.NODEFAULT:
        return "must be given"
    if isinstance(default, Enum):
        return f"`{default.name}`"
    if default == math.inf:
        return "∞"
    if isinstance(default, float):
        return f"{default:g}"
    return f"`{default}`" if isinstance(default, str) else str(default)


def main() -> None:
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{tables()}\n{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    main()
