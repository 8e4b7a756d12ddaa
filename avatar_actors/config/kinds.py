"""The kinds of values: how each is read from a node, and told as JSON Schema."""

from __future__ import annotations

import difflib
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, NoReturn, Protocol, TypeAlias

from msgspec import Struct

from avatar_actors.config.nodes import Items, MappingNode, Node, Plain, Position, Scalar, shown
from avatar_actors.model.values import JsonObject

Environ: TypeAlias = Mapping[str, str]

_VARIABLE: Final = re.compile(r"\$\$|\$\{(?P<name>[^}:]*)(?P<rest>:-(?P<default>[^}]*)|[^}]*)\}")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


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
    """The path; a relative one begins in the folder of what named it, `~` in the user's home."""
    if text == "~" or text.startswith("~/"):
        home = environ.get("HOME")
        if not home:
            at.refuse("~ has no meaning here, since the variable HOME is not set")
        text = home + text[1:]
    return Path(os.path.normpath(at.source.folder / text))


class ValueKind(Protocol):
    """What a value may be. `at` is where errors point, `environ` what `${NAME}` is found in."""

    @property
    def words(self) -> str:
        """What is allowed, in words for a person."""
        ...

    def read(self, node: Node, at: Position, environ: Environ) -> object:
        """The value; raises ConfigError."""
        ...

    def schema(self) -> JsonObject:
        """The same as JSON Schema."""
        ...


def refuse_kind(kind: ValueKind, node: Node, at: Position) -> NoReturn:
    """Raise the error about a value of the wrong kind."""
    if _value(node) is None and isinstance(node, Scalar):
        at.refuse(f"is empty; give {kind.words}, or take the line out")
    at.refuse(f"must be {kind.words}; got {shown(node)}")


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint at the word that was probably meant; empty if none is near."""
    by_small = {each.lower(): each for each in sorted(known)}
    swapped = [small for small in by_small if sorted(small) == sorted(word.lower())]
    found = swapped or difflib.get_close_matches(word.lower(), by_small, n=1)
    return f" (did you mean {by_small[found[0]]!r}?)" if found else ""


def _value(node: Node) -> Plain:
    return node.value() if isinstance(node, Scalar) else None


class Text(Struct, frozen=True):
    """Text as it stands; a number has to be quoted."""

    words: str = "text"

    def read(self, node: Node, at: Position, environ: Environ) -> str:
        """The text."""
        value = _value(node)
        return value if isinstance(value, str) else refuse_kind(self, node, at)

    def schema(self) -> JsonObject:
        """A string."""
        return {"type": "string"}


class Checked(Struct, frozen=True):
    """Text that has to pass a test."""

    words: str
    is_right: Callable[[str], bool]

    def read(self, node: Node, at: Position, environ: Environ) -> str:
        """The text."""
        text = Text(self.words).read(node, at, environ)
        return text if self.is_right(text) else refuse_kind(self, node, at)

    def schema(self) -> JsonObject:
        """A string."""
        return {"type": "string"}


class Filled(Struct, frozen=True):
    """Text in which `${NAME}` stands for a variable; a number is taken as it is written."""

    words: str = "text"

    def read(self, node: Node, at: Position, environ: Environ) -> str:
        """The text with its variables. It may be a secret, so no error shows it."""
        if not isinstance(node, Scalar) or node.value() is None:
            at.refuse(f"must be {self.words}")
        return interpolated(node.text, at, environ)

    def schema(self) -> JsonObject:
        """A string, or what may stand without quotes."""
        return {"type": ["string", "number", "boolean"]}


class FilePath(Struct, frozen=True):
    """A path; the empty text is none."""

    words: str = "a path"

    def read(self, node: Node, at: Position, environ: Environ) -> Path | None:
        """The absolute path."""
        text = interpolated(Text(self.words).read(node, at, environ), at, environ)
        return absolute(text, at, environ) if text else None

    def schema(self) -> JsonObject:
        """A string."""
        return {"type": "string"}


class Program(Struct, frozen=True):
    """A program: a path if it has a slash, else a name that is looked up on PATH."""

    words: str = "the name or path of a program"

    def read(self, node: Node, at: Position, environ: Environ) -> str:
        """The name, or the absolute path."""
        text = interpolated(Text(self.words).read(node, at, environ), at, environ)
        return str(absolute(text, at, environ)) if "/" in text else text

    def schema(self) -> JsonObject:
        """A string."""
        return {"type": "string"}


class Flag(Struct, frozen=True):
    """True or false; `yes` and `on` are words."""

    words: str = "true or false"

    def read(self, node: Node, at: Position, environ: Environ) -> bool:
        """The truth."""
        value = _value(node)
        return value if isinstance(value, bool) else refuse_kind(self, node, at)

    def schema(self) -> JsonObject:
        """A boolean."""
        return {"type": "boolean"}


class Number(Struct, frozen=True, kw_only=True):
    """A finite number; `least` and `most` are included."""

    least: float = 0
    most: float = math.inf
    unit: str = ""

    @property
    def words(self) -> str:
        """Its range."""
        return f"a number{self.unit and ' of '}{self.unit}, {_range(self.least, self.most)}"

    def read(self, node: Node, at: Position, environ: Environ) -> float:
        """The number."""
        value = _value(node)
        if isinstance(value, bool) or not isinstance(value, int | float):
            refuse_kind(self, node, at)
        is_right = self.least <= value <= self.most and value < math.inf
        return float(value) if is_right else refuse_kind(self, node, at)

    def schema(self) -> JsonObject:
        """A number."""
        return {"type": "number", **_limits(self.least, self.most)}


class Whole(Struct, frozen=True, kw_only=True):
    """A whole number; `least` and `most` are included."""

    least: int = 0
    most: float = math.inf

    @property
    def words(self) -> str:
        """Its range."""
        return f"a whole number, {_range(self.least, self.most)}"

    def read(self, node: Node, at: Position, environ: Environ) -> int:
        """The number."""
        value = _value(node)
        if isinstance(value, bool) or not isinstance(value, int):
            refuse_kind(self, node, at)
        return value if self.least <= value <= self.most else refuse_kind(self, node, at)

    def schema(self) -> JsonObject:
        """An integer."""
        return {"type": "integer", **_limits(self.least, self.most)}


class OneOf(Struct, frozen=True):
    """One of several words."""

    allowed: tuple[str, ...]

    @property
    def words(self) -> str:
        """The words."""
        return f"one of {', '.join(self.allowed)}"

    def read(self, node: Node, at: Position, environ: Environ) -> str:
        """The word, spelt exactly so."""
        value = _value(node)
        if value not in self.allowed and isinstance(value, str):
            hint = nearest(value, self.allowed)
            at.refuse(f"must be {self.words}; got {shown(node)}{hint}")
        return value if isinstance(value, str) else refuse_kind(self, node, at)

    def schema(self) -> JsonObject:
        """An enumeration."""
        return {"enum": list(self.allowed)}


def _range(least: float, most: float) -> str:
    if math.isinf(most):
        return f"at least {least:g}"
    return f"between {least:g} and {most:g}"


def _limits(least: float, most: float) -> JsonObject:
    limits: JsonObject = {"minimum": least}
    return limits if math.isinf(most) else {**limits, "maximum": most}


class Texts(Struct, frozen=True):
    """A list of texts, each of this kind."""

    each: Text | Filled = Text()

    @property
    def words(self) -> str:
        """A list."""
        return "a list of texts"

    def read(self, node: Node, at: Position, environ: Environ) -> tuple[str, ...]:
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

    def read(self, node: Node, at: Position, environ: Environ) -> dict[str, str]:
        """The pairs, their variables filled in."""
        if not isinstance(node, MappingNode):
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

    def read(self, node: Node, at: Position, environ: Environ) -> JsonObject | None:
        """It as JSON."""
        if isinstance(node, Scalar) and node.value() is None:
            return None
        if not isinstance(node, MappingNode):
            refuse_kind(self, node, at)
        return {name: _json(each, at) for name, each in node.nodes.items()}

    def schema(self) -> JsonObject:
        """An object."""
        return {"type": ["object", "null"]}


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
