"""Messages on plain trio: memory channels, `await send`, `async for`."""

from dataclasses import dataclass
from time import perf_counter

import trio

from bench.contestants.rules import CAPACITY, CROWD, FAN, RING, Countdown, partners


def counting(n: int) -> float:
    """One sender, one counter."""

    async def main() -> float:
        totals: list[int] = []
        begin = perf_counter()
        async with trio.open_nursery() as nursery:
            send, receive = trio.open_memory_channel[int](CAPACITY)
            nursery.start_soon(_count, receive, totals)
            async with send:
                for _ in range(n):
                    await send.send(1)
        assert totals == [n]
        return perf_counter() - begin

    return trio.run(main)


def ping_pong(n: int) -> float:
    """Two tasks and one ball; an operation is there and back."""

    async def main() -> float:
        done = trio.Event()
        to_ping, ping_receives = trio.open_memory_channel[int](CAPACITY)
        to_pong, pong_receives = trio.open_memory_channel[int](CAPACITY)

        async def ping() -> None:
            async for left in ping_receives:
                if left:
                    await to_pong.send(left - 1)
                else:
                    done.set()

        async def pong() -> None:
            async for left in pong_receives:
                await to_ping.send(left)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ping)
            nursery.start_soon(pong)
            begin = perf_counter()
            await to_ping.send(n)
            await done.wait()
            seconds = perf_counter() - begin
            nursery.cancel_scope.cancel()
        return seconds

    return trio.run(main)


def request_reply(n: int) -> float:
    """The plain ping-pong that an ask is measured against: a request out, its reply back."""

    async def main() -> float:
        requests, server_receives = trio.open_memory_channel[int](CAPACITY)
        server_sends, replies = trio.open_memory_channel[int](CAPACITY)

        async def server() -> None:
            async for request in server_receives:
                await server_sends.send(request)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(server)
            begin = perf_counter()
            for _ in range(n):
                await requests.send(1)
                assert await replies.receive() == 1
            seconds = perf_counter() - begin
            nursery.cancel_scope.cancel()
        return seconds

    return trio.run(main)


def thread_ring(n: int) -> float:
    """A token goes round; an operation is one hop."""

    async def main() -> float:
        done = trio.Event()
        ring = [trio.open_memory_channel[int](CAPACITY) for _ in range(RING)]

        async def pass_on(place: int) -> None:
            receive, neighbour = ring[place][1], ring[(place + 1) % RING][0]
            async for left in receive:
                if left:
                    await neighbour.send(left - 1)
                else:
                    done.set()

        async with trio.open_nursery() as nursery:
            for place in range(RING):
                nursery.start_soon(pass_on, place)
            begin = perf_counter()
            await ring[0][0].send(n)
            await done.wait()
            seconds = perf_counter() - begin
            nursery.cancel_scope.cancel()
        return seconds

    return trio.run(main)


@dataclass(frozen=True, slots=True)
class Ping:
    sender: "trio.MemorySendChannel[Ping | Pong]"


@dataclass(frozen=True, slots=True)
class Pong:
    pass


def big(n: int) -> float:
    """A crowd that pings each other at random; an operation is a ping and its pong."""
    pings = n // CROWD

    async def main() -> float:
        done = trio.Event()
        finished = Countdown(CROWD, done.set)
        crowd = [trio.open_memory_channel[Ping | Pong](CAPACITY) for _ in range(CROWD)]

        async def member(me: int) -> None:
            ping, pong = Ping(crowd[me][0]), Pong()
            targets = partners(me, pings)
            async for message in crowd[me][1]:
                if isinstance(message, Ping):
                    await message.sender.send(pong)
                elif targets:
                    await crowd[targets.pop()][0].send(ping)
                else:
                    finished.tick()

        async with trio.open_nursery() as nursery:
            for me in range(CROWD):
                nursery.start_soon(member, me)
            begin = perf_counter()
            for send, _ in crowd:
                await send.send(Pong())
            await done.wait()
            seconds = perf_counter() - begin
            nursery.cancel_scope.cancel()
        return seconds

    return trio.run(main)


def fan_in(n: int) -> float:
    """Several senders, one counter."""

    async def main() -> float:
        totals: list[int] = []

        async def producer(send: trio.MemorySendChannel[int]) -> None:
            async with send:
                for _ in range(n // FAN):
                    await send.send(1)

        begin = perf_counter()
        async with trio.open_nursery() as nursery:
            send, receive = trio.open_memory_channel[int](CAPACITY)
            nursery.start_soon(_count, receive, totals)
            async with send:
                for _ in range(FAN):
                    nursery.start_soon(producer, send.clone())
        assert totals == [n]
        return perf_counter() - begin

    return trio.run(main)


def fan_out(n: int) -> float:
    """One sender, several counters in turn."""

    async def main() -> float:
        totals: list[int] = []
        begin = perf_counter()
        async with trio.open_nursery() as nursery:
            consumers: list[trio.MemorySendChannel[int]] = []
            for _ in range(FAN):
                send, receive = trio.open_memory_channel[int](CAPACITY)
                nursery.start_soon(_count, receive, totals)
                consumers.append(send)
            for _ in range(n // FAN):
                for consumer in consumers:
                    await consumer.send(1)
            for consumer in consumers:
                await consumer.aclose()
        assert sum(totals) == n
        return perf_counter() - begin

    return trio.run(main)


async def _count(receive: trio.MemoryReceiveChannel[int], totals: list[int]) -> None:
    total = 0
    async for number in receive:
        total += number
    totals.append(total)
