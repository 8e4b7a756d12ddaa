"""What a key is: a line of a table that says its name, its kind and where its value goes.

Tables are data. Reading a section gives effects: a target, as `timeouts.turn`, and its value.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from avatar_actors.config.kinds import Environ, Flag, OneOf, ValueKind, nearest
from avatar_actors.config.nodes import MappingNode, Node, Position, Scalar, shown
from avatar_actors.model.values import JsonObject

# Targets and their values.
Meaning: TypeAlias = dict[str, object]
AnyKind: TypeAlias = "ValueKind | Meanings | Switch | RemovedKey | Section | Named"


class Effect(Struct, frozen=True):
    """A value on its way to a setting, and where it was written."""

    target: str
    value: object
    at: Position


class Key(Struct, frozen=True):
    """One key. `to` is its target, or several; empty where the kind says that itself.

    That of a section is told that the section is there.
    """

    name: str
    kind: AnyKind
    to: str
    about: str


class Meanings(Struct, frozen=True):
    """Words that each stand for a meaning."""

    of: dict[str, Meaning]

    @property
    def words(self) -> str:
        """Those words."""
        return f"one of {', '.join(self.of)}"

    def read(self, node: Node, at: Position, environ: Environ) -> Meaning:
        """What the word means."""
        return self.of[OneOf(tuple(self.of)).read(node, at, environ)]

    def schema(self) -> JsonObject:
        """An enumeration."""
        return {"enum": list(self.of)}


class Switch(Struct, frozen=True):
    """What true and false mean; a text is why one of them cannot be had."""

    on: Meaning | str
    off: Meaning | str

    @property
    def words(self) -> str:
        """Those that can be had."""
        return " or ".join(str(truth).lower() for truth in self._truths())

    def read(self, node: Node, at: Position, environ: Environ) -> Meaning:
        """What it means."""
        truth = Flag().read(node, at, environ)
        meaning = self.on if truth else self.off
        if isinstance(meaning, str):
            at.refuse(f"must be {self.words}: {meaning}")
        return meaning

    def schema(self) -> JsonObject:
        """A boolean, or the one that can be had."""
        return {"type": "boolean", "enum": self._truths()}

    def _truths(self) -> list[bool]:
        both = ((True, self.on), (False, self.off))
        return [truth for truth, meaning in both if not isinstance(meaning, str)]


class RemovedKey(Struct, frozen=True):
    """A key that users know and that cannot be had here."""

    why: str

    def schema(self) -> JsonObject:
        """Nothing fits."""
        return {"not": {}}


class Section(Struct, frozen=True):
    """Keys under a key."""

    keys: tuple[Key, ...]

    @property
    def words(self) -> str:
        """A section."""
        return "a section of keys"

    def find(self, name: str) -> Key | None:
        """The key of this name."""
        return next((key for key in self.keys if key.name == name), None)

    def effects(self, node: Node, at: Position, environ: Environ) -> list[Effect]:
        """Those of all its keys; raises ConfigError for a key that is not in the table."""
        found: list[Effect] = []
        for name, (key, each) in self.parts(node, at).items():
            found += effects_of(key, each, at.below(name, each), environ)
        _refuse_contradiction(found)
        return found

    def parts(self, node: Node, at: Position) -> dict[str, tuple[Key, Node]]:
        """Its keys and what stands under them."""
        found: dict[str, tuple[Key, Node]] = {}
        for name, each in _block(node, at, self.words).nodes.items():
            key = self.find(name)
            if key is None:
                at.below(name, each).refuse(self.unknown(name))
            found[name] = key, each
        return found

    def unknown(self, name: str) -> str:
        """What is said about a key that is not in the table."""
        known = sorted(key.name for key in self.keys if not isinstance(key.kind, RemovedKey))
        return f"unknown key; there are {', '.join(known)}{nearest(name, known)}"

    def schema(self) -> JsonObject:
        """An object without other keys."""
        properties: JsonObject = {}
        for key in self.keys:
            about = f"{key.about} {key.kind.why}" if isinstance(key.kind, RemovedKey) else key.about
            properties[key.name] = {**key.kind.schema(), "description": about.strip()}
        return {"type": "object", "additionalProperties": False, "properties": properties}


class Named(Struct, frozen=True):
    """Sections with names of the user's own."""

    each: Section

    @property
    def words(self) -> str:
        """Sections."""
        return "a section of names, each with its keys"

    def parts(self, node: Node, at: Position) -> dict[str, tuple[Node, Position]]:
        """What stands under each name."""
        nodes = _block(node, at, self.words).nodes
        return {name: (one, at.below(name, one)) for name, one in nodes.items()}

    def sections(self, node: Node, at: Position, environ: Environ) -> dict[str, list[Effect]]:
        """The effects of each."""
        parts = self.parts(node, at).items()
        return {name: self.each.effects(one, spot, environ) for name, (one, spot) in parts}

    def schema(self) -> JsonObject:
        """An object whose values are alike."""
        return {"type": "object", "additionalProperties": self.each.schema()}


def effects_of(key: Key, node: Node, at: Position, environ: Environ) -> list[Effect]:
    """What this value of the key means."""
    if isinstance(key.kind, RemovedKey):
        at.refuse(f"is not taken: {key.kind.why}; take the line out")
    match key.kind:
        case Section():
            inside = key.kind.effects(node, at, environ)
            untold = set(key.to.split()) - {effect.target for effect in inside}
            return [*(Effect(target, True, at) for target in untold), *inside]
        case Meanings() | Switch():
            meaning = key.kind.read(node, at, environ)
            return [Effect(target, value, at) for target, value in meaning.items()]
        case Named():
            return [Effect(key.to, key.kind.sections(node, at, environ), at)]
        case kind:
            value = kind.read(node, at, environ)
            return [Effect(target, value, at) for target in key.to.split()]


def _block(node: Node, at: Position, words: str) -> MappingNode:
    if isinstance(node, Scalar) and node.value() is None:
        at.refuse("is empty; give it keys, or take the line out")
    if not isinstance(node, MappingNode):
        at.refuse(f"must be {words}; got {shown(node)}")
    return node


def _refuse_contradiction(effects: list[Effect]) -> None:
    """Two keys may say the same, but not two things about one setting."""
    first: dict[str, Effect] = {}
    for effect in effects:
        earlier = first.setdefault(effect.target, effect)
        if earlier.value != effect.value:
            also = f"{earlier.at.key} in line {earlier.at.line}"
            effect.at.refuse(f"contradicts {also}; keep one of them")
