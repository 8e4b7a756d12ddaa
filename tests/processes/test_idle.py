"""Leases whose agents say nothing cost nothing: one task looks after all their descriptors."""

import os
from collections import Counter

import pytest
import trio
import trio.testing

from avatar_actors.processes import open_lease
from avatar_actors.processes.descriptors import CHECK_SECONDS, OwnedFd, check_descriptors, watch

CHECKS = 10


class TaskSteps(trio.abc.Instrument):
    """Counts the steps of each task, by name."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.seen[task.name.rpartition(".")[2]] += 1


@pytest.mark.parametrize("leases", [1, 20])
async def test_leases_that_wait_take_no_steps_beside_the_one_task_that_checks_them(
    autojump_clock: trio.testing.MockClock, leases: int
) -> None:
    steps = TaskSteps()
    async with trio.open_nursery() as nursery:
        # Without a process: the other halves stay here, and nobody writes to them.
        halves = [open_lease() for _ in range(leases)]
        for lease, _ in halves:
            nursery.start_soon(lease.exited)
            nursery.start_soon(lease.exited)
        for _ in range(2):
            nursery.start_soon(check_descriptors)
        await trio.testing.wait_all_tasks_blocked()
        trio.lowlevel.add_instrument(steps)
        await trio.sleep((CHECKS + 0.5) * CHECK_SECONDS)
        trio.lowlevel.remove_instrument(steps)
        nursery.cancel_scope.cancel()
    assert steps.seen.pop("check_descriptors") == CHECKS
    # The test itself, when its time is over.
    assert steps.seen.total() == 1
    for lease, keeper_end in halves:
        keeper_end.close()
        await lease.aclose()


async def test_when_the_task_that_checks_is_cancelled_another_one_goes_on(
    autojump_clock: trio.testing.MockClock,
) -> None:
    read, write = os.pipe()
    owned = OwnedFd(read)
    watch(owned)
    async with trio.open_nursery() as nursery:
        with trio.CancelScope() as first:
            async with trio.open_nursery() as checking:
                checking.start_soon(check_descriptors)
                await trio.testing.wait_all_tasks_blocked()
                nursery.start_soon(check_descriptors)
                await trio.testing.wait_all_tasks_blocked()
                first.cancel()
        nursery.start_soon(_close_later, read)
        with pytest.raises(trio.ClosedResourceError):
            await trio.lowlevel.wait_readable(owned.number)
        nursery.cancel_scope.cancel()
    os.close(write)


async def _close_later(fd: int) -> None:
    """Behind the owner's back, once somebody waits for it."""
    await trio.testing.wait_all_tasks_blocked()
    os.close(fd)
