"""What happened, in order, as the model predicts it and as the notices of a real tree tell it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Event(NamedTuple):
    """One thing that happened at a place in the tree."""

    time: float
    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.time:6g}  {self.path}  {self.what}"


@dataclass(frozen=True)
class Together:
    """Things that happen side by side: the order holds within a part, not between parts."""

    parts: tuple[Trace, ...]


Trace: TypeAlias = Sequence[Event | Together]


def explains(predicted: Trace, seen: Sequence[Event]) -> bool:
    """Whether what was seen is one of the orders that the prediction allows."""
    rest = list(seen)
    for entry in predicted:
        length = size(entry)
        now, rest = rest[:length], rest[length:]
        if isinstance(entry, Event):
            if now != [entry]:
                return False
        elif not _explains_parts(entry, now):
            return False
    return not rest


def size(entry: Event | Together) -> int:
    """How many events it stands for."""
    if isinstance(entry, Event):
        return 1
    return sum(size(each) for part in entry.parts for each in part)


def spell_trace(trace: Trace, mark: str = "") -> Iterator[str]:
    """One line for each event; those of one part of a Together carry its number."""
    for entry in trace:
        if isinstance(entry, Event):
            yield f"{entry}{mark}"
        else:
            for number, part in enumerate(entry.parts, start=1):
                yield from spell_trace(part, f"{mark}  (side by side: {number})")


def _explains_parts(together: Together, seen: Sequence[Event]) -> bool:
    owners = [_paths(part) for part in together.parts]
    mine = [[event for event in seen if event.path in paths] for paths in owners]
    return sum(map(len, mine)) == len(seen) and all(map(explains, together.parts, mine))


def _paths(trace: Trace) -> set[str]:
    paths: set[str] = set()
    for entry in trace:
        if isinstance(entry, Event):
            paths.add(entry.path)
        else:
            paths.update(*map(_paths, entry.parts))
    return paths
