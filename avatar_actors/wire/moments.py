"""Times as the agents write them, in and out of seconds."""

from __future__ import annotations

from datetime import UTC, datetime


def moment_of(text: str) -> float:
    """The time that an agent wrote; what is none is very long ago."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def time_text(seconds: float) -> str:
    """A time as the agents write it; empty for one that no calendar has."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return ""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
