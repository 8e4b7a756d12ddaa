"""What a run leaves behind: processes, zombies, descriptors, tasks, threads, directories."""

from __future__ import annotations

import gc
import os
import tempfile
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

import trio
from msgspec import Struct

from avatar_actors.chaos.oracle.process_view import ProcessOwners, Wardens, process_owners
from avatar_actors.programs.warden.process_tree import read_stat

_SETTLE = 10.0
_LOOK = 0.05
# What trio keeps of its workers for the next call, for ten seconds.
_IDLE_WORKER = "Trio thread"

Look: TypeAlias = Callable[[], Awaitable["Inventory"]]


class Inventory(Struct, frozen=True, kw_only=True):
    """What there is at one moment, of this program and below it."""

    processes: ProcessOwners
    descriptors: int
    tasks: int
    threads: int
    directories: int


class Leftovers(Struct, frozen=True, kw_only=True):
    """What there is more than there was before."""

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

    def __or__(self, other: Leftovers) -> Leftovers:
        """The worse of both, for each."""
        names = self.__struct_fields__
        worse = {name: max(getattr(self, name), getattr(other, name)) for name in names}
        return Leftovers(**worse)


NOTHING_LEFT = Leftovers(orphans=0, zombies=0, descriptors=0, tasks=0, threads=0, directories=0)


def inventory(run: str, wardens: Wardens, agents: frozenset[int] = frozenset()) -> Inventory:
    """Count everything, now. `run` is the mark of its processes; `agents` may be there."""
    gc.collect()
    return Inventory(
        processes=process_owners(run, wardens, agents),
        descriptors=open_descriptors(),
        tasks=trio.lowlevel.current_statistics().tasks_living,
        threads=busy_threads(),
        directories=len(_directories()),
    )


def open_descriptors() -> int:
    """Of this process; the one that lists them is not counted."""
    return len(os.listdir("/proc/self/fd")) - 1  # noqa: PTH208 - names are enough


def busy_threads() -> int:
    """Without those that trio keeps for a while."""
    return sum(not thread.name.startswith(_IDLE_WORKER) for thread in threading.enumerate())


async def steady(look: Look, seconds: float) -> Inventory:
    """What there is, once it has not changed for so long."""
    there, since = await look(), trio.current_time()
    with trio.move_on_after(seconds + _SETTLE):
        while trio.current_time() < since + seconds:
            await trio.sleep(_LOOK)
            last, there = there, await look()
            since = since if there == last else trio.current_time()
    return there


async def settled(before: Inventory, look: Look) -> Inventory:
    """What there is, once what is on its way out had time to go."""
    there = await look()
    with trio.move_on_after(_SETTLE):
        while not difference(before, there).is_clean:
            await trio.sleep(_LOOK)
            there = await look()
    return there


def difference(before: Inventory, after: Inventory) -> Leftovers:
    """What there is more. Of helpers and directories the number: a restart gives them new names."""
    then, now = before.processes, after.processes
    more = max(0, len(now.helpers) - len(then.helpers))
    return Leftovers(
        orphans=len(now.strays - then.strays) + more,
        zombies=len(now.zombies - then.zombies),
        descriptors=max(0, after.descriptors - before.descriptors),
        tasks=max(0, after.tasks - before.tasks),
        threads=max(0, after.threads - before.threads),
        directories=max(0, after.directories - before.directories),
    )


def _directories() -> list[str]:
    """The private directories of this program, and those of its avatars within them."""
    stat = read_stat(os.getpid())
    ours = f"{os.getpid()}.{stat.started if stat is not None else 0}-"
    places = {os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir()} - {""}
    parents = (Path(place) / f"avatar-actors-{os.geteuid()}" for place in places)
    own = [
        path
        for parent in parents
        if parent.is_dir()
        for path in parent.iterdir()
        if path.name.lstrip(".").startswith(ours)
    ]
    return [str(path) for path in (*own, *(below for path in own for below in path.iterdir()))]
