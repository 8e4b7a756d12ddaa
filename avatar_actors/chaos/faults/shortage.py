"""A moment without descriptors, and how everybody else here waits until it is over."""

from __future__ import annotations

import os
import resource
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeVar

import trio

_PRESS = 0.005
_LOOKS = 2

R = TypeVar("R")


class Shortage:
    """Only one at a time; who looks at /proc meanwhile would take "cannot see" for "is gone"."""

    def __init__(self) -> None:
        self._lock = trio.Lock()
        self._is_over = trio.Event()
        self._is_over.set()
        self._looks = trio.CapacityLimiter(_LOOKS)

    async def over(self) -> None:
        """Until descriptors are to be had. Until the next checkpoint they are."""
        while not self._is_over.is_set():
            await self._is_over.wait()

    async def look(self, work: Callable[[], R]) -> R:
        """Have this done in a thread, while no shortage can begin."""
        async with self._looks:
            return await trio.to_thread.run_sync(work)

    @asynccontextmanager
    async def of_descriptors(self) -> AsyncGenerator[None]:
        """No new descriptor for this process; also those that others give back are taken away."""
        async with self._lock, AsyncExitStack() as looks:
            for place in range(_LOOKS):
                await self._looks.acquire_on_behalf_of(place)
                looks.callback(self._looks.release_on_behalf_of, place)
            before = resource.getrlimit(resource.RLIMIT_NOFILE)
            self._is_over = trio.Event()
            try:
                async with trio.open_nursery() as nursery:
                    _press(before[1])
                    nursery.start_soon(_keep_pressing, before[1])
                    yield
                    nursery.cancel_scope.cancel()
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, before)
                self._is_over.set()


async def _keep_pressing(hard: int) -> None:
    while True:
        await trio.sleep(_PRESS)
        _press(hard)


def _press(hard: int) -> None:
    try:
        lowest = os.dup(2)
    except OSError:
        return
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
