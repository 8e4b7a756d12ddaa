"""The error of a script that cannot be played."""

from __future__ import annotations


class BadScript(Exception):
    """The script asks for what does not exist; the message says what and what does."""
