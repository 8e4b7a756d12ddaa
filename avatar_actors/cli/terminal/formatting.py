"""Figures in the words of people: times, tokens, money."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from avatar_actors import CostSource, Usage

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR


def moment_of(text: str) -> datetime | None:
    """The time that stores and agents write, in the local zone; None if it is none."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError:
        return None


def ago(then: datetime | None, now: datetime) -> str:
    """How long it is since then, in words; of what is long ago, the day."""
    if then is None:
        return "-"
    seconds = (now - then).total_seconds()
    if seconds < MINUTE:
        return "just now"
    if seconds < HOUR:
        return _many(seconds // MINUTE, "minute")
    if seconds < DAY:
        return _many(seconds // HOUR, "hour")
    if seconds < 7 * DAY:
        return _many(seconds // DAY, "day")
    return then.strftime("%Y-%m-%d")


def clock(then: datetime | None) -> str:
    """The local time, in full."""
    return then.strftime("%Y-%m-%d %H:%M:%S") if then else "-"


def _many(count: float, unit: str) -> str:
    return f"{count:.0f} {unit}{'s' if count > 1 else ''} ago"


_MINUTE, _HOUR = 60, 3600
_FEW_SECONDS = 10
_THOUSAND, _MILLION = 1000, 1_000_000
_CENT = 0.01


def seconds(duration: float) -> str:
    """How long something took."""
    if duration < _FEW_SECONDS:
        return f"{max(0.0, duration):.1f}s"
    return elapsed(duration)


def elapsed(duration: float) -> str:
    """How long something goes on: it changes once a second at most."""
    whole = max(0, int(duration))
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return f"{whole // _MINUTE}m {whole % _MINUTE:02}s"
    return f"{whole // _HOUR}h {whole % _HOUR // _MINUTE:02}m"


def count(number: int) -> str:
    """Tokens, in three digits or so."""
    if number < _THOUSAND:
        return str(number)
    if number < _MILLION:
        return f"{number / _THOUSAND:.1f}k"
    return f"{number / _MILLION:.1f}M"


def used(usage: Usage) -> list[str]:
    """Tokens and money, each if somebody told it; a tilde: nobody did, so it was guessed."""
    words = [f"{count(usage.tokens)} tokens"] if usage.tokens else []
    if usage.cost_usd:
        about = "~" if usage.cost_source is CostSource.ESTIMATED else ""
        digits = 2 if usage.cost_usd >= _CENT else 4
        words.append(f"{about}${usage.cost_usd:.{digits}f}")
    return words
