"""Checks what Python code passes in against the types that are declared for it.

The fields of a Struct and the parameters of a public function say what is allowed: their type, the
bounds and the words beside it. A value that does not fit is refused at the call, by its name.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import cache, partial, wraps
from itertools import chain, repeat
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    ParamSpec,
    TypeAlias,
    TypeGuard,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from msgspec import Meta, Struct, json, structs

from avatar_actors.model.errors import SettingsError
from avatar_actors.model.fields import Checked, OneOf
from avatar_actors.model.words import bound_of, choices_of, suggestion, words_for

P = ParamSpec("P")
R = TypeVar("R")
Fit: TypeAlias = Callable[[Any], object]


class _Misfit(Exception):
    """A value, or a part of one, that its declaration does not allow, as an error may show it."""

    def __init__(self, value: object, shown: str = "") -> None:
        super().__init__()
        self.value, self.shown = value, shown or _shown(value)


def check_fields(settings: Struct, prefix: str = "") -> None:
    """Refuse fields with values that their types do not allow; SettingsError names the first.

    The word of an enum becomes its member, a list becomes a tuple.
    """
    for parameter, default in _fields(type(settings)):
        value: object = getattr(settings, parameter.name)
        if not _is_same(value, default):
            taken = parameter.take(value, prefix)
            if taken is not value:
                structs.force_setattr(settings, parameter.name, taken)


@cache
def _fields(kind: type[Struct]) -> tuple[tuple[_Parameter, object], ...]:
    return tuple((_Parameter(each.name, each.type), each.default) for each in structs.fields(kind))


def _is_same(value: object, default: object) -> bool:
    return value is default or (isinstance(value, str) and value == default)


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Check the arguments of each call by the function's own annotations, before it begins."""
    signature = _Signature(function)
    begin: Callable[..., R] = function

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        given, named = signature.take(args, kwargs)
        return begin(*given, **named)

    return call


class _Parameter:
    """One value that is declared: its name, and what it may be."""

    def __init__(self, name: str, hint: object) -> None:
        self.name, self._hint = name, hint
        self._fit = _fit_for(hint)

    def take(self, value: object, prefix: str = "") -> Any:
        """The value as it is wanted; SettingsError says what is allowed."""
        try:
            return self._fit(value)
        except _Misfit as misfit:
            got = f"{misfit.shown}{_meant(misfit.value, choices_of(self._hint))}"
        raise SettingsError(f"{prefix}{self.name} must be {words_for(self._hint)}; got {got}")


class _Signature:
    """What a function declares; looked at when it is first called."""

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function
        self._by_place: list[_Parameter] = []
        self._rest: _Parameter | None = None
        self._by_name: dict[str, _Parameter] = {}
        self._options: _Options | None = None

    def take(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """The arguments as the function wants them; those that it does not have are left to it."""
        if not self._by_name:
            self._read()
        by_place: Iterable[_Parameter | None] = self._by_place
        if len(args) > len(self._by_place):
            by_place = chain(self._by_place, repeat(self._rest))
        given = [
            each if parameter is None else parameter.take(each)
            for parameter, each in zip(by_place, args, strict=False)
        ]
        if not kwargs:
            return given, kwargs
        rest = {name: value for name, value in kwargs.items() if name not in self._by_name}
        named = {
            name: self._by_name[name].take(value)
            for name, value in kwargs.items()
            if name in self._by_name
        }
        return given, {**named, **(rest if self._options is None else self._options.take(rest))}

    def _read(self) -> None:
        hints = _parameter_hints(inspect.unwrap(self._function))
        for name, parameter in inspect.signature(self._function).parameters.items():
            hint: object = hints.get(name, object)
            match parameter.kind:
                case inspect.Parameter.VAR_POSITIONAL:
                    self._rest = _Parameter(name, hint)
                case inspect.Parameter.VAR_KEYWORD:
                    self._options = _Options(*get_args(hint))
                case inspect.Parameter.KEYWORD_ONLY:
                    self._by_name[name] = _Parameter(name, hint)
                case _:
                    self._by_name[name] = _Parameter(name, hint)
                    self._by_place.append(self._by_name[name])


def _parameter_hints(function: Any) -> dict[str, object]:
    """The hints without that of the result, which may be one for type checkers alone."""
    hints = {name: hint for name, hint in function.__annotations__.items() if name != "return"}
    holder = type("holder", (), {"__annotations__": hints})
    return get_type_hints(holder, function.__globals__, include_extras=True)


class _Options:
    """What a TypedDict declares."""

    def __init__(self, kind: object) -> None:
        hints = get_type_hints(kind, include_extras=True)
        self._known = {name: _Parameter(name, hint) for name, hint in hints.items()}

    def take(self, given: Mapping[str, object]) -> dict[str, Any]:
        """These options as they are wanted; SettingsError names one that is wrong or unknown."""
        for name in given:
            if name not in self._known:
                there_are = f"there are: {', '.join(sorted(self._known))}"
                meant = _meant(name, self._known)
                raise SettingsError(f"unknown option {name!r:.60}; {there_are}{meant}")
        return {name: self._known[name].take(value) for name, value in given.items()}


def _meant(given: object, known: Iterable[str]) -> str:
    return suggestion(given, known) if isinstance(given, str) else ""


def _shown(value: object) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if value is None or isinstance(value, bool | float | str):
        return f"{value!r:.60}"
    # A number of thousands of digits has no `repr`.
    if isinstance(value, int) and abs(value) <= sys.float_info.max:
        return repr(value)
    return _kind_of(value)


def _kind_of(value: object) -> str:
    return f"a value of type {type(value).__name__}"


def _fit_for(hint: object) -> Fit:
    """The function that takes a value for this hint, or raises _Misfit."""
    hint = bound_of(hint)
    if hint is Any or hint is object:
        return lambda value: value
    by_origin = _BY_ORIGIN.get(get_origin(hint))
    if by_origin is not None:
        return by_origin(*get_args(hint))
    if is_typeddict(hint):
        return _options(_Options(hint))
    return _of_class(get_origin(hint) or hint)


def _of_class(kind: Any) -> Fit:
    if kind is float or kind is int:
        return _number((int, float) if kind is float else (int,))
    if kind is Path:
        return _path
    if issubclass(kind, Enum):
        return partial(_member, kind)

    def fit(value: object) -> object:
        if not isinstance(value, kind):
            raise _Misfit(value)
        return value

    return fit


def _number(kinds: tuple[type, ...]) -> Fit:
    def fit(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, kinds):
            raise _Misfit(value)
        if isinstance(value, int) and abs(value) > sys.float_info.max:
            raise _Misfit(value, "a number that is too large to calculate with")
        return value

    return fit


def _path(value: object) -> object:
    if not isinstance(value, str | os.PathLike):
        raise _Misfit(value)
    return value if isinstance(value, Path) else Path(os.fspath(value))


def _member(kind: type[Enum], value: object) -> Enum:
    if isinstance(value, kind):
        return value
    for member in kind:
        if isinstance(value, str) and member.value == value.lower():
            return member
    raise _Misfit(value)


def _annotated(bare: object, *notes: object) -> Fit:
    fits = [_fit_for(bare), *filter(None, map(_fit_for_note, notes))]

    def fit(value: object) -> object:
        for each in fits:
            value = each(value)
        return value

    return fits[0] if len(fits) == 1 else fit


def _fit_for_note(note: object) -> Fit | None:
    match note:
        case Meta():
            return partial(_within, note)
        case OneOf(allowed):
            return partial(_word, allowed)
        case Checked(is_right=is_right):
            return partial(_right, is_right)
        case _:
            return None


def _within(bounds: Meta, value: Any) -> object:
    # Asked this way round, since of a NaN nothing is true.
    is_above = bounds.ge is None or value >= bounds.ge
    if not is_above or not (bounds.le is None or value <= bounds.le):
        raise _Misfit(value)
    return value


def _word(allowed: Iterable[str], value: Any) -> object:
    for word in allowed:
        if word.lower() == value.lower():
            return word
    raise _Misfit(value)


def _right(is_right: Callable[[Any], bool], value: Any) -> object:
    if not is_right(value):
        raise _Misfit(value)
    return value


def _either(*kinds: object) -> Fit:
    fits = [_fit_for(kind) for kind in kinds if kind is not NoneType]
    takes_none = NoneType in kinds

    def fit(value: object) -> object:
        if value is None and takes_none:
            return None
        misfits: list[_Misfit] = []
        for each in fits:
            try:
                return each(value)
            except _Misfit as misfit:
                misfits.append(misfit)
        raise misfits[0]

    return fit


def _literal(*words: str) -> Fit:
    return lambda value: _right(lambda word: isinstance(word, str) and word in words, value)


def _items(kind: object, *_: object) -> Fit:
    each = _fit_for(kind)

    def fit(value: object) -> object:
        if not _is_sequence(value):
            raise _Misfit(value)
        try:
            return tuple(map(each, value))
        except _Misfit as misfit:
            raise _Misfit(misfit.value, f"{misfit.shown} in it") from None

    return fit


def _pairs(names: object, kind: object) -> Fit:
    is_name, each, is_json = _fit_for(names), _fit_for(kind), kind is Any

    def fit(value: object) -> object:
        # No value is shown: those of such settings are secrets as often as not.
        if not _is_mapping(value):
            raise _Misfit(value, _kind_of(value))
        taken: dict[object, object] = {}
        for name, held in value.items():
            try:
                taken[is_name(name)] = each(held)
            except _Misfit as misfit:
                where = f"for {name!r:.60}" if isinstance(name, str) else "as a name in it"
                raise _Misfit(misfit.value, f"{_kind_of(misfit.value)} {where}") from None
        if is_json:
            _check_json(value)
        return taken

    return fit


def _is_sequence(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple)


def _is_mapping(value: object) -> TypeGuard[Mapping[object, object]]:
    return isinstance(value, Mapping)


def _check_json(value: object) -> None:
    try:
        json.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise _Misfit(value, "one that JSON cannot carry") from None


def _options(options: _Options) -> Fit:
    def fit(value: object) -> object:
        if not _is_mapping(value):
            raise _Misfit(value, _kind_of(value))
        return options.take({str(name): each for name, each in value.items()})

    return fit


def _subclass(kind: object) -> Fit:
    wanted: Any = bound_of(kind)
    return partial(_right, lambda value: isinstance(value, type) and issubclass(value, wanted))


def _function(*_: object) -> Fit:
    return partial(_right, callable)


_BY_ORIGIN: Final[Mapping[object, Callable[..., Fit]]] = {
    Annotated: _annotated,
    Union: _either,
    UnionType: _either,
    Literal: _literal,
    tuple: _items,
    Sequence: _items,
    dict: _pairs,
    Mapping: _pairs,
    type: _subclass,
    Callable: _function,
}
