"""The work's event loop for libraries on asyncio."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from bench.comparison.work.interface import Ready

T = TypeVar("T")


class OnAsyncio:
    def run(self, main: Callable[[], Awaitable[None]]) -> None:
        async def whole() -> None:
            await main()

        asyncio.run(whole())

    async def within(self, seconds: float, work: Callable[[], Awaitable[T]]) -> T:
        return await asyncio.wait_for(work(), seconds)

    async def together(self, works: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
        return list(await asyncio.gather(*(work() for work in works)))

    async def beside(
        self, work: Callable[[Ready], Awaitable[None]], then: Callable[[], Awaitable[None]]
    ) -> None:
        ready = asyncio.Event()
        task = asyncio.ensure_future(work(ready.set))
        await ready.wait()
        await then()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await task
