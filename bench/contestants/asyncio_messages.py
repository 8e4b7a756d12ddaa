"""Messages on plain asyncio: bounded queues between tasks."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter

from bench.contestants.rules import CAPACITY, CROWD, FAN, RING, Countdown, partners


def counting(n: int) -> float:
    """One sender, one counter."""

    async def main() -> float:
        queue = asyncio.Queue[int](CAPACITY)
        begin = perf_counter()
        counter = asyncio.create_task(_count(queue, n))
        for _ in range(n):
            await queue.put(1)
        await counter
        return perf_counter() - begin

    return asyncio.run(main())


def ping_pong(n: int) -> float:
    """Two tasks and one ball; an operation is there and back."""

    async def main() -> float:
        done = asyncio.Event()
        to_ping = asyncio.Queue[int](CAPACITY)
        to_pong = asyncio.Queue[int](CAPACITY)

        async def ping() -> None:
            while True:
                left = await to_ping.get()
                if left:
                    await to_pong.put(left - 1)
                else:
                    done.set()

        async def pong() -> None:
            while True:
                await to_ping.put(await to_pong.get())

        tasks = [asyncio.create_task(ping()), asyncio.create_task(pong())]
        await asyncio.sleep(0)
        begin = perf_counter()
        await to_ping.put(n)
        await done.wait()
        seconds = perf_counter() - begin
        await _end(tasks)
        return seconds

    return asyncio.run(main())


def request_reply(n: int) -> float:
    """A request out, its reply back."""

    async def main() -> float:
        requests = asyncio.Queue[int](CAPACITY)
        replies = asyncio.Queue[int](CAPACITY)

        async def server() -> None:
            while True:
                await replies.put(await requests.get())

        tasks = [asyncio.create_task(server())]
        await asyncio.sleep(0)
        begin = perf_counter()
        for _ in range(n):
            await requests.put(1)
            assert await replies.get() == 1
        seconds = perf_counter() - begin
        await _end(tasks)
        return seconds

    return asyncio.run(main())


def thread_ring(n: int) -> float:
    """A token goes round; an operation is one hop."""

    async def main() -> float:
        done = asyncio.Event()
        ring = [asyncio.Queue[int](CAPACITY) for _ in range(RING)]

        async def pass_on(place: int) -> None:
            queue, neighbour = ring[place], ring[(place + 1) % RING]
            while True:
                left = await queue.get()
                if left:
                    await neighbour.put(left - 1)
                else:
                    done.set()

        tasks = [asyncio.create_task(pass_on(place)) for place in range(RING)]
        await asyncio.sleep(0)
        begin = perf_counter()
        await ring[0].put(n)
        await done.wait()
        seconds = perf_counter() - begin
        await _end(tasks)
        return seconds

    return asyncio.run(main())


@dataclass(frozen=True, slots=True)
class Ping:
    sender: "asyncio.Queue[Ping | Pong]"


@dataclass(frozen=True, slots=True)
class Pong:
    pass


def big(n: int) -> float:
    """A crowd that pings each other at random; an operation is a ping and its pong."""
    pings = n // CROWD

    async def main() -> float:
        done = asyncio.Event()
        finished = Countdown(CROWD, done.set)
        crowd = [asyncio.Queue[Ping | Pong](CAPACITY) for _ in range(CROWD)]

        async def member(me: int) -> None:
            ping, pong = Ping(crowd[me]), Pong()
            targets = partners(me, pings)
            while True:
                message = await crowd[me].get()
                if isinstance(message, Ping):
                    await message.sender.put(pong)
                elif targets:
                    await crowd[targets.pop()].put(ping)
                else:
                    finished.tick()

        tasks = [asyncio.create_task(member(me)) for me in range(CROWD)]
        await asyncio.sleep(0)
        begin = perf_counter()
        for queue in crowd:
            await queue.put(Pong())
        await done.wait()
        seconds = perf_counter() - begin
        await _end(tasks)
        return seconds

    return asyncio.run(main())


def fan_in(n: int) -> float:
    """Several senders, one counter."""

    async def main() -> float:
        queue = asyncio.Queue[int](CAPACITY)

        async def producer() -> None:
            for _ in range(n // FAN):
                await queue.put(1)

        begin = perf_counter()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_count(queue, n))
            for _ in range(FAN):
                tasks.create_task(producer())
        return perf_counter() - begin

    return asyncio.run(main())


def fan_out(n: int) -> float:
    """One sender, several counters in turn."""

    async def main() -> float:
        consumers = [asyncio.Queue[int](CAPACITY) for _ in range(FAN)]
        begin = perf_counter()
        async with asyncio.TaskGroup() as tasks:
            for consumer in consumers:
                tasks.create_task(_count(consumer, n // FAN))
            for _ in range(n // FAN):
                for consumer in consumers:
                    await consumer.put(1)
        return perf_counter() - begin

    return asyncio.run(main())


async def _count(queue: asyncio.Queue[int], until: int) -> None:
    """A queue has no end before Python 3.13, so the counter knows what to expect."""
    total = 0
    while total < until:
        total += await queue.get()


async def _end(tasks: Iterable[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
