"""Lives on plain asyncio: a bare task with a queue, and a try in a loop that starts it anew."""

import asyncio
from collections.abc import Iterable
from statistics import median
from time import perf_counter

from bench.contestants.memory import traced
from bench.contestants.rules import CAPACITY, CRASH


async def wait_for_mail(queue: asyncio.Queue[int]) -> None:
    while True:
        await queue.get()


def create(n: int) -> float:
    """Tasks with a queue; each has run to its first receive before the next is made."""

    async def main() -> float:
        children: list[asyncio.Task[None]] = []
        begin = perf_counter()
        for _ in range(n):
            children.append(asyncio.create_task(wait_for_mail(asyncio.Queue(CAPACITY))))
            await asyncio.sleep(0)
        seconds = perf_counter() - begin
        await stop(children)
        return seconds

    return asyncio.run(main())


def fork_join_create(n: int) -> float:
    """Create a task, send it one message, which ends it; an operation is one such life."""

    async def one_message(queue: asyncio.Queue[int]) -> None:
        await queue.get()

    async def main() -> float:
        begin = perf_counter()
        async with asyncio.TaskGroup() as tasks:
            for _ in range(n):
                queue = asyncio.Queue[int](CAPACITY)
                tasks.create_task(one_message(queue))
                await queue.put(1)
        return perf_counter() - begin

    return asyncio.run(main())


def restart(n: int) -> float:
    """From a crash to the next answer; the median of n in seconds."""

    async def main() -> float:
        requests = asyncio.Queue[int](CAPACITY)
        replies = asyncio.Queue[int](CAPACITY)

        async def live(life: int) -> None:
            while True:
                if await requests.get() == CRASH:
                    raise ValueError("told to crash")
                await replies.put(life)

        async def keep_alive() -> None:
            life = 1
            while True:
                try:
                    await live(life)
                except ValueError:
                    life += 1

        child = asyncio.create_task(keep_alive())
        await asyncio.sleep(0)
        p50 = await _time_restarts(requests, replies, n)
        await stop([child])
        return p50

    return asyncio.run(main())


async def _time_restarts(
    requests: asyncio.Queue[int], replies: asyncio.Queue[int], n: int
) -> float:
    times: list[float] = []
    for life in range(2, n + 2):
        begin = perf_counter()
        await requests.put(CRASH)
        await requests.put(1)
        answered_by = await replies.get()
        times.append(perf_counter() - begin)
        assert answered_by == life
    return median(times)


def idle_memory(n: int) -> float:
    """The bytes that n idle tasks with a queue hold."""

    async def main() -> float:
        children: list[asyncio.Task[None]] = []
        with traced() as held:
            before = held()
            for _ in range(n):
                children.append(asyncio.create_task(wait_for_mail(asyncio.Queue(CAPACITY))))
            await asyncio.sleep(0)
            in_use = held() - before
        await stop(children)
        return in_use

    return asyncio.run(main())


def start_and_stop_in_order(n: int) -> float:
    """Each ready before the next; stopped in reverse, each waited for."""

    async def child(queue: asyncio.Queue[int], ready: asyncio.Event) -> None:
        ready.set()
        await wait_for_mail(queue)

    async def main() -> float:
        children: list[asyncio.Task[None]] = []
        begin = perf_counter()
        for _ in range(n):
            ready = asyncio.Event()
            children.append(asyncio.create_task(child(asyncio.Queue(CAPACITY), ready)))
            await ready.wait()
        for task in reversed(children):
            await stop([task])
        return perf_counter() - begin

    return asyncio.run(main())


def start_and_stop_at_once(n: int) -> float:
    """All side by side, and all stopped at once."""

    async def main() -> float:
        begin = perf_counter()
        children = [asyncio.create_task(wait_for_mail(asyncio.Queue(CAPACITY))) for _ in range(n)]
        await asyncio.sleep(0)
        await stop(children)
        return perf_counter() - begin

    return asyncio.run(main())


async def stop(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel all of them, then wait for their ends."""
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
