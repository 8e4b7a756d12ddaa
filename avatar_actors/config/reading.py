"""Reads the nodes of a section by its keys: each value becomes the effect that it has on a setting.

Where a setting comes from is kept, so that a later check can still point at the line.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NoReturn, TypeAlias

import msgspec
from msgspec import Struct

from avatar_actors.config.keys import Key, Means, Named, Present, RemovedKey, Section
from avatar_actors.config.nodes import Items, MappingNode, Node, Plain, Position, Scalar, shown
from avatar_actors.model.fields import NO_LIMIT, Checked, Written
from avatar_actors.model.values import JsonObject, McpServer
from avatar_actors.model.words import suggestion

Environ: TypeAlias = Mapping[str, str]

_VARIABLE: Final = re.compile(r"\$\$|\$\{(?P<name>[^}:]*)(?P<rest>:-(?P<default>[^}]*)|[^}]*)\}")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Effect(Struct, frozen=True):
    """A value for a setting, and where it was written."""

    target: str
    """The setting's path, as `timeouts.turn`."""
    value: object
    at: Position


def effects_of_section(
    section: Section, node: Node, at: Position, environ: Environ
) -> list[Effect]:
    """What the keys of a section set; raises ConfigError."""
    found: list[Effect] = []
    for name, (key, each) in parts_of(section, node, at).items():
        found += effects_of(key, each, at.below(name, each), environ)
    _refuse_contradiction(found)
    return found


def parts_of(section: Section, node: Node, at: Position) -> dict[str, tuple[Key, Node]]:
    """The keys of a section that are given, and what stands under them."""
    found: dict[str, tuple[Key, Node]] = {}
    for name, each in named_nodes(node, at, "a section of keys").items():
        key = section.keys.get(name)
        if key is None:
            at.below(name, each).refuse(section.unknown(name))
        found[name] = key, each
    return found


def named_nodes(node: Node, at: Position, words: str) -> dict[str, Node]:
    """What stands under each name of a section."""
    if isinstance(node, Scalar) and node.value() is None:
        at.refuse("is empty; give it keys, or remove the line")
    if not isinstance(node, MappingNode):
        at.refuse(f"must be {words}; got {shown(node)}")
    return node.nodes


def effects_of(key: Key, node: Node, at: Position, environ: Environ) -> list[Effect]:
    """What this value of the key sets."""
    if removed := key.note(RemovedKey):
        at.refuse(f"is refused: {removed.why}; remove the line")
    if isinstance(key.kind, Section):
        inside = effects_of_section(key.kind, node, at, environ)
        present = key.note(Present)
        if present and present.path not in {each.target for each in inside}:
            return [Effect(present.path, True, at), *inside]
        return inside
    value = _read(key, node, at, environ)
    if means := key.note(Means):
        meaning = means.of[msgspec.convert(value, str | bool)]
        if isinstance(meaning, str):
            at.refuse(f"must be {key.words()}: {meaning}")
        return [Effect(target, each, at) for target, each in meaning.items()]
    return [Effect(target, value, at) for target in key.targets]


def _refuse_contradiction(effects: list[Effect]) -> None:
    """Two keys may say the same, but not two things about one setting."""
    first: dict[str, Effect] = {}
    for effect in effects:
        earlier = first.setdefault(effect.target, effect)
        if earlier.value != effect.value:
            also = f"{earlier.at.key} in line {earlier.at.line}"
            effect.at.refuse(f"contradicts {also}; keep one of them")


def _read(key: Key, node: Node, at: Position, environ: Environ) -> object:
    """The value, of the key's type."""
    if isinstance(key.kind, Named):
        nodes = named_nodes(node, at, key.words()).items()
        section = key.kind.each
        return tuple(
            _server(name, section, each, at.below(name, each), environ) for name, each in nodes
        )
    if key.kind == dict[str, str]:
        return _pairs(key, node, at, environ)
    if key.kind == tuple[str, ...]:
        return _texts(key, node, at, environ)
    if key.kind == JsonObject:
        return _json_object(key, node, at)
    if key.note(Written) is Written.INTERPOLATED:
        return _interpolated(node, at, environ, key.words())
    return _scalar(key, node, at, environ)


def _scalar(key: Key, node: Node, at: Position, environ: Environ) -> object:
    value = _value(node)
    if key.field.may_be_none and value == NO_LIMIT:
        return math.inf
    try:
        got = msgspec.convert(value, str if key.kind is Path else key.field.annotated)
    except msgspec.ValidationError:
        _refuse_kind(key, node, at)
    if isinstance(got, float) and not math.isfinite(got):
        _refuse_kind(key, node, at)
    if not isinstance(got, str):
        return got
    checked = key.note(Checked)
    if (checked and not checked.is_right(got)) or (key.choices() and got not in key.choices()):
        _refuse_kind(key, node, at)
    if key.kind is Path:
        got = interpolated(got, at, environ)
        return absolute(got, at, environ) if got else None
    if key.note(Written) is Written.PROGRAM:
        got = interpolated(got, at, environ)
        return str(absolute(got, at, environ)) if "/" in got else got
    return got


def _refuse_kind(key: Key, node: Node, at: Position) -> NoReturn:
    value = _value(node)
    if value is None and isinstance(node, Scalar):
        at.refuse(f"is empty; give {key.words()}, or remove the line")
    meant = suggestion(value, key.choices()) if isinstance(value, str) else ""
    at.refuse(f"must be {key.words()}; got {shown(node)}{meant}")


def _value(node: Node) -> Plain:
    return node.value() if isinstance(node, Scalar) else None


def _texts(key: Key, node: Node, at: Position, environ: Environ) -> tuple[str, ...]:
    if not isinstance(node, Items):
        _refuse_kind(key, node, at)
    texts: list[str] = []
    for item in node.nodes:
        value, spot = _value(item), at.item(item)
        if key.note(Written) is Written.INTERPOLATED:
            value = _interpolated(item, spot, environ, "text")
        elif value is None and isinstance(item, Scalar):
            spot.refuse("is empty; give text, or remove the line")
        elif not isinstance(value, str):
            spot.refuse(f"must be text; got {shown(item)}")
        texts.append(str(value))
    return tuple(texts)


def _pairs(key: Key, node: Node, at: Position, environ: Environ) -> dict[str, str]:
    """Names and texts. They may be secrets, so no error shows them."""
    if not isinstance(node, MappingNode):
        at.refuse(f"must be {key.words()}")
    return {
        name: _interpolated(each, at.below(name, each), environ, "text")
        for name, each in node.nodes.items()
    }


def _interpolated(node: Node, at: Position, environ: Environ, words: str) -> str:
    """A text with its variables, a number as it is written. No error shows it: it may be secret."""
    if not isinstance(node, Scalar) or node.value() is None:
        at.refuse(f"must be {words}")
    return interpolated(node.text, at, environ)


def interpolated(text: str, at: Position, environ: Environ) -> str:
    """The text with `${NAME}` and `${NAME:-default}` replaced; `$$` is a dollar."""

    def value(found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$"
        name, default = found["name"], found["default"]
        if not _NAME.fullmatch(name) or (found["rest"] and default is None):
            at.refuse("a variable is written ${NAME} or ${NAME:-default}; $$ is a dollar sign")
        if name in environ and (environ[name] or default is None):
            return environ[name]
        if default is None:
            at.refuse(f"the variable {name} is not set; set it, or write ${{{name}:-default}}")
        return default

    return _VARIABLE.sub(value, text)


def absolute(text: str, at: Position, environ: Environ) -> Path:
    """The path; a relative one begins in the folder of the file, `~` in the user's home."""
    if text == "~" or text.startswith("~/"):
        home = environ.get("HOME")
        if not home:
            at.refuse("~ cannot be used here, since the variable HOME is not set")
        text = home + text[1:]
    return Path(os.path.normpath(at.source.folder / text))


def _json_object(key: Key, node: Node, at: Position) -> JsonObject | None:
    """A section that somebody else understands, or nothing."""
    if isinstance(node, Scalar) and node.value() is None:
        return None
    if not isinstance(node, MappingNode):
        _refuse_kind(key, node, at)
    return {name: _json(each, at) for name, each in node.nodes.items()}


def _json(node: Node, at: Position) -> object:
    match node:
        case MappingNode():
            return {name: _json(each, at) for name, each in node.nodes.items()}
        case Items():
            return [_json(each, at) for each in node.nodes]
        case Scalar():
            value = node.value()
            if isinstance(value, float) and not math.isfinite(value):
                at.item(node).refuse("holds a number that is not finite")
            return value


def _server(name: str, section: Section, node: Node, at: Position, environ: Environ) -> McpServer:
    effects = effects_of_section(section, node, at, environ)
    fields = {effect.target: effect.value for effect in effects}
    if bool(fields.get("command")) == bool(fields.get("url")):
        at.refuse("an MCP server has a command or a url, one of them")
    by, other = (
        ("command", {"transport", "headers"}) if "command" in fields else ("url", {"args", "env"})
    )
    for effect in effects:
        if effect.target in other:
            effect.at.refuse(f"an MCP server with a {by} has none; remove it")
    return msgspec.convert({"name": name, **fields}, McpServer)
