"""The supervision tree as others see it: names, states and counts, and nothing that was said."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class TreeHappening(StrEnum):
    """What can happen to a part of the tree."""

    READY = "ready"
    CRASHED = "crashed"
    RESTARTING = "restarting"
    GAVE_UP = "gave_up"
    STUCK = "stuck"
    STOPPED = "stopped"


class TreeChange(Struct, frozen=True, kw_only=True):
    """Something happened at `path`, at `time` in seconds since the epoch.

    `error` is the kind of a crash's error: its words may be private. `delay` is that of a restart.
    """

    what: TreeHappening
    path: str
    time: float
    life: int = 0
    error: str = ""
    delay: float = 0.0


class TreePart(Struct, frozen=True, kw_only=True):
    """One actor or supervisor, and what is below it; `strategy` is empty for an actor.

    `since` is when its present life began and `due` when the next one will, in seconds since the
    epoch, if it waits for a restart. `waiting` is the messages in its mailbox.
    """

    name: str
    state: str
    since: float
    life: int = 1
    crashes: int = 0
    waiting: int = 0
    due: float | None = None
    strategy: str = ""
    children: tuple[TreePart, ...] = ()


class TreeSnapshot(Struct, frozen=True, kw_only=True):
    """The whole tree of a program at `time`, and what has happened since the snapshot before.

    `missed` counts changes that came too fast to be told; the tree itself is always as it was.
    """

    pid: int
    program: str
    since: float
    time: float
    changes: tuple[TreeChange, ...]
    missed: int
    tree: TreePart
