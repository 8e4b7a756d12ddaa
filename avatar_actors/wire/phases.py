"""The phases of a connection, as one table of allowed steps, and a bounded set of recent ids."""

from __future__ import annotations

from enum import Enum
from typing import Final


class Phase(Enum):
    """The phase of a connection."""

    NEW = "new"
    OPENING = "opening"
    IDLE = "idle"
    TURN = "turn"
    CANCELLING = "cancelling"
    CLOSED = "closed"


class Step(Enum):
    """What changes the phase."""

    OPEN = "open"
    OPENED = "opened"
    REFUSED = "refused"
    PROMPT = "prompt"
    CANCEL = "cancel"
    OVER = "over"
    CLOSE = "close"


MOVES: Final = {
    (Phase.NEW, Step.OPEN): Phase.OPENING,
    (Phase.OPENING, Step.OPENED): Phase.IDLE,
    (Phase.OPENING, Step.REFUSED): Phase.CLOSED,
    (Phase.IDLE, Step.PROMPT): Phase.TURN,
    (Phase.TURN, Step.CANCEL): Phase.CANCELLING,
    (Phase.TURN, Step.OVER): Phase.IDLE,
    (Phase.CANCELLING, Step.OVER): Phase.IDLE,
    (Phase.NEW, Step.CLOSE): Phase.CLOSED,
    (Phase.OPENING, Step.CLOSE): Phase.CLOSED,
    (Phase.IDLE, Step.CLOSE): Phase.CLOSED,
    (Phase.TURN, Step.CLOSE): Phase.CLOSED,
    (Phase.CANCELLING, Step.CLOSE): Phase.CLOSED,
}


class PhaseTracker:
    """The current phase; a step that is not in the table is not made."""

    def __init__(self) -> None:
        self.phase = Phase.NEW

    def go(self, step: Step) -> bool:
        """Make the step if it is allowed; returns whether it was."""
        found = MOVES.get((self.phase, step))
        if found is not None:
            self.phase = found
        return found is not None


MOST_REMEMBERED: Final = 1024


class RecentIds:
    """Remembers the latest ids added; older ones are forgotten."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._ids

    def add(self, *names: str) -> None:
        """Remember these ids."""
        for name in names:
            self._ids.pop(name, None)
            self._ids[name] = None
        while len(self._ids) > MOST_REMEMBERED:
            del self._ids[next(iter(self._ids))]
