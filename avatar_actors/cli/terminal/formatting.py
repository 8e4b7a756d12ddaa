"""Times for people: how long ago, or the day, where they live."""

from __future__ import annotations

from datetime import datetime
from typing import Final

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
