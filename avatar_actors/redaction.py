"""Hiding secrets in what is shown: events, reasons, log lines. Pure."""

from __future__ import annotations

from collections.abc import Iterable

# Shorter ones are words; hiding them would garble everything.
_SHORTEST = 6


class Redactor:
    """Knows values that must never be shown, and puts a mark in their place."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # A key of several lines comes line by line. The longest first: one may hold another.
        lines = {line for secret in secrets for line in secret.splitlines()}
        lines = {line for line in lines if len(line) >= _SHORTEST}
        self._secrets = sorted(lines, key=len, reverse=True)

    @property
    def longest(self) -> int:
        """Characters of the longest one."""
        return len(self._secrets[0]) if self._secrets else 0

    def hide(self, text: str) -> str:
        """The text without them."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, "[secret]")
        return text
