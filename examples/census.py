"""Counts the processes below this one, and which of those that were ever seen are still there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")


class Process(NamedTuple):
    """A process for good: its number may be used again, number and start time together not."""

    pid: int
    parent: int
    born: int


class Census:
    """Everything that was ever seen below this process. Where there is no /proc it sees nothing."""

    def __init__(self) -> None:
        self.seen: set[tuple[int, int]] = set()

    def look(self, top: int = 0) -> None:
        """Remember who is there now: below this process, or this other one and all below it."""
        everybody = processes()
        family = {top or os.getpid()}
        size = 0
        while size != len(family):
            size = len(family)
            family |= {each.pid for each in everybody if each.parent in family}
        family.discard(os.getpid())
        self.seen |= {(each.pid, each.born) for each in everybody if each.pid in family}

    def left(self) -> int:
        """How many of them are still there."""
        return len(self.seen & {(each.pid, each.born) for each in processes()})


def processes() -> list[Process]:
    """All processes of this system, as far as it tells."""
    if not PROC.is_dir():
        return []
    numbers = [entry.name for entry in PROC.iterdir() if entry.name.isdecimal()]
    return [found for number in numbers if (found := _process(int(number))) is not None]


def _process(pid: int) -> Process | None:
    try:
        # The name, in brackets, may hold anything; the fields behind it are numbers.
        fields = (PROC / str(pid) / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:  # it has ended meanwhile
        return None
    return Process(pid, parent=int(fields[1]), born=int(fields[19]))
