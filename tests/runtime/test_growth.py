"""A start and a stop cost the same with few and with many avatars alive, counted in calls."""

import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

import pytest
import trio
from trio.abc import Instrument

from avatar_actors import Avatar, Runtime, open_runtime
from bench.agents.quiet_agent import quiet_agent
from tests.thorough import IS_THOROUGH, longer_in_conformance

ROOT = Path(__file__).parents[2]
OURS = (ROOT / "avatar_actors", ROOT / "supervisors")
PROCESSES = ROOT / "avatar_actors" / "processes"
PATIENCE = 300
FEW, MANY = 3, 300 if IS_THOROUGH else 60
SAMPLES = 5
WAVE = 8
# Calls more for each further avatar alive. A look at each of them would be one or more.
MOST_GROWTH = 0.5
LOOP_TURNS_PER_START = 70


@pytest.fixture(scope="module")
def agent() -> Generator[tuple[str, ...]]:
    with quiet_agent() as command:
        yield command


class Cost(NamedTuple):
    """Of one operation: calls of our functions, and turns of the event loop."""

    calls: float
    loop_turns: float
    by_code: Counter[CodeType]


class LoopTurns(Instrument):
    """Counts the turns of the loop."""

    count = 0

    def after_io_wait(self, timeout: float) -> None:
        self.count += 1


async def cost_of(operation: Callable[[], Awaitable[object]]) -> Cost:
    """The mean of some, one after the other."""
    by_code, turns = Counter[CodeType](), LoopTurns()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and is_counted(frame.f_code.co_filename):
            by_code[frame.f_code] += 1

    trio.lowlevel.add_instrument(turns)
    sys.setprofile(count)
    try:
        for _ in range(SAMPLES):
            await operation()
    finally:
        sys.setprofile(None)
        trio.lowlevel.remove_instrument(turns)
    return Cost(by_code.total() / SAMPLES, turns.count / SAMPLES, by_code)


def grown(before: Cost, after: Cost) -> list[str]:
    """The functions that are called more often than before, for whoever reads a failure."""
    more = (after.by_code - before.by_code).most_common(8)
    return [
        f"{code.co_qualname}: {before.by_code[code]} -> {after.by_code[code]}" for code, _ in more
    ]


@cache
def is_counted(filename: str) -> bool:
    """Whether it is ours, and not called by the clock for those that idle: on a loaded machine a
    start takes so long that this would be counted too."""
    path = Path(filename)
    return any(map(path.is_relative_to, OURS)) and not path.is_relative_to(PROCESSES)


class Crowd:
    """Avatars of one runtime, each with a secret of its own."""

    def __init__(self, runtime: Runtime, agent: tuple[str, ...]) -> None:
        self.runtime, self._agent = runtime, agent
        self.avatars: list[Avatar] = []
        self._started = 0

    async def start(self) -> None:
        executable, *args = self._agent
        self._started += 1
        env = {"API_KEY": f"sk-of-avatar-number-{self._started}"}
        avatar = await self.runtime.start("acp", executable=executable, args=tuple(args), env=env)
        self.avatars.append(avatar)

    async def stop(self) -> None:
        await self.avatars.pop().stop()

    async def grow_to(self, count: int) -> None:
        places = trio.CapacityLimiter(WAVE)

        async def one() -> None:
            async with places:
                await self.start()

        async with trio.open_nursery() as nursery:
            for _ in range(count - len(self.avatars)):
                nursery.start_soon(one)


@longer_in_conformance
async def test_start_and_stop_cost_the_same_however_many_are_alive(agent: tuple[str, ...]) -> None:
    with trio.fail_after(PATIENCE):
        async with open_runtime() as runtime:
            crowd = Crowd(runtime, agent)
            await crowd.grow_to(FEW)
            start = await cost_of(crowd.start)
            stop = await cost_of(crowd.stop)
            await crowd.grow_to(MANY)
            start_among_many = await cost_of(crowd.start)
            stop_among_many = await cost_of(crowd.stop)
    most = MOST_GROWTH * (MANY - FEW)
    assert start_among_many.calls - start.calls <= most, grown(start, start_among_many)
    assert stop_among_many.calls - stop.calls <= most, grown(stop, stop_among_many)
    assert start.loop_turns <= LOOP_TURNS_PER_START
