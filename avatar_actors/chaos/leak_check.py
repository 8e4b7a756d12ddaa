"""Leaks: what is left over after the faults of one kind, after all of them, and after the run."""

from __future__ import annotations

import gc
import os
import tempfile
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TypeAlias

import trio
from msgspec import Struct

from avatar_actors import AvatarDown, HealthStatus, Timeouts
from avatar_actors.chaos.event_recorder import UP
from avatar_actors.chaos.load import PATIENCE
from avatar_actors.chaos.process_view import ProcessOwners, Wardens, process_owners
from avatar_actors.chaos.report.statistics import Histogram
from avatar_actors.chaos.slot import RunContext, Slot
from avatar_actors.programs.warden.process_tree import read_stat

_SETTLE = 10.0
_LOOK = 0.05
# trio keeps its idle workers for ten seconds.
_IDLE_WORKER = "Trio thread"

Look: TypeAlias = Callable[[], Awaitable["Inventory"]]


class Inventory(Struct, frozen=True, kw_only=True):
    """Counts of everything that this program has at one moment, also below it."""

    processes: ProcessOwners
    descriptors: int
    tasks: int
    threads: int
    directories: int


class Leftovers(Struct, frozen=True, kw_only=True):
    """How much more there is than before."""

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
        """The larger of each count."""
        names = self.__struct_fields__
        worse = {name: max(getattr(self, name), getattr(other, name)) for name in names}
        return Leftovers(**worse)


NOTHING_LEFT = Leftovers(orphans=0, zombies=0, descriptors=0, tasks=0, threads=0, directories=0)


def inventory(run: str, wardens: Wardens, agents: frozenset[int] = frozenset()) -> Inventory:
    """Counts everything now. `run` marks its processes; `agents` are allowed to be there."""
    gc.collect()
    return Inventory(
        processes=process_owners(run, wardens, agents),
        descriptors=open_descriptors(),
        tasks=trio.lowlevel.current_statistics().tasks_living,
        threads=busy_threads(),
        directories=len(_directories()),
    )


def open_descriptors() -> int:
    """Counts those of this process, without the one that lists them."""
    return len(os.listdir("/proc/self/fd")) - 1  # noqa: PTH208 - names are enough


def busy_threads() -> int:
    """Counts threads, without the idle workers that trio keeps for a while."""
    return sum(not thread.name.startswith(_IDLE_WORKER) for thread in threading.enumerate())


async def steady(look: Look, seconds: float) -> Inventory:
    """The inventory once it has not changed for so long."""
    there, since = await look(), trio.current_time()
    with trio.move_on_after(seconds + _SETTLE):
        while trio.current_time() < since + seconds:
            await trio.sleep(_LOOK)
            last, there = there, await look()
            since = since if there == last else trio.current_time()
    return there


async def settled(before: Inventory, look: Look) -> Inventory:
    """The inventory once it is back to what it was, or after a grace."""
    there = await look()
    with trio.move_on_after(_SETTLE):
        while not difference(before, there).is_clean:
            await trio.sleep(_LOOK)
            there = await look()
    return there


def difference(before: Inventory, after: Inventory) -> Leftovers:
    """What there is more. Helpers and directories are counted: a restart gives them new names."""
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


_POLL = 0.1


class Alone(Struct, frozen=True, kw_only=True):
    """The figures of the slice of one kind.

    `p99` is of the siblings' `answers`, in seconds; None if there was none. `disturbed` counts
    siblings with a wrong outcome. `left` is what there was more after the slice than before.
    """

    dead_letters: int
    disturbed: int
    answers: int
    p99: float | None
    left: Leftovers


class LeakCheck:
    """Takes inventories while no prompt runs: before the first, between slices and after the last.

    Each slice is compared with the inventory after the one before it.
    """

    def __init__(self, context: RunContext, slots: Sequence[Slot]) -> None:
        self._context, self._slots = context, slots
        self._first: Inventory | None = None
        self._there: Inventory | None = None
        self._dead_letters = self._disturbed = 0

    async def before_questions(self) -> None:
        """Takes the inventory with all avatars up and no prompt sent yet."""
        self._first = await self._look()

    async def after_questions(self) -> Leftovers:
        """What there is more than before the prompts, with all avatars up again."""
        assert self._first is not None
        async with self._rest():
            return difference(self._first, await settled(self._first, self._look))

    async def baseline(self) -> None:
        """Takes the inventory before the first slice."""
        patience = self._context.options.get("timeouts", Timeouts()).interrupt
        async with self._rest():
            # A cancelled turn has a task that waits so long in any case.
            self._there = await steady(self._look, patience + _POLL)
        self._begin()

    async def of_slice(self) -> Alone:
        """The figures since the last inventory."""
        before = self._there
        assert before is not None
        async with self._rest():
            self._there = await settled(before, self._look)
        counters = self._context.counters
        found = Alone(
            dead_letters=self._context.runtime.dead_letters - self._dead_letters,
            disturbed=counters.disturbed - self._disturbed,
            answers=counters.in_slice.total,
            p99=counters.in_slice.percentile(99),
            left=difference(before, self._there),
        )
        self._begin()
        return found

    def _begin(self) -> None:
        """Resets the figures of the slice."""
        counters = self._context.counters
        self._dead_letters, self._disturbed = self._context.runtime.dead_letters, counters.disturbed
        counters.in_slice = Histogram()

    @asynccontextmanager
    async def _rest(self) -> AsyncGenerator[None]:
        """Waits until every prompt has ended and every agent is up; starts none inside."""
        async with AsyncExitStack() as locks:
            for slot in self._slots:
                await locks.enter_async_context(slot.load.asking)
            with trio.move_on_after(PATIENCE):
                await self._until_up()
            yield

    async def _until_up(self) -> None:
        while True:
            healths = await self._healths()
            if all(health.state in UP for health in healths):
                return
            await trio.sleep(_POLL)

    async def _look(self) -> Inventory:
        pids = (health.pid for health in await self._healths())
        agents = frozenset(pid for pid in pids if pid is not None)
        return inventory(self._context.run, self._context.wardens, agents)

    async def _healths(self) -> list[HealthStatus]:
        """Asked again each time: an agent that was restarted has another pid."""
        healths: list[HealthStatus] = []
        for slot in self._slots:
            with suppress(AvatarDown):  # it gave up, and its load will replace it
                healths.append(await slot.avatar.health())
        return healths
