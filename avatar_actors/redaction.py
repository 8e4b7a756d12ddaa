"""Hiding secrets in what is shown: events, reasons, log lines. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from msgspec import Struct

# Shorter ones are words; hiding them would garble everything.
_SHORTEST = 6
_MARK = "[secret]"


class Redactor:
    """Knows values that must never be shown, and puts a mark in their place."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # A key of several lines comes line by line. The longest first: one may hold another.
        lines = {line for secret in secrets for line in secret.splitlines()}
        shown = {form for line in lines if len(line) >= _SHORTEST for form in _forms(line)}
        self._secrets = sorted(shown, key=len, reverse=True)

    @property
    def longest(self) -> int:
        """Characters of the longest one."""
        return len(self._secrets[0]) if self._secrets else 0

    def hide(self, text: str) -> str:
        """The text without them, and without the beginning of one at its end: it may be cut."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, _MARK)
        end = text.rstrip("'\"")
        for secret in self._secrets:
            start = _begins_at(secret, end)
            if start is not None:
                return end[:start] + _MARK + text[len(end) :]
        return text

    def with_those_of(self, other: Redactor) -> Redactor:
        """One that hides what both do."""
        return Redactor([*self._secrets, *other._secrets])


def _begins_at(secret: str, text: str) -> int | None:
    """Where the text ends with the beginning of the secret."""
    start = text.find(secret[:_SHORTEST], max(0, len(text) - len(secret)))
    while start >= 0 and not secret.startswith(text[start:]):
        start = text.find(secret[:_SHORTEST], start + 1)
    return start if start >= 0 else None


def _forms(secret: str) -> set[str]:
    """As it is, and as it stands in JSON and in a `repr`."""
    as_json = json.dumps(secret), json.dumps(secret, ensure_ascii=False)
    return {secret, *(form[1:-1] for form in (*as_json, ascii(secret)))}


def repr_without(settings: Struct, *hidden: str) -> str:
    """The `repr` of a struct whose fields of these names show the names in them, not the values."""
    shown = {name: repr(getattr(settings, name)) for name in settings.__struct_fields__}
    for name in hidden:
        values: Mapping[str, str] = getattr(settings, name)
        shown[name] = repr(dict.fromkeys(values, _MARK))
    return f"{type(settings).__name__}({', '.join(f'{name}={shown[name]}' for name in shown)})"
