"""Words for errors: what a type hint allows, and which word was probably meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    is_typeddict,
)

from msgspec import Meta

from avatar_actors.model.fields import Checked, OneOf, number_words

_PLAIN: Final[dict[object, str]] = {
    bool: "True or False",
    bytes: "bytes",
    int: "a whole number",
    float: "a number",
    Path: "a path",
    str: "text",
}


def words_for(hint: object) -> str:
    """What a hint allows, for a person."""
    hint = bound_of(hint)
    by_origin = _BY_ORIGIN.get(get_origin(hint))
    if by_origin is not None:
        return by_origin(get_args(hint))
    if choices := choices_of(hint):
        return f"one of {', '.join(choices)}"
    if is_typeddict(hint):
        return "a dict of options"
    return _PLAIN.get(hint) or _one(_name(get_origin(hint) or hint))


def choices_of(hint: object) -> tuple[str, ...]:
    """The words that stand for a hint's values, if it has such."""
    if get_origin(hint) is Literal:
        return tuple(map(str, get_args(hint)))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return tuple(str(member.value) for member in hint)
    return tuple(word for part in get_args(hint) for word in choices_of(part))


def bound_of(hint: object) -> object:
    """What a type variable may be; any other hint itself."""
    return (hint.__bound__ or object) if isinstance(hint, TypeVar) else hint


def _annotated(inner: tuple[Any, ...]) -> str:
    bare, *notes = inner
    for note in notes:
        match note:
            case OneOf(allowed):
                return f"one of {', '.join(allowed)}"
            case Checked(words):
                return words
            case Meta():
                return number_words(bare, note)
            case _:
                pass
    return words_for(bare)


def _either(inner: tuple[object, ...]) -> str:
    words = dict.fromkeys(words_for(part) for part in inner if part is not NoneType)
    return " or ".join(words) + (", or None" if NoneType in inner else "")


def _pairs(inner: tuple[object, ...]) -> str:
    return "a dict" if inner[1] is Any else f"a dict of names, each with {words_for(inner[1])}"


def _one(noun: str) -> str:
    return f"an {noun}" if noun[0] in "AEIO" else f"a {noun}"


def _name(kind: Any) -> str:
    return str(kind.__name__)


_BY_ORIGIN: Final[Mapping[object, Callable[[tuple[Any, ...]], str]]] = {
    Annotated: _annotated,
    Union: _either,
    UnionType: _either,
    tuple: lambda inner: f"a list or tuple, each item {words_for(inner[0])}",
    Sequence: lambda inner: f"a list or tuple, each item {words_for(inner[0])}",
    dict: _pairs,
    Mapping: _pairs,
    type: lambda inner: f"the class {_name(bound_of(inner[0]))} or one derived from it",
    Callable: lambda _: "a function",
}


def nearest(word: str, words: Iterable[str]) -> str:
    """The one of the words that was probably meant, or nothing."""
    from difflib import get_close_matches  # noqa: PLC0415 - only an error needs it

    by_case, small = {each.lower(): each for each in sorted(words)}, word.lower()
    swapped = [each for each in by_case if sorted(each) == sorted(small)]
    close = swapped or get_close_matches(small, by_case, n=1)
    return by_case[close[0]] if close else ""


def suggestion(word: str, words: Iterable[str]) -> str:
    """A question to put behind an error, or nothing."""
    return f"; did you mean {meant!r}?" if (meant := nearest(word, words)) else ""
