"""What settings say about their fields besides the type, and the checks that they share.

A text among a field's annotations is its description. A field that has one can be set in a
configuration file; one without is for Python alone.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin

import msgspec
from msgspec import Meta, Struct

T = TypeVar("T")

_LONGEST_FORMAT: Final = 1000
_LONGEST_NAME: Final = 200
# A width, or a precision, of gigabytes would be written out in full with each line.
_WIDE: Final = re.compile(r"%\([^)]*\)[^%a-zA-Z]*[0-9]{4}")
UNIT: Final = "unit"
Seconds = Annotated[float, Meta(ge=0.001, extra={UNIT: "seconds"})]
NO_LIMIT: Final = "none"
# A limit that may be switched off: math.inf in Python, `none` in a file.
SecondsOrNone = Annotated[float, Meta(ge=0.001, extra={UNIT: "seconds", NO_LIMIT: True})]
Pause = Annotated[float, Meta(ge=0, extra={UNIT: "seconds"})]
Amount = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0)]
PositiveCount = Annotated[int, Meta(ge=1)]


class OneOf(Struct, frozen=True):
    """The words that a text may be."""

    allowed: tuple[str, ...]


class Checked(Struct, frozen=True):
    """A test that a value has to pass, mostly a text, and the words that say so."""

    words: str
    is_right: Callable[[Any], bool]


class Written(Enum):
    """How a text stands in a file: with `${NAME}` in it, or as a program's name or path."""

    INTERPOLATED = "interpolated"
    PROGRAM = "program"


class Scope(Enum):
    """Which sections of a file have the field; without one it is every avatar's."""

    PROVIDER = "provider"
    COMMAND = "command"
    REMOTE = "remote"


class SettingField(Struct, frozen=True):
    """One field of a Struct: its name, its type, and what its annotations say."""

    name: str
    bare: object
    """The type, without its annotations and without None."""
    annotated: object
    """The type with its annotations."""
    notes: tuple[object, ...]
    """The annotations alone."""

    @property
    def description(self) -> str:
        """What it means; empty if no file can set it."""
        return self.note(str) or ""

    @property
    def may_be_none(self) -> bool:
        """Whether a file may say `none`: no limit."""
        bounds = self.note(Meta)
        return bool(bounds and bounds.extra and NO_LIMIT in bounds.extra)

    def note(self, kind: type[T]) -> T | None:
        """Its annotation of this kind."""
        return next((each for each in self.notes if isinstance(each, kind)), None)


@cache
def fields_of(kind: type[Struct]) -> tuple[SettingField, ...]:
    """The fields of a Struct, with what they say about themselves."""
    return tuple(_field(each.name, each.type) for each in msgspec.structs.fields(kind))


def _field(name: str, annotated: object) -> SettingField:
    if NoneType in get_args(annotated):
        annotated = next(each for each in get_args(annotated) if each is not NoneType)
    if get_origin(annotated) is not Annotated:
        return SettingField(name, annotated, annotated, ())
    bare, *notes = get_args(annotated)
    return SettingField(name, bare, annotated, tuple(notes))


def number_words(kind: object, bounds: Meta) -> str:
    """What a number within these bounds is, for a person."""
    unit = str(bounds.extra[UNIT]) if bounds.extra else ""
    number = "a whole number" if kind is int else f"a number{unit and ' of '}{unit}"
    if bounds.le is None:
        return f"{number}, at least {bounds.ge:g}"
    return f"{number}, between {bounds.ge:g} and {bounds.le:g}"


def strings_in(value: object) -> Iterator[str]:
    """Every text inside a value, however deep."""
    waiting: list[Any] = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, Struct):
            waiting += msgspec.structs.astuple(part)
        elif isinstance(part, dict):
            waiting += [*part, *part.values()]
        elif isinstance(part, list | tuple):
            waiting += part


def wrong_with_format(text: object) -> str:
    """Why `logging` cannot write lines in this format; else nothing, also if it is no text."""
    if not isinstance(text, str):
        return ""
    if len(text) > _LONGEST_FORMAT or "\0" in text:
        return f"it has more than {_LONGEST_FORMAT} characters, or a NUL"
    if _WIDE.search(text):
        return "a field is wider than 999 characters"
    try:
        logging.Formatter(text).format(logging.makeLogRecord({}))
    except (ValueError, KeyError, TypeError) as error:
        return str(error) or type(error).__name__
    return ""


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_path(path: str | Path) -> bool:
    """Whether the system could have a file of this name."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def _is_avatar_name(text: str) -> bool:
    return text.isprintable() and "/" not in text and len(text) <= _LONGEST_NAME


FilePath = Annotated[str | Path, Checked("a path, without NUL and half surrogate pairs", is_path)]
AvatarName = Annotated[
    str, Checked(f"at most {_LONGEST_NAME} printable characters, and no slash", _is_avatar_name)
]
PromptText = Annotated[str, Checked("text, without half a surrogate pair in it", _is_whole)]
LOG_FORMAT: Final = Checked(
    "a format of Python's logging, as %(message)s", lambda text: not wrong_with_format(text)
)
