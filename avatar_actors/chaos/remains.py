"""What a run leaves behind: processes, zombies, descriptors, tasks, threads, directories."""

from __future__ import annotations

import gc
import os
import tempfile
import threading
from pathlib import Path

import trio
from msgspec import Struct

from avatar_actors.chaos.sight import Wardens, marked_as_begun
from avatar_actors.warden.process_tree import descendants, read_stat

_SETTLE = 10.0
_LOOK = 0.05
# What trio keeps of its workers for the next call, for ten seconds.
_IDLE_WORKER = "Trio thread"


class Inventory(Struct, frozen=True, kw_only=True):
    """What there is at one moment, of this program and below it."""

    processes: frozenset[int]
    zombies: frozenset[int]
    descriptors: int
    tasks: int
    threads: int
    directories: frozenset[str]


class Remains(Struct, frozen=True, kw_only=True):
    """What there is more at the end than there was at the beginning."""

    orphans: int
    zombies: int
    descriptors: int
    tasks: int
    threads: int
    directories: int

    @property
    def is_clean(self) -> bool:
        """Whether there is nothing."""
        return not any(getattr(self, name) for name in self.__struct_fields__)


def inventory(run: str, wardens: Wardens) -> Inventory:
    """Count everything, now. `run` is the mark of the processes of this run."""
    gc.collect()
    family = descendants(os.getpid())
    stats = {pid: stat for pid in family if (stat := read_stat(pid)) is not None}
    dead = frozenset(pid for pid, stat in stats.items() if stat.is_dead)
    ours = {*stats, *(each.pid for each in marked_as_begun(run))}
    ours |= {each.pid for each in wardens.everybody()}
    return Inventory(
        processes=frozenset(ours - dead),
        zombies=dead,
        descriptors=open_descriptors(),
        tasks=trio.lowlevel.current_statistics().tasks_living,
        threads=busy_threads(),
        directories=frozenset(_directories()),
    )


def open_descriptors() -> int:
    """Of this process; the one that lists them is not counted."""
    return len(os.listdir("/proc/self/fd")) - 1  # noqa: PTH208 - names are enough


def busy_threads() -> int:
    """Without those that trio keeps for a while."""
    return sum(not thread.name.startswith(_IDLE_WORKER) for thread in threading.enumerate())


async def remains_since(before: Inventory, run: str, wardens: Wardens) -> Remains:
    """What is left, once what is on its way out had time to go."""
    left = _difference(before, inventory(run, wardens))
    with trio.move_on_after(_SETTLE):
        while not left.is_clean:
            await trio.sleep(_LOOK)
            left = _difference(before, inventory(run, wardens))
    return left


def _difference(before: Inventory, after: Inventory) -> Remains:
    return Remains(
        orphans=len(after.processes - before.processes),
        zombies=len(after.zombies - before.zombies),
        descriptors=max(0, after.descriptors - before.descriptors),
        tasks=max(0, after.tasks - before.tasks),
        threads=max(0, after.threads - before.threads),
        directories=len(after.directories - before.directories),
    )


def _directories() -> list[str]:
    """The private directories of this program."""
    stat = read_stat(os.getpid())
    ours = f"{os.getpid()}.{stat.started if stat is not None else 0}-"
    places = {os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir()} - {""}
    parents = (Path(place) / f"avatar-actors-{os.geteuid()}" for place in places)
    return [
        str(path)
        for parent in parents
        if parent.is_dir()
        for path in parent.iterdir()
        if path.name.lstrip(".").startswith(ours)
    ]
