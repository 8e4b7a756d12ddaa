"""The nearest right word to a wrong one, for an error that helps."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, words: Iterable[str]) -> str:
    """The one of the words that was probably meant, or nothing."""
    from difflib import get_close_matches  # noqa: PLC0415 - only an error needs it

    by_case = {each.lower(): each for each in words}
    close = get_close_matches(word.lower(), by_case, n=1)
    return by_case[close[0]] if close else ""


def suggestion(word: str, words: Iterable[str]) -> str:
    """A question to put behind an error, or nothing."""
    meant = nearest(word, words)
    return f"; did you mean {meant!r}?" if meant else ""
