"""The keys of a configuration as data: what each may be, what it sets, how it is documented.

A section is made of Structs, whose described fields are its keys. Reading is left to `reading`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import Enum
from pathlib import Path
from typing import Final, TypeAlias, TypeGuard, TypeVar, get_args, get_origin

import msgspec
from msgspec import Meta, Struct

from avatar_actors.model.fields import (
    NO_LIMIT,
    Checked,
    OneOf,
    Scope,
    SettingField,
    Written,
    fields_of,
    number_words,
)
from avatar_actors.model.values import JsonObject
from avatar_actors.model.words import suggestion

T = TypeVar("T")
# What a value stands for: settings by their paths, as `timeouts.turn`.
Meaning: TypeAlias = dict[str, object]
Meanings: TypeAlias = dict[str | bool, Meaning | str]

_WORDS: Final[dict[object, str]] = {
    bool: "true or false",
    Path: "a path",
    str: "text",
    JsonObject: "a section",
    dict[str, str]: "a section of names and texts",
    tuple[str, ...]: "a list of texts",
}
# What may stand in the file where the setting has this type.
_IN_FILE: Final[dict[object, object]] = {
    Path: str,
    JsonObject: JsonObject | None,
    dict[str, str]: dict[str, str | float | bool],
}
_INTERPOLATED: Final[dict[object, object]] = {
    str: str | float | bool,
    tuple[str, ...]: tuple[str | float | bool, ...],
}


class To(Struct, frozen=True):
    """The setting that a key sets, where that has another path; several are parted by spaces."""

    path: str


class Means(Struct, frozen=True):
    """What each word, or true and false, stands for; a text is why that one is refused."""

    of: Meanings

    def allowed(self) -> list[str | bool]:
        """The values that are not refused."""
        return [value for value, meaning in self.of.items() if not isinstance(meaning, str)]


class Present(Struct, frozen=True):
    """The setting that is true because the section is there, unless a key in it says otherwise."""

    path: str


class RemovedKey(Struct, frozen=True):
    """Why a key that users know is refused."""

    why: str


class Section(Struct, frozen=True):
    """The keys under a key."""

    keys: dict[str, Key]

    def unknown(self, name: str) -> str:
        """What is said about a key that is not here."""
        if places := list(self._places(name)):
            first = places[:1] if places[0].startswith("engine.") else places[:3]
            return f"unknown key here; did you mean {' or '.join(first)}?"
        known = sorted(key.name for key in self.keys.values() if not key.note(RemovedKey))
        return f"unknown key; there are {', '.join(known)}{suggestion(name, known)}"

    def _places(self, name: str) -> Iterator[str]:
        """Where a key of this name stands in the sections below, the nearest first."""
        below = {key.name: key.kind for key in self.keys.values() if isinstance(key.kind, Section)}
        for above, section in below.items():
            if name in section.keys and not section.keys[name].note(RemovedKey):
                yield f"{above}.{name}"
        for above, section in below.items():
            yield from (f"{above}.{place}" for place in section._places(name))

    def schema(self) -> JsonObject:
        """The JSON Schema: an object without other keys."""
        properties = {
            key.name: {**key.schema(), "description": key.about()} for key in self.keys.values()
        }
        return {"type": "object", "additionalProperties": False, "properties": properties}


class Named(Struct, frozen=True):
    """Sections with names of the user's own."""

    each: Section


class Key(Struct, frozen=True):
    """One key: its field, what stands under it, and the settings that it sets."""

    field: SettingField
    kind: object
    """A Section, a Named, or the type of the value."""
    targets: tuple[str, ...]

    @property
    def name(self) -> str:
        """The key itself."""
        return self.field.name

    def note(self, kind: type[T]) -> T | None:
        """The field's annotation of this kind."""
        return self.field.note(kind)

    def about(self) -> str:
        """Its meaning in one line."""
        removed = self.note(RemovedKey)
        return removed.why if removed else self.field.description

    def choices(self) -> tuple[str, ...]:
        """The words that the value may be, if it is one of several."""
        if allowed := self.note(OneOf):
            return allowed.allowed
        if _is_enum(self.kind):
            return tuple(str(each.value) for each in self.kind)
        means = self.note(Means)
        return tuple(map(str, means.of)) if means and self.kind is str else ()

    def words(self) -> str:
        """What is allowed, for a person."""
        if choices := self.choices():
            return f"one of {', '.join(choices)}"
        if checked := self.note(Checked):
            return checked.words
        if means := self.note(Means):
            return " or ".join(str(each).lower() for each in means.allowed())
        if self.note(Written) is Written.PROGRAM:
            return "the name or path of a program"
        if isinstance(self.kind, Section | Named):
            is_named = isinstance(self.kind, Named)
            return "a section of names, each with its keys" if is_named else "a section of keys"
        bounds = self.note(Meta)
        words = number_words(self.kind, bounds) if bounds else _WORDS[self.kind]
        return f"{words}, or none" if self.field.may_be_none else words

    def schema(self) -> JsonObject:
        """The JSON Schema of the value."""
        if self.note(RemovedKey):
            return {"not": {}}
        if choices := self.choices():
            return {"enum": list(choices)}
        if means := self.note(Means):
            return {"type": "boolean", "enum": means.allowed()}
        if isinstance(self.kind, Section):
            return self.kind.schema()
        if isinstance(self.kind, Named):
            return {"type": "object", "additionalProperties": self.kind.each.schema()}
        is_interpolated = self.note(Written) is Written.INTERPOLATED
        in_file = _INTERPOLATED if is_interpolated else _IN_FILE
        schema = msgspec.json.schema(in_file.get(self.kind, self.field.annotated))
        return {"anyOf": [schema, {"const": NO_LIMIT}]} if self.field.may_be_none else schema


def keys_in(kind: type[Struct], prefix: str = "", scopes: Collection[Scope] = ()) -> dict[str, Key]:
    """The described fields of a Struct as keys; a field's setting is its name after the prefix."""
    return {key.name: key for key in _keys(kind, prefix, scopes)}


def _keys(kind: type[Struct], prefix: str, scopes: Collection[Scope]) -> Iterator[Key]:
    for field in fields_of(kind):
        scope, to = field.note(Scope), field.note(To)
        is_key = bool(field.description) or field.note(RemovedKey) is not None
        if is_key and (scope is None or scope in scopes):
            path = to.path if to else prefix + field.name
            yield Key(field, _kind(field, path), tuple(path.split()))


def _is_enum(kind: object) -> TypeGuard[type[Enum]]:
    return isinstance(kind, type) and issubclass(kind, Enum)


def _is_struct(kind: object) -> TypeGuard[type[Struct]]:
    return isinstance(kind, type) and issubclass(kind, Struct)


def _kind(field: SettingField, path: str) -> object:
    if given := field.note(Section) or field.note(Named):
        return given
    if _is_struct(field.bare):
        return Section(keys_in(field.bare, f"{path}."))
    inner = get_args(field.bare)[:1]
    if get_origin(field.bare) is tuple and inner != (str,):
        return Named(Section(keys_in(*inner)))
    return field.bare
