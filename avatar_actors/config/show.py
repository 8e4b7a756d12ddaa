"""The configuration as it came out, to be looked at: every value but those that are secret."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import msgspec

from avatar_actors.config.environment import OF_ALL, OF_PROVIDER, PREFIX
from avatar_actors.config.reading import Environ
from avatar_actors.model.redaction import (
    MARK,
    Redactor,
    is_secret_name,
    of_environment,
    of_headers,
    of_url,
)
from avatar_actors.wire.json_values import is_array, is_object

# Of these the names are shown and no value.
HIDDEN: Final = ("env", "headers")


def shown_values(values: object, environ: Environ) -> object:
    """As JSON, without secrets: known by where they stand, and hidden wherever else they are."""
    plain = _finite(values)
    return _shown(plain, Redactor([*_secrets(plain), *of_environment(environ)]))


def from_environment(environ: Environ) -> list[str]:
    """The variables that go before the file, by name."""
    known = {*OF_ALL, *OF_PROVIDER}
    return sorted(name for name in environ if name in known or name.startswith(PREFIX))


def _finite(value: object) -> object:
    """As JSON, which has no word for what has no end, and no keys but words."""
    builtin: object = msgspec.to_builtins(value, enc_hook=str, str_keys=True)
    if isinstance(builtin, float) and math.isinf(builtin):
        return "none"
    if isinstance(builtin, tuple | list):
        return [_finite(each) for each in msgspec.convert(builtin, list[object])]
    return {k: _finite(v) for k, v in builtin.items()} if is_object(builtin) else builtin


def _secrets(value: object) -> Iterator[str]:
    if is_array(value):
        for each in value:
            yield from _secrets(each)
    elif is_object(value):
        for name, each in value.items():
            if name in HIDDEN and is_object(each):
                yield from of_headers({key: str(text) for key, text in each.items()})
            elif name == "url":
                yield from of_url(str(each))
            else:
                yield from _secrets(each)


def _shown(value: object, redactor: Redactor, name: str = "") -> object:
    if is_object(value):
        if name in HIDDEN:
            return dict.fromkeys(value, MARK)
        return {key: _shown(each, redactor, key) for key, each in value.items()}
    if is_array(value):
        words = [_shown(each, redactor) for each in value]
        return list(_arguments(words)) if name == "args" else words
    if not isinstance(value, str):
        return value
    return redactor.hide(_address(value) if name == "url" else value)


def _address(url: str) -> str:
    """Without its query and its login, each of which may be a secret."""
    place, query, _ = url.partition("?")
    scheme, slashes, rest = place.partition("://")
    login, at, host = rest.rpartition("@")
    shown = f"{scheme}{slashes}{MARK}@{host}" if at and login else place
    return f"{shown}?{MARK}" if query else shown


def _arguments(words: list[object]) -> Iterator[object]:
    """Without what stands behind a flag of a secret's name."""
    is_next = False
    for word in words:
        flag, equals, _ = str(word).partition("=")
        if is_next:
            yield MARK
        else:
            yield f"{flag}={MARK}" if equals and is_secret_name(flag) else word
        is_next = flag.startswith("-") and not equals and is_secret_name(flag)
