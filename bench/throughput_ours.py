"""The same turn with an avatar."""

import gc
import time
import tracemalloc
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import trio

from avatar_actors import Avatar, EventStream, Outcome, TextEvent, TurnEndedEvent, open_avatar
from bench.agents.embedded import environment, flood, home
from bench.contest import Program
from tests.fake_agents import launcher

WARM_UP = 200
WORDS = "some words "
# How often the whole text is there at a turn's end: its pieces, and the answer made of them. Claude
# tells it once more in one line. Measured with pieces of 11 and of 110 characters: 2.06 and 3.15
# copies, and nothing per event.
TIMES_TEXT = {"acp": 2, "claude": 3}
# Events of a turn besides its text.
OTHERS = 1000


@dataclass(frozen=True, slots=True)
class Streamed:
    """What a turn cost per piece of text, and how many events carried the text."""

    microseconds: float
    events: int


def streamed_turn(dialect: str, n: int) -> Streamed:
    """Read the stream of a turn, as callers do."""
    return trio.run(_in_avatar, dialect, n, _read_turn)


def every(dialect: str) -> Program:
    """Microseconds per piece of text for a subscriber to whom each comes by itself."""
    return lambda n: _microseconds_each_event(dialect, n)


def _microseconds_each_event(dialect: str, n: int) -> float:
    streamed = trio.run(_in_avatar, dialect, n, _read_subscription)
    assert streamed.events == n, f"{streamed.events} events"
    return streamed.microseconds


def beyond_text(dialect: str, short: int, long: int) -> float:
    """By how many bytes the peak of a long turn exceeds a short one's, its text aside."""
    tracemalloc.start()
    try:
        peaks = trio.run(_peaks, dialect, short, long)
    finally:
        tracemalloc.stop()
    text = TIMES_TEXT[dialect] * (long - short) * len(WORDS)
    return max(0, peaks[1] - peaks[0] - text)


@asynccontextmanager
async def _avatar(dialect: str) -> AsyncGenerator[Avatar]:
    with home() as path:
        provider = launcher.agent(dialect)
        async with open_avatar(provider, env=environment(path), working_dir=path) as avatar:
            yield avatar


async def _in_avatar(
    dialect: str, n: int, read: Callable[[Avatar, int], Awaitable[int]]
) -> Streamed:
    async with _avatar(dialect) as avatar:
        await read(avatar, WARM_UP)
        began = time.process_time()
        events = await read(avatar, n)
        took = time.process_time() - began
    return Streamed(took / n * 1e6, events)


async def _read_turn(avatar: Avatar, n: int) -> int:
    count = length = 0
    async with avatar.turn(flood(n, WORDS)) as turn:
        async for event in turn:
            if type(event) is TextEvent and event.text:
                count += 1
                length += len(event.text)
    assert turn.outcome is Outcome.COMPLETED, turn.reason
    assert length == len(turn.text) == n * len(WORDS), f"{length} characters"
    return count


async def _read_subscription(avatar: Avatar, n: int) -> int:
    async with avatar.events(capacity=n + OTHERS) as stream, trio.open_nursery() as nursery:
        nursery.start_soon(partial(avatar.chat, flood(n, WORDS)))
        return await _count_to_end(stream)


async def _count_to_end(stream: EventStream) -> int:
    count = 0
    async for event in stream:
        if type(event) is TextEvent:
            count += not event.is_complete  # which has no words
        elif type(event) is TurnEndedEvent:
            break
    return count


async def _peaks(dialect: str, short: int, long: int) -> list[int]:
    peaks: list[int] = []
    async with _avatar(dialect) as avatar:
        await _read_turn(avatar, short)
        for n in (short, long):
            await avatar.clear_history()
            gc.collect()
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            await _read_turn(avatar, n)
            _, peak = tracemalloc.get_traced_memory()
            peaks.append(peak - before)
    return peaks
