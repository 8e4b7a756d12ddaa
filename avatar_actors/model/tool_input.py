"""Reads what a tool is given: every text in it, and what the tool is going to do. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Final, TypeAlias

from msgspec import Struct

from avatar_actors.model.values import JsonObject

Json: TypeAlias = "dict[str, Json] | list[Json] | str | float | bool | None"

# More is not looked at: the loop of all avatars waits meanwhile (0.1 s for each pattern).
MOST_VALUES: Final = 20_000
MOST_CHARACTERS: Final = 2_000_000

# What a tool is about, in the words of the known agents and of ACP.
_COMMANDS: Final = frozenset({"command", "cmd"})
_PATHS: Final = frozenset({
    "file_path", "filePath", "path", "paths", "notebook_path", "absolute_path", "abs_path",
    "dir_path", "old_path", "new_path", "move_path", "changes",
})  # fmt: skip
_TEXTS: Final = frozenset({"url", "uri", "pattern", "query"})
# What Codex has made of the command beside it, for display.
_COPIES: Final = frozenset({"parsed_cmd"})

OPERATORS: Final = re.compile(r"[;&|<>$`()\n\r]")
_BETWEEN_COMMANDS: Final = re.compile(r"[;&|<>$`()\n\r{}\"']+")
_SHELL: Final = re.compile(r"(?:/bin/|/usr/bin/|/usr/local/bin/)?(?:a|ba|da|k|z)?sh")


class Unreadable(Exception):
    """The input is too large to look at, or nobody can tell what it does."""


class ArgumentKind(Enum):
    """What an argument is; each kind is compared in its own way."""

    COMMAND = "command"
    PATH = "path"
    TEXT = "text"


class Argument(Struct, frozen=True):
    """One thing that decides what the tool does."""

    kind: ArgumentKind
    text: str


def every_text(tool_input: JsonObject) -> Iterator[str]:
    """Every key, text and number, each line of words, and other spellings of these."""
    for key, value in _walk(tool_input):
        if isinstance(value, dict):
            for name in value:
                yield from _spellings("", name)
            for name in _COMMANDS & value.keys() if "args" in value else ():
                yield from _spellings(name, " ".join(_scalars(_words(value, name))))
        elif isinstance(value, list):
            yield from _spellings(key, " ".join(_scalars(value)))
        elif (text := _text_of(value)) is not None:
            yield from _spellings(key, text)


def arguments(tool_input: JsonObject) -> list[Argument]:
    """What decides what the tool does; if no key of it is known, every value."""
    known: list[Argument] = []
    values: list[Argument] = []
    for _, value in _walk(tool_input, without=_COPIES):
        if isinstance(value, dict):
            known += [each for name in value for each in _known(value, name)]
        elif (text := _text_of(value)) is not None:
            values.append(Argument(ArgumentKind.COMMAND, text))
    return known or values


def normal_path(path: str) -> str:
    """The path without `.`, `..` and double slashes, as far as that can be said of it."""
    return re.sub(r"^//+", "/", posixpath.normpath(path))


def _walk(
    tool_input: JsonObject, without: frozenset[str] = frozenset()
) -> Iterator[tuple[str, Json]]:
    """Every value with the key that it stands under; what is in a list has the list's key."""
    waiting: list[tuple[str, Json]] = [("", tool_input)]
    values, characters = 0, 0
    while waiting:
        key, value = waiting.pop()
        values += len(value) if isinstance(value, dict | list) else 0
        if values > MOST_VALUES:
            raise Unreadable
        characters += _size(value)
        if characters > MOST_CHARACTERS:
            raise Unreadable
        yield key, value
        if isinstance(value, dict):
            waiting += [each for each in value.items() if each[0] not in without]
        elif isinstance(value, list):
            waiting += [(key, each) for each in value]


def _size(value: Json) -> int:
    """How many characters it has of its own: its text, its keys, or the line that it makes."""
    if isinstance(value, dict | list):
        return sum(len(each) for each in value if isinstance(each, str))
    if isinstance(value, int):
        return value.bit_length() // 3
    return len(value) if isinstance(value, str) else 0


def _spellings(key: str, text: str) -> Iterator[str]:
    yield text
    if "/" in text:
        yield normal_path(text)
    if key in _COMMANDS:
        parts = _BETWEEN_COMMANDS.split(text, maxsplit=MOST_VALUES)
        if len(parts) > MOST_VALUES:
            raise Unreadable
        yield from (part.strip() for part in parts)


def _text_of(value: Json) -> str | None:
    """The text of a text or a number; None for everything else."""
    if value is None or isinstance(value, bool | dict | list):
        return None
    try:
        return str(value)
    except ValueError:  # Python makes no text of more than 4,300 digits
        raise Unreadable from None


def _scalars(values: Iterable[Json]) -> list[str]:
    return [text for value in values if (text := _text_of(value)) is not None]


def _known(record: dict[str, Json], name: str) -> list[Argument]:
    if name in _COMMANDS:
        return [Argument(ArgumentKind.COMMAND, line) for line in _line(record, name)]
    if name not in _PATHS and name not in _TEXTS:
        return []
    kind = ArgumentKind.PATH if name in _PATHS else ArgumentKind.TEXT
    value = record[name]
    texts = _scalars(value if isinstance(value, dict | list) else [value])
    return [Argument(kind, text) for text in texts]


def _words(record: dict[str, Json], name: str) -> list[Json]:
    """The words of a command: its own, and those that stand beside it as `args`."""
    parts = (record[name], record.get("args"))
    lists = [part if isinstance(part, list) else [part] for part in parts if part is not None]
    return [word for words in lists for word in words]


def _line(record: dict[str, Json], name: str) -> list[str]:
    """The command as one line, or none; of a shell's words only what it is to do."""
    words = _words(record, name)
    texts = _scalars(words)
    if len(texts) != len(words):
        raise Unreadable
    match texts:
        case [] | [_] if not isinstance(record[name], list):
            return texts
        case [program, *_] if any(mark.isspace() for mark in program):
            raise Unreadable  # its name would look like a program and arguments
        case [program, "-c" | "-lc", line] if _SHELL.fullmatch(program):
            return [line]
        case _:
            return [" ".join(texts)]
