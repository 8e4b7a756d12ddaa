"""Where the effect of a key is to be seen."""

import json
from collections.abc import Callable
from typing import Any

from avatar_actors.model.settings import PermissionMode
from tests.config.seen import Seen
from tests.providers.flags import value_of

Probe = Callable[[Seen], object]
Row = tuple[str, str, Probe, object]


def setting(path: str) -> Probe:
    """Looks at a field of the avatar's settings."""

    def probe(it: Seen) -> object:
        value: Any = it.settings
        for name in path.split("."):
            value = getattr(value, name)
        return value

    return probe


def flag(name: str) -> Probe:
    """Looks at the value of a flag."""
    return lambda it: value_of(it.plan.argv, name)


def host(option: str, field: str) -> Probe:
    """Looks at a field of the runtime's options."""

    def probe(it: Seen) -> object:
        options: Any = it.config.runtime
        return getattr(options[option], field)

    return probe


def generation(field: str) -> Probe:
    return lambda it: it.generation()[field]


def codex_config(it: Seen) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(it.plan.env["CODEX_CONFIG"])
    return found


def program(it: Seen) -> str:
    return it.plan.argv[0]


def last(it: Seen) -> str:
    return it.plan.argv[-1]


def verdicts(it: Seen) -> list[bool | None]:
    return [it.settings.tools.verdict(name, {}) for name in ("Read", "mcp__a__b", "Bash")]


def mode(it: Seen) -> tuple[PermissionMode, str]:
    return it.settings.permissions, it.settings.mode


def nested(key: str, value: str) -> str:
    """The key with its value as a line of YAML; gemini's options belong to a model."""
    for name in reversed(key.split(".")):
        model = "model: m, " if name == "gemini" and "gemini.model" not in key else ""
        value = f"{{{model}{name}: {value}}}" if not model else f"{{gemini: {{{model}{value[1:]}}}"
    return value
