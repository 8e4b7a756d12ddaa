"""For tests of your own trees: wait for a notice, crash, freeze or step a child, find what is left.

Use them on virtual time (`trio.testing.MockClock`, pytest-trio's `autojump_clock`) and no test has
to sleep to get its order right.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

import trio
import trio.testing

from supervisors import _life, errors
from supervisors.address import Address
from supervisors.notices import Notice, NoticeStream
from supervisors.snapshot import TreeNode
from supervisors.supervisor import Supervisor

__all__ = ["InjectedCrash", "Watch", "crash", "freeze", "nothing_left", "watch"]

N = TypeVar("N", bound=Notice)

_PATIENCE = 60.0
# Longer than any backoff.
_VIRTUAL_PATIENCE = 1e6


class InjectedCrash(Exception):
    """What a child dies of when `crash` is given no other error."""


class Watch:
    """A reader of a tree's notices that remembers what it saw."""

    def __init__(self, stream: NoticeStream, tree: Callable[[], TreeNode]) -> None:
        self.seen: list[Notice] = []
        self._stream, self._tree = stream, tree

    async def next(
        self, kind: type[N], path: str | None = None, *, within: float | None = None
    ) -> N:
        """Wait for the next notice of that kind, of that child if one is named.

        AssertionError, with the paths that there are, if none comes within so many seconds: a
        minute, or on virtual time eleven days, which pass at once when nothing else happens.
        """
        is_virtual = isinstance(trio.lowlevel.current_clock(), trio.testing.MockClock)
        limit = (_VIRTUAL_PATIENCE if is_virtual else _PATIENCE) if within is None else within
        with trio.move_on_after(limit):
            async for notice in self._stream:
                self.seen.append(notice)
                if isinstance(notice, kind) and path in (None, notice.path):
                    return notice
        raise AssertionError(f"no {kind.__name__}{self._whose(path)} within {limit:g} s")

    def _whose(self, path: str | None) -> str:
        paths = [node.path for node in self._tree().walk()]
        if path is None or path in paths:
            return f" of {path}" if path else ""
        return f" of {path!r}, which is not in the tree ({', '.join(paths[:20])}),"

    def all(self) -> list[Notice]:
        """Everything up to now, without waiting."""
        self.seen += self._stream.seen_so_far()
        return self.seen


@contextmanager
def watch(supervisor: Supervisor) -> Generator[Watch]:
    """Follow what happens in the supervisor's tree: `await watching.next(Ready, "shop/till")`."""
    with supervisor.notices(capacity=100_000) as stream:
        yield Watch(stream, supervisor.tree)


async def crash(target: Address[Any], error: Exception | None = None) -> None:
    """Make the present life of a child end by an error, as if the actor had raised it.

    Its `finally` blocks run, as in a cancellation. Returns when that life is over.
    """
    life = _life_of(target)
    monitor = Address[Any](life.cell).monitor()
    life.injected = error or InjectedCrash(f"{life.cell.path} was crashed by a test")
    life.inbox.pause()
    life.scope.cancel()
    await monitor.down()


@contextmanager
def freeze(target: Address[Any]) -> Generator[Callable[[], Awaitable[bool]]]:
    """Let a child, or a supervisor, handle no message inside the block but those you step.

    Gives a function: it lets one message be handled and everything come to rest, and says whether
    there was one. A message that is in hand already is finished; the mailbox fills up.
    """
    life, waiting = _life_of(target), trio.lowlevel.ParkingLot()

    async def step() -> bool:
        await trio.testing.wait_all_tasks_blocked()
        had_one = bool(waiting.unpark())
        await trio.testing.wait_all_tasks_blocked()
        return had_one

    life.cell.gate = waiting.park
    life.inbox.pause()
    try:
        yield step
    finally:
        life.cell.gate = None
        waiting.unpark_all()


@asynccontextmanager
async def nothing_left() -> AsyncGenerator[None]:
    """Fail if a task that began inside the block is still alive at its end."""
    root = trio.lowlevel.current_root_task()
    before = set(_tasks_of(root))
    yield
    await trio.testing.wait_all_tasks_blocked()
    left = sorted(task.name for task in _tasks_of(root) if task not in before)
    if left:
        raise AssertionError(f"{len(left)} tasks are left behind: {', '.join(left)}")


def _life_of(target: Address[Any]) -> _life.Life:
    cell = target._home  # pyright: ignore[reportPrivateUsage]  # the one look behind the door
    if cell.life is None or cell.life.exit is not None:
        raise errors.ActorDown(cell.path, cell.exit)
    return cell.life


def _tasks_of(task: trio.lowlevel.Task | None) -> Iterator[trio.lowlevel.Task]:
    if task is not None:
        yield task
        for nursery in task.child_nurseries:
            for child in nursery.child_tasks:
                yield from _tasks_of(child)
