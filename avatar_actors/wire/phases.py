"""Where a connection stands: one table of what may follow what, and the ids that are done with."""

from __future__ import annotations

from enum import Enum
from typing import Final


class Phase(Enum):
    """Where the connection stands."""

    NEW = "new"
    OPENING = "opening"
    IDLE = "idle"
    TURN = "turn"
    CANCELLING = "cancelling"
    CLOSED = "closed"


class Step(Enum):
    """What moves it on."""

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
    """The present phase. A step that the table does not have is not made."""

    def __init__(self) -> None:
        self.phase = Phase.NEW

    def go(self, step: Step) -> bool:
        """Make the step if it may follow; whether it did."""
        found = MOVES.get((self.phase, step))
        if found is not None:
            self.phase = found
        return found is not None


MOST_REMEMBERED: Final = 1024


class RecentIds:
    """The latest of the ids that were added; older ones are forgotten."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._ids

    def add(self, *names: str) -> None:
        """Done with these."""
        for name in names:
            self._ids.pop(name, None)
            self._ids[name] = None
        while len(self._ids) > MOST_REMEMBERED:
            del self._ids[next(iter(self._ids))]
