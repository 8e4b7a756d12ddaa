"""Puts a supervision tree into words: states, ages, and one line per change."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from avatar_actors import TreeChange, TreeHappening, TreePart, TreeSnapshot
from avatar_actors.cli.terminal.text import one_line

MINUTE, HOUR, DAY = 60, 3600, 86400
_TROUBLES: Final = (
    TreeHappening.CRASHED,
    TreeHappening.RESTARTING,
    TreeHappening.GAVE_UP,
    TreeHappening.STUCK,
)
_SOON: Final = 0.05
_AVATARS: Final = "runtime/avatars/"


def name_of(part: TreePart) -> str:
    """Its name, cleaned: hosts choose the names of avatars."""
    return one_line(part.name) or "?"


def age(seconds: float) -> str:
    """Short, and seldom changing: `7s`, `2m`, `1h 02m`, `3d 04h`."""
    whole = max(0, int(seconds))
    if whole < MINUTE:
        return f"{whole}s"
    if whole < HOUR:
        return f"{whole // MINUTE}m"
    if whole < DAY:
        return f"{whole // HOUR}h {whole % HOUR // MINUTE:02}m"
    return f"{whole // DAY}d {whole % DAY // HOUR:02}h"


def state_of(part: TreePart, now: float) -> str:
    """Its state, and when it will restart."""
    if part.due is not None and part.due > now:
        return f"{part.state} in {part.due - now:.1f}s"
    return part.state


def crashes_of(part: TreePart) -> str:
    """How often it crashed, after a gap; empty if it did not."""
    match part.crashes:
        case 0:
            return ""
        case 1:
            return "  crashed once"
        case crashes:
            return f"  crashed {crashes} times"


def notes_of(part: TreePart) -> Iterator[str]:
    """Restarts and waiting messages, if any."""
    if part.life > 1:
        yield f"life {part.life}"
    if part.waiting:
        yield f"{part.waiting} waiting"


def avatars_of(snapshot: TreeSnapshot) -> list[TreePart]:
    """The avatars in the snapshot."""
    parts = (part for part in snapshot.tree.children if part.name == "avatars")
    return [avatar for part in parts for avatar in part.children]


def is_calm(part: TreePart) -> bool:
    """Whether it and everything below it runs."""
    return part.state == "running" and all(map(is_calm, part.children))


def size_of(part: TreePart) -> int:
    """The number of parts, itself included."""
    return 1 + sum(map(size_of, part.children))


def is_notable(change: TreeChange) -> bool:
    """Whether it is trouble, an avatar that comes or goes, or a session that is ready."""
    path = change.path.removeprefix(_AVATARS)
    is_avatar = path != change.path and "/" not in path
    is_session = path.endswith("/session") and change.what is TreeHappening.READY
    return change.what in _TROUBLES or is_avatar or is_session


def change_line(change: TreeChange) -> str:
    """One line: when, who, what."""
    clock = time.strftime("%H:%M:%S", time.localtime(change.time))
    path = change.path.removeprefix(_AVATARS).removeprefix("runtime/")
    what = change.what.value.replace("_", " ")
    if change.what is TreeHappening.RESTARTING:
        what += f" in {change.delay:.1f}s" if change.delay >= _SOON else " now"
    if change.error:
        what += f" ({change.error})"
    return one_line(f"{clock} {path}: {what}")


def headline(snapshot: TreeSnapshot, now: float) -> str:
    """The program, its pid, its age and its avatars."""
    count = len(avatars_of(snapshot))
    avatars = f"{count} avatar{'' if count == 1 else 's'}"
    program, running = one_line(snapshot.program), age(now - snapshot.since)
    return f"{program} · process {snapshot.pid} · {running} · {avatars}"
