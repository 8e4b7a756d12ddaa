"""RC-5: SIGTERM at random points of start, turn and stop: a clean end with a defined code."""

import random
import signal
from pathlib import Path

import pytest
import trio

from tests.conformance.dialects import Dialect, every_dialect
from tests.conformance.host_program import EXIT_ON_TERM
from tests.conformance.hosts import open_host
from tests.conformance.subject import PATIENCE, Step
from tests.races.engine_program import DEADLINE
from tests.thorough import IS_THOROUGH, longer_in_conformance

STEPS: list[Step] = [
    {"say": "working"},
    {"spawn": "daemon"},
    {"tool": "Bash", "seconds": 0.1},
    {"wait": 0.2},
]
ROUNDS = 10
AT_ONCE = 5
SPAN = 0.8
# Of each style of program: fifty in all.
POINTS = 25 if IS_THOROUGH else 5


async def run_and_end(place: Path, name: str, delay: float) -> None:
    """The host says `up` before it starts its avatar; the signal comes so long after it."""
    async with open_host(name, place, STEPS, STEPS) as host:
        await host.says("up")
        await trio.sleep(delay)
        host.process.send_signal(signal.SIGTERM)
        assert await host.process.wait() == EXIT_ON_TERM
        assert not host.remains()


@every_dialect()
async def test_rc_05_sigterm_at_ten_random_points_leaves_nothing(
    tmp_path: Path, dialect: Dialect
) -> None:
    name = dialect.name
    chance = random.Random(name)
    with trio.fail_after(PATIENCE):
        for _ in range(ROUNDS // AT_ONCE):
            async with trio.open_nursery() as nursery:
                for _ in range(AT_ONCE):
                    nursery.start_soon(run_and_end, tmp_path, name, chance.uniform(0, SPAN))


async def run_and_signal(place: Path, style: str, delay: float) -> None:
    """The program starts, plays and stops its engine again and again; the signal comes anywhere."""
    async with open_host(style, place, STEPS, module="tests.races.engine_program") as host:
        await host.says("up")
        await trio.sleep(delay)
        host.process.send_signal(signal.SIGTERM)
        with trio.fail_after(DEADLINE + 10):
            assert await host.process.wait() == EXIT_ON_TERM
        assert not host.remains()


@longer_in_conformance
@pytest.mark.parametrize("style", ["sync", "asyncio"])
async def test_rc_05_sigterm_at_random_points_ends_an_engine_program(
    tmp_path: Path, style: str
) -> None:
    chance = random.Random(style)
    with trio.fail_after(2 * PATIENCE):
        for _ in range(POINTS // AT_ONCE):
            async with trio.open_nursery() as nursery:
                for number in range(AT_ONCE):
                    place = tmp_path / str(number)
                    nursery.start_soon(run_and_signal, place, style, chance.uniform(0, SPAN))
