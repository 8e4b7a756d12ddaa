"""The nodes of a configuration, each with its position, and the error that points there. Pure."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Final, NoReturn, TypeAlias

from msgspec import Struct

from avatar_actors.model.errors import ConfigError

# YAML 1.2's core schema: `yes`, `on` and `12:30` are words.
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,5})?")
_WORDS: Final[dict[str, bool | float | None]] = {
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    **{sign + word: float(f"{sign}inf")
       for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")},
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}  # fmt: skip
_LONGEST: Final = 40

Plain: TypeAlias = str | int | float | bool | None


class Trust(Enum):
    """NAMED: the user named the file. FOUND: it was only found in the current directory."""

    NAMED = "named"
    FOUND = "found"


class Source(Struct, frozen=True):
    """A file, or a variable of the environment; relative paths begin in its folder."""

    name: str
    folder: Path
    trust: Trust = Trust.NAMED


class Position(Struct, frozen=True):
    """Where something is written. The line is 0 in a variable."""

    source: Source
    line: int = 0
    key: str = ""

    def below(self, key: str, node: Node) -> Position:
        """The position of what is under this key."""
        return Position(node.spot.source, node.spot.line, f"{self.key}.{key}" if self.key else key)

    def item(self, node: Node) -> Position:
        """The position of an item of the list here."""
        return Position(node.spot.source, node.spot.line, self.key)

    def refuse(self, problem: str) -> NoReturn:
        """Raise the one error that the user sees."""
        raise ConfigError(problem, self.source.name, self.line, self.key)


class Scalar(Struct, frozen=True):
    """A single value as it is written."""

    spot: Position
    text: str
    is_quoted: bool = False
    size: int = 1

    def value(self) -> Plain:
        """What it means."""
        if self.is_quoted:
            return self.text
        if self.text in _WORDS:
            return _WORDS[self.text]
        if _INTEGER.fullmatch(self.text):
            return int(self.text)
        return float(self.text) if _FLOAT.fullmatch(self.text) else self.text


class Items(Struct, frozen=True):
    """A list."""

    spot: Position
    nodes: tuple[Node, ...]
    size: int = 1


class MappingNode(Struct, frozen=True):
    """Keys and their values; a value's position is that of its key, since people look there."""

    spot: Position
    nodes: dict[str, Node]
    size: int = 1


Node: TypeAlias = Scalar | Items | MappingNode


def shown(node: Node) -> str:
    """The value as an error shows it: its beginning, and nothing inside a list or a section."""
    match node:
        case Scalar():
            value = node.value()
            text = node.text if isinstance(value, int | float) else repr(value)
            text = "nothing" if value is None else text
            return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
        case Items():
            return "a list"
        case MappingNode():
            return "a section"
