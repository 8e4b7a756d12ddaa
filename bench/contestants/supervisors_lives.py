"""Lives of supervised actors: created, restarted after a crash, idle, started and stopped."""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from time import perf_counter

import trio
import trio.testing

from bench.contestants.memory import traced
from bench.contestants.rules import CAPACITY, CRASH, Countdown
from bench.contestants.trio_lives import time_restarts
from supervisors import ChildSpec, Inbox, Restart, Strategy, open_supervisor


async def wait_for_mail(inbox: Inbox[int]) -> None:
    async for _ in inbox:
        pass


def create(n: int) -> float:
    """Temporary children of a dynamic supervisor; each is ready before the next is made."""

    async def main() -> float:
        async with open_supervisor("bench", strategy=Strategy.DYNAMIC) as bench:
            begin = perf_counter()
            for number in range(n):
                spec = ChildSpec(f"child {number}", wait_for_mail, restart=Restart.TEMPORARY)
                await bench.start(spec)
            seconds = perf_counter() - begin
            assert (await bench.count()).active == n
        return seconds

    return trio.run(main)


def fork_join_create(n: int) -> float:
    """Create a child, send it one message, which ends it; an operation is one such life."""

    async def main() -> float:
        done = trio.Event()
        ended = Countdown(n, done.set)

        async def one_message(inbox: Inbox[int]) -> None:
            async for _ in inbox:
                ended.tick()
                return

        async with open_supervisor("bench", strategy=Strategy.DYNAMIC) as bench:
            begin = perf_counter()
            for number in range(n):
                spec = ChildSpec(f"child {number}", one_message, restart=Restart.TEMPORARY)
                address = await bench.start(spec)
                await address.tell(1)
            await done.wait()
            return perf_counter() - begin

    return trio.run(main)


def restart(n: int) -> float:
    """From a crash to the next answer, nothing logged; the median of n in seconds."""
    with _no_logging():
        return _restart(n)


def restart_logged(n: int) -> float:
    """The same with every crash logged, to a handler that writes nothing."""
    with _logging_to_nowhere():
        return _restart(n)


def _restart(n: int) -> float:
    async def main() -> float:
        send, replies = trio.open_memory_channel[int](CAPACITY)

        async def crash_when_told(inbox: Inbox[int]) -> None:
            async for message in inbox:
                if message == CRASH:
                    raise ValueError("told to crash")
                await send.send(inbox.life)

        async with open_supervisor("bench", intensity=n, period=3600) as bench:
            address = await bench.start(ChildSpec("child", crash_when_told))
            return await time_restarts(address.tell, replies, n)

    return trio.run(main)


@contextmanager
def _no_logging() -> Generator[None, None, None]:
    logging.disable()
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


@contextmanager
def _logging_to_nowhere() -> Generator[None, None, None]:
    logger, handler = logging.getLogger("supervisors"), logging.NullHandler()
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield
    finally:
        logger.propagate = True
        logger.removeHandler(handler)


def idle_memory(n: int) -> float:
    """The bytes that n idle actors hold, their specs included."""

    async def main() -> float:
        async with open_supervisor("bench", strategy=Strategy.DYNAMIC) as bench:
            with traced() as held:
                before = held()
                for number in range(n):
                    await bench.start(ChildSpec(f"child {number}", wait_for_mail))
                await trio.testing.wait_all_tasks_blocked()
                return held() - before

    return trio.run(main)


def start_and_stop_in_order(n: int) -> float:
    """Each ready before the next; stopped in reverse, each waited for."""
    return _start_and_stop(Strategy.ONE_FOR_ONE, n)


def start_and_stop_at_once(n: int) -> float:
    """All side by side, and all stopped at once."""
    return _start_and_stop(Strategy.DYNAMIC, n)


def _start_and_stop(strategy: Strategy, n: int) -> float:
    async def main() -> float:
        begin = perf_counter()
        specs = [ChildSpec(f"child {number}", wait_for_mail) for number in range(n)]
        async with open_supervisor("bench", strategy=strategy, children=specs) as bench:
            started = perf_counter() - begin
            assert (await bench.count()).active == n
            begin = perf_counter()
        return started + perf_counter() - begin

    return trio.run(main)
