"""Formats times, tokens and money for people."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from avatar_actors import CostSource, Usage

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR


def moment_of(text: str) -> datetime | None:
    """An ISO time of a store or agent, in the local zone; None if it cannot be read."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError:
        return None


def ago(then: datetime | None, now: datetime) -> str:
    """How long ago, in words; after a week, the date."""
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
    """The local date and time."""
    return then.strftime("%Y-%m-%d %H:%M:%S") if then else "-"


def _many(count: float, unit: str) -> str:
    return f"{count:.0f} {unit}{'s' if count > 1 else ''} ago"


_FEW_SECONDS = 10
_THOUSAND, _MILLION = 1000, 1_000_000
_CENT = 0.01


def seconds(duration: float) -> str:
    """How long something took."""
    if duration < _FEW_SECONDS:
        return f"{max(0.0, duration):.1f}s"
    return elapsed(duration)


def elapsed(duration: float) -> str:
    """How long something has been going on, in whole seconds."""
    whole = max(0, int(duration))
    if whole < MINUTE:
        return f"{whole}s"
    if whole < HOUR:
        return f"{whole // MINUTE}m {whole % MINUTE:02}s"
    return f"{whole // HOUR}h {whole % HOUR // MINUTE:02}m"


def count(number: int) -> str:
    """A number of tokens in about three digits."""
    if number < _THOUSAND:
        return str(number)
    if number < _MILLION:
        return f"{number / _THOUSAND:.1f}k"
    return f"{number / _MILLION:.1f}M"


def used(usage: Usage) -> list[str]:
    """Tokens and cost, as far as reported; a tilde marks an estimated cost."""
    words = [f"{count(usage.tokens)} tokens"] if usage.tokens else []
    if usage.cost_usd:
        about = "~" if usage.cost_source is CostSource.ESTIMATED else ""
        digits = 2 if usage.cost_usd >= _CENT else 4
        words.append(f"{about}${usage.cost_usd:.{digits}f}")
    return words
