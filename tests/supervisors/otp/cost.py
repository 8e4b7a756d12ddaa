"""What a stretch of a test costs, in steps of tasks and in processor time of this thread."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence


class Cost(trio.abc.Instrument):
    """The steps are exact; the seconds are not disturbed by other programs, but by their caches."""

    def __init__(self) -> None:
        self.steps = 0
        self.seconds = 0.0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        """One more."""
        self.steps += 1


@contextmanager
def cost_of_block() -> Generator[Cost]:
    """The cost of everything that runs inside the block, complete at its end."""
    cost = Cost()
    began = time.thread_time()
    trio.lowlevel.add_instrument(cost)
    try:
        yield cost
    finally:
        trio.lowlevel.remove_instrument(cost)
        cost.seconds = time.thread_time() - began


def assert_linear(costs: Sequence[Cost], times: int) -> None:
    """That `times` as much work cost about that much; in seconds five times that, as in OTP."""
    few, many = costs
    assert many.steps < 1.1 * times * few.steps
    assert many.seconds < 5 * times * few.seconds
