"""Remembers ids that are done with, so that what comes late for them is known to be late."""

from __future__ import annotations

from typing import Final

MOST_REMEMBERED: Final = 1024


class Fence:
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
