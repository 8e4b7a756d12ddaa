"""What a stretch of a test costs, in steps of tasks and calls of functions: no clock is asked."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from types import FrameType

_CALLS = frozenset({"call", "c_call"})


class Cost(trio.abc.Instrument):
    """Both are nearly exact, on any machine; how long it takes is told by `bench.supervision`."""

    def __init__(self) -> None:
        self.steps = 0
        self.calls = 0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        """One more."""
        self.steps += 1

    def profile(self, frame: FrameType, event: str, detail: object) -> None:
        """One more, of Python's functions or of C's."""
        self.calls += event in _CALLS


@contextmanager
def cost_of_block() -> Generator[Cost]:
    """The cost of everything that runs inside the block, complete at its end."""
    cost, before = Cost(), sys.getprofile()
    trio.lowlevel.add_instrument(cost)
    sys.setprofile(cost.profile)
    try:
        yield cost
    finally:
        sys.setprofile(before)
        trio.lowlevel.remove_instrument(cost)


def assert_linear(costs: Sequence[Cost], times: int) -> None:
    """That `times` as much work cost about that much."""
    few, many = costs
    assert many.steps < 1.1 * times * few.steps
    assert many.calls < 1.2 * times * few.calls
