"""Messages between supervised actors: tell, ask, `async for` over the inbox."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import perf_counter

import trio

from bench.contestants.rules import CROWD, FAN, RING, SECONDS_TO_ANSWER, Countdown, partners
from supervisors import Address, ChildSpec, Inbox, Request, open_supervisor


class HowMany(Request[int]):
    """What the counter has counted."""


async def counter(inbox: Inbox[int | HowMany]) -> None:
    total = 0
    async for message in inbox:
        if isinstance(message, int):
            total += message
        else:
            inbox.reply(message, total)


def counting(n: int) -> float:
    """One sender, one counter."""

    async def main() -> float:
        async with open_supervisor("bench") as bench:
            address = await bench.start(ChildSpec("counter", counter))
            begin = perf_counter()
            for _ in range(n):
                await address.tell(1)
            assert await address.ask(HowMany()) == n
            return perf_counter() - begin

    return trio.run(main)


def ping_pong(n: int) -> float:
    """Two actors and one ball; an operation is there and back."""

    async def main() -> float:
        done = trio.Event()

        async def ping(inbox: Inbox[int]) -> None:
            partner = inbox.sibling(pong_spec)
            async for left in inbox:
                if left:
                    await partner.tell(left - 1)
                else:
                    done.set()

        async def pong(inbox: Inbox[int]) -> None:
            partner = inbox.sibling(ping_spec)
            async for left in inbox:
                await partner.tell(left)

        ping_spec, pong_spec = ChildSpec("ping", ping), ChildSpec("pong", pong)
        async with open_supervisor("bench", children=[ping_spec, pong_spec]) as bench:
            begin = perf_counter()
            await bench.address(ping_spec).tell(n)
            await done.wait()
            return perf_counter() - begin

    return trio.run(main)


class Echo(Request[int]):
    """Answered with 1."""


async def server(inbox: Inbox[Echo]) -> None:
    async for request in inbox:
        inbox.reply(request, 1)


def ask(n: int) -> float:
    """A request and its answer, or the news at once that the actor died; no deadline."""

    async def main() -> float:
        async with open_supervisor("bench") as bench:
            address = await bench.start(ChildSpec("server", server))
            request = Echo()
            begin = perf_counter()
            for _ in range(n):
                assert await address.ask(request) == 1
            return perf_counter() - begin

    return trio.run(main)


def ask_with_deadline(n: int) -> float:
    """The same with a time to answer in."""

    async def main() -> float:
        async with open_supervisor("bench") as bench:
            address = await bench.start(ChildSpec("server", server))
            request = Echo()
            begin = perf_counter()
            for _ in range(n):
                assert await address.ask(request, timeout=SECONDS_TO_ANSWER) == 1
            return perf_counter() - begin

    return trio.run(main)


def thread_ring(n: int) -> float:
    """A token goes round; an operation is one hop."""

    async def main() -> float:
        done = trio.Event()
        ring: list[ChildSpec[int]] = []

        def member(place: int) -> Callable[[Inbox[int]], Awaitable[None]]:
            async def pass_on(inbox: Inbox[int]) -> None:
                neighbour = inbox.sibling(ring[(place + 1) % RING])
                async for left in inbox:
                    if left:
                        await neighbour.tell(left - 1)
                    else:
                        done.set()

            return pass_on

        ring += [ChildSpec(f"member {place}", member(place)) for place in range(RING)]
        async with open_supervisor("bench", children=ring) as bench:
            begin = perf_counter()
            await bench.address(ring[0]).tell(n)
            await done.wait()
            return perf_counter() - begin

    return trio.run(main)


@dataclass(frozen=True, slots=True)
class Ping:
    sender: "Address[Ping | Pong]"


@dataclass(frozen=True, slots=True)
class Pong:
    pass


def big(n: int) -> float:
    """A crowd that pings each other at random; an operation is a ping and its pong."""
    pings = n // CROWD

    async def main() -> float:
        done = trio.Event()
        finished = Countdown(CROWD, done.set)
        crowd: list[Address[Ping | Pong]] = []

        def member(me: int) -> Callable[[Inbox[Ping | Pong]], Awaitable[None]]:
            async def play(inbox: Inbox[Ping | Pong]) -> None:
                ping, pong = Ping(inbox.address), Pong()
                targets = partners(me, pings)
                async for message in inbox:
                    if isinstance(message, Ping):
                        await message.sender.tell(pong)
                    elif targets:
                        await crowd[targets.pop()].tell(ping)
                    else:
                        finished.tick()

            return play

        specs = [ChildSpec(f"member {me}", member(me)) for me in range(CROWD)]
        async with open_supervisor("bench", children=specs) as bench:
            crowd += [bench.address(spec) for spec in specs]
            begin = perf_counter()
            for address in crowd:
                await address.tell(Pong())
            await done.wait()
            return perf_counter() - begin

    return trio.run(main)


def fan_in(n: int) -> float:
    """Several senders, one counter."""

    async def main() -> float:
        done = trio.Event()
        finished = Countdown(FAN, done.set)
        counting = ChildSpec("counter", counter)

        async def producer(inbox: Inbox[int]) -> None:
            target = inbox.sibling(counting)
            async for share in inbox:
                for _ in range(share):
                    await target.tell(1)
                finished.tick()

        producers = [ChildSpec(f"producer {number}", producer) for number in range(FAN)]
        async with open_supervisor("bench", children=[counting, *producers]) as bench:
            begin = perf_counter()
            for spec in producers:
                await bench.address(spec).tell(n // FAN)
            await done.wait()
            assert await bench.address(counting).ask(HowMany()) == n
            return perf_counter() - begin

    return trio.run(main)


def fan_out(n: int) -> float:
    """One sender, several counters in turn."""

    async def main() -> float:
        specs = [ChildSpec(f"counter {number}", counter) for number in range(FAN)]
        async with open_supervisor("bench", children=specs) as bench:
            consumers = [bench.address(spec) for spec in specs]
            begin = perf_counter()
            for _ in range(n // FAN):
                for consumer in consumers:
                    await consumer.tell(1)
            totals = [await consumer.ask(HowMany()) for consumer in consumers]
            assert sum(totals) == n
            return perf_counter() - begin

    return trio.run(main)
