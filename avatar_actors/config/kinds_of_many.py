"""The kinds of values that hold others: lists, pairs, free JSON."""

from __future__ import annotations

import math

from msgspec import Struct

from avatar_actors.config.filling import Environ
from avatar_actors.config.kinds import Filled, Text, refuse_kind
from avatar_actors.config.nodes import Block, Items, Node, Scalar, Spot
from avatar_actors.model.values import JsonObject


class Texts(Struct, frozen=True):
    """A list of texts, each of this kind."""

    each: Text | Filled = Text()

    @property
    def words(self) -> str:
        """A list."""
        return "a list of texts"

    def read(self, node: Node, at: Spot, environ: Environ) -> tuple[str, ...]:
        """The texts."""
        if not isinstance(node, Items):
            refuse_kind(self, node, at)
        return tuple(self.each.read(item, at.item(item), environ) for item in node.nodes)

    def schema(self) -> JsonObject:
        """An array."""
        return {"type": "array", "items": self.each.schema()}


class Pairs(Struct, frozen=True):
    """Names and texts, as of variables or headers. They may be secrets: no error shows them."""

    words: str = "a section of names and texts"

    def read(self, node: Node, at: Spot, environ: Environ) -> dict[str, str]:
        """The pairs, their variables filled in."""
        if not isinstance(node, Block):
            at.refuse(f"must be {self.words}")
        return {
            name: Filled().read(each, at.below(name, each), environ)
            for name, each in node.nodes.items()
        }

    def schema(self) -> JsonObject:
        """An object of strings."""
        return {"type": "object", "additionalProperties": Filled().schema()}


class Free(Struct, frozen=True):
    """An object that is somebody else's to understand, or nothing."""

    words: str = "a section"

    def read(self, node: Node, at: Spot, environ: Environ) -> JsonObject | None:
        """It as JSON."""
        if isinstance(node, Scalar) and node.value() is None:
            return None
        if not isinstance(node, Block):
            refuse_kind(self, node, at)
        return {name: _json(each, at) for name, each in node.nodes.items()}

    def schema(self) -> JsonObject:
        """An object."""
        return {"type": ["object", "null"]}


def _json(node: Node, at: Spot) -> object:
    match node:
        case Block():
            return {name: _json(each, at) for name, each in node.nodes.items()}
        case Items():
            return [_json(each, at) for each in node.nodes]
        case Scalar():
            value = node.value()
            if isinstance(value, float) and not math.isfinite(value):
                at.item(node).refuse("holds a number that is not finite")
            return value
