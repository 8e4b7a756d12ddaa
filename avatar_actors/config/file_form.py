"""Writes a configuration in the form of its file: what is set and where, and the defaults."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from avatar_actors.config.keys import Key, Means, Named, RemovedKey, Section
from avatar_actors.config.nodes import Items, MappingNode, Node, Scalar
from avatar_actors.config.sections import EVERY_AVATAR, ROOT, WITH_COMMAND
from avatar_actors.config.show import shown_values
from avatar_actors.model.fields import NO_LIMIT
from avatar_actors.model.settings import (
    AvatarSettings,
    Budget,
    LogSettings,
    MetricsSettings,
    RateLimit,
)
from avatar_actors.wire.json_values import is_object

# The sections whose defaults are shown: they hold for every avatar, or for the whole program.
WITH_DEFAULTS: Final = ("engine", "rate_limit", "budget", "runtime", "logging", "metrics")
_PROVIDERS: Final = ("claude", "gemini", "codex", "acp")
_OWN_AGENT: Final = ("command", "args", "install", "passes", "env", "url", "headers", "options")
_LEFT_OUT: Final = ("embedded",)
_COLUMN: Final = 36
_PLAIN: Final = re.compile(r"[A-Za-z_/.~$][^\s:#,\[\]{}\"'&*!|>@`]*(?: [^\s:#,\[\]{}\"'&*!|>@`]+)*")
_NOT_TEXT: Final = frozenset(("true", "false", "null", ".inf", ".nan", "~"))
_HEAD: Final = """\
# The configuration of avatar-actors. Every line is optional: what stands here are the defaults.
# To change a value, remove the `#` in front of it and of its section, then: avatar config check
# docs/avatars/configuration.md has every key; `avatar config schema` helps editors.
"""

Given = Mapping[str, Node]
Remark = Callable[[Key, "Node | None"], str]


class Default(Struct, frozen=True):
    """The value of a setting that nobody set; None: there is none."""

    value: object


_GROUPS: Final[dict[str, Struct]] = {
    "rate_limit": RateLimit(per_minute=60.0),
    "budget": Budget(),
    "log": LogSettings(),
    "metrics": MetricsSettings(),
}


def default_of(key: Key) -> Default:
    """What the setting of this key is by default; of an agent's own option nothing is known."""
    if isinstance(key.kind, Section | Named) or key.note(Means) is not None:
        return Default(None)
    head, _, field = key.targets[0].partition(".")
    settings = AvatarSettings()
    group: object = _GROUPS.get(head, getattr(settings, head, None))
    return Default(_plain(getattr(group, field, None) if field else group))


def _plain(value: object) -> object:
    """The value as the file writes it."""
    match value:
        case Enum():
            return value.value
        case Path():
            return "" if value == Path() else str(value)
        case float() if math.isinf(value):
            return NO_LIMIT
        case float() if value.is_integer():
            return int(value)
        case tuple():
            return list(msgspec.convert(value, tuple[object, ...]))
        case _:
            return value


def settings_text(given: MappingNode, environ: Mapping[str, str]) -> str:
    """What is set, each with its place, and the defaults of every avatar and of the program."""

    def place(key: Key, node: Node | None) -> str:
        if node is None:
            return "not set" if default_of(key).value is None else "default"
        spot = node.spot
        return f"{spot.source.name}:{spot.line}" if spot.line else spot.source.name

    hidden = shown_values(_value(given), environ)
    shown = hidden if is_object(hidden) else {}
    return _text(_section_lines(ROOT, _Present(given.nodes, shown), "", place))


def template() -> str:
    """A file to start from: every line is a comment."""
    known = WITH_COMMAND
    lines = [_line("# provider: claude", "or gemini, codex, …; not set: the first that is ready")]
    for name, key in ROOT.keys.items():
        keys = key.kind.keys if isinstance(key.kind, Section) else {}
        indent = "  "
        if name in _PROVIDERS:
            keys = {each: own for each, own in keys.items() if known.get(each) != own}
        if isinstance(key.kind, Named):
            keys = {each: own for each, own in key.kind.each.keys.items() if each in _OWN_AGENT}
            indent = "    "
        if name == "claude":
            common = {each: one for each, one in known.items() if EVERY_AVATAR.get(each) != one}
            keys = {**common, **keys}
        if keys and name not in _LEFT_OUT:
            head = [f"# {name}:", "#   my-agent:"] if indent != "  " else [f"# {name}:"]
            lines += ["", f"# {key.about()}", *head]
            lines += _key_lines(
                Section(keys), _Present({}, {}), indent, lambda each, _: each.about()
            )
    return _HEAD + _text(lines)


class _Present(Struct, frozen=True):
    """What stands in a section: the nodes, and their values without secrets."""

    nodes: Given
    values: Mapping[str, object]

    def below(self, name: str) -> _Present:
        """What stands under this key."""
        node, value = self.nodes.get(name), self.values.get(name)
        nodes = node.nodes if isinstance(node, MappingNode) else {}
        return _Present(nodes, value if is_object(value) else {})


def _section_lines(
    section: Section, present: _Present, indent: str, remark: Remark
) -> Iterator[str]:
    for key in section.keys.values():
        if key.name not in present.nodes and key.name not in WITH_DEFAULTS:
            continue
        below = present.below(key.name)
        if isinstance(key.kind, Section):
            yield f"{indent}{key.name}:" if below.nodes else f"# {indent}{key.name}:"
            shown = key.kind if key.name in WITH_DEFAULTS else _only(key.kind, below.nodes)
            yield from _key_lines(shown, below, f"{indent}  ", remark)
        elif isinstance(key.kind, Named):
            yield f"{indent}{key.name}:"
            yield from _named_lines(key.kind, below, f"{indent}  ", remark)
        else:
            yield from _key_lines(Section({key.name: key}), present, indent, remark)


def _only(section: Section, nodes: Given) -> Section:
    return Section({name: key for name, key in section.keys.items() if name in nodes})


def _named_lines(kind: Named, present: _Present, indent: str, remark: Remark) -> Iterator[str]:
    for name in present.nodes:
        below = present.below(name)
        yield f"{indent}{written(name)}:"
        yield from _key_lines(_only(kind.each, below.nodes), below, f"{indent}  ", remark)


def _key_lines(section: Section, present: _Present, indent: str, remark: Remark) -> Iterator[str]:
    for key in section.keys.values():
        if key.note(RemovedKey):
            continue
        node = present.nodes.get(key.name)
        below = present.below(key.name)
        if isinstance(key.kind, Section):
            yield f"{indent}{key.name}:" if below.nodes else f"# {indent}{key.name}:"
            yield from _key_lines(key.kind, below, f"{indent}  ", remark)
        elif isinstance(key.kind, Named) and below.nodes:
            yield f"{indent}{key.name}:"
            yield from _named_lines(key.kind, below, f"{indent}  ", remark)
        elif node is not None:
            yield _line(
                f"{indent}{key.name}: {written(present.values[key.name])}", remark(key, node)
            )
        else:
            value = default_of(key).value
            usual = "" if value is None else f" {written(value)}"
            yield _line(f"# {indent}{key.name}:{usual}", remark(key, None))


def _line(text: str, comment: str) -> str:
    return f"{text:<{_COLUMN}}  # {comment}"


def _text(lines: Iterator[str] | list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _value(node: Node) -> object:
    match node:
        case MappingNode():
            return {name: _value(each) for name, each in node.nodes.items()}
        case Items():
            return [_value(each) for each in node.nodes]
        case Scalar():
            return node.value()


def written(value: object) -> str:
    """The value in YAML, on one line."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _NOT_TEXT:
        return value
    return "" if value is None else msgspec.json.encode(value).decode()
