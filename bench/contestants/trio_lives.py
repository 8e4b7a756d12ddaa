"""Lives on plain trio: a bare task with a channel, and a try in a loop that starts it anew."""

from collections.abc import Awaitable, Callable
from statistics import median
from time import perf_counter

import trio
import trio.testing

from bench.contestants.memory import traced
from bench.contestants.rules import CAPACITY, CRASH, Countdown


async def wait_for_mail(receive: trio.MemoryReceiveChannel[int]) -> None:
    async for _ in receive:
        pass


def create(n: int) -> float:
    """Tasks with a channel; each has run to its first receive before the next is made."""

    async def main() -> float:
        senders: list[trio.MemorySendChannel[int]] = []
        async with trio.open_nursery() as nursery:
            begin = perf_counter()
            for _ in range(n):
                send, receive = trio.open_memory_channel[int](CAPACITY)
                nursery.start_soon(wait_for_mail, receive)
                senders.append(send)
                await trio.lowlevel.checkpoint()
            seconds = perf_counter() - begin
            assert len(nursery.child_tasks) == n
            nursery.cancel_scope.cancel()
        return seconds

    return trio.run(main)


def fork_join_create(n: int) -> float:
    """Create a task, send it one message, which ends it; an operation is one such life."""

    async def main() -> float:
        done = trio.Event()
        ended = Countdown(n, done.set)

        async def one_message(receive: trio.MemoryReceiveChannel[int]) -> None:
            async for _ in receive:
                ended.tick()
                return

        async with trio.open_nursery() as nursery:
            begin = perf_counter()
            for _ in range(n):
                send, receive = trio.open_memory_channel[int](CAPACITY)
                nursery.start_soon(one_message, receive)
                await send.send(1)
            await done.wait()
            return perf_counter() - begin

    return trio.run(main)


def restart(n: int) -> float:
    """From a crash to the next answer; the median of n in seconds."""

    async def main() -> float:
        requests, receive = trio.open_memory_channel[int](CAPACITY)
        send, replies = trio.open_memory_channel[int](CAPACITY)

        async def live(life: int) -> None:
            async for message in receive:
                if message == CRASH:
                    raise ValueError("told to crash")
                await send.send(life)

        async def keep_alive() -> None:
            life = 1
            while True:
                try:
                    await live(life)
                except ValueError:
                    life += 1

        async with trio.open_nursery() as nursery:
            nursery.start_soon(keep_alive)
            p50 = await time_restarts(requests.send, replies, n)
            nursery.cancel_scope.cancel()
        return p50

    return trio.run(main)


async def time_restarts(
    send: Callable[[int], Awaitable[None]], replies: trio.MemoryReceiveChannel[int], n: int
) -> float:
    """Crash it n times; the median of the seconds until the next life answers."""
    times: list[float] = []
    await trio.testing.wait_all_tasks_blocked()
    for life in range(2, n + 2):
        begin = perf_counter()
        await send(CRASH)
        await send(1)
        answered_by = await replies.receive()
        times.append(perf_counter() - begin)
        assert answered_by == life
    return median(times)


def idle_memory(n: int) -> float:
    """The bytes that n idle tasks with a channel hold."""

    async def main() -> float:
        senders: list[trio.MemorySendChannel[int]] = []
        async with trio.open_nursery() as nursery:
            with traced() as held:
                before = held()
                for _ in range(n):
                    send, receive = trio.open_memory_channel[int](CAPACITY)
                    nursery.start_soon(wait_for_mail, receive)
                    senders.append(send)
                await trio.testing.wait_all_tasks_blocked()
                in_use = held() - before
            nursery.cancel_scope.cancel()
        return in_use

    return trio.run(main)


def start_and_stop_in_order(n: int) -> float:
    """Each ready before the next; stopped in reverse, each waited for."""

    async def main() -> float:
        senders: list[trio.MemorySendChannel[int]] = []
        children: list[tuple[trio.CancelScope, trio.Event]] = []

        async def child(
            receive: trio.MemoryReceiveChannel[int],
            task_status: trio.TaskStatus[tuple[trio.CancelScope, trio.Event]],
        ) -> None:
            ended = trio.Event()
            with trio.CancelScope() as scope:
                task_status.started((scope, ended))
                await wait_for_mail(receive)
            ended.set()

        async with trio.open_nursery() as nursery:
            begin = perf_counter()
            for _ in range(n):
                send, receive = trio.open_memory_channel[int](CAPACITY)
                children.append(await nursery.start(child, receive))
                senders.append(send)
            for scope, ended in reversed(children):
                scope.cancel()
                await ended.wait()
        return perf_counter() - begin

    return trio.run(main)


def start_and_stop_at_once(n: int) -> float:
    """All side by side, and all stopped at once."""

    async def main() -> float:
        senders: list[trio.MemorySendChannel[int]] = []
        begin = perf_counter()
        async with trio.open_nursery() as nursery:
            for _ in range(n):
                send, receive = trio.open_memory_channel[int](CAPACITY)
                nursery.start_soon(wait_for_mail, receive)
                senders.append(send)
            await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
        return perf_counter() - begin

    return trio.run(main)
