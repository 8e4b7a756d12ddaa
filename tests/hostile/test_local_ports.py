"""Strangers who connect to what a runtime offers on this machine, and say nothing."""

import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trio
import trio.testing

from avatar_actors import MetricsSettings, open_runtime
from avatar_actors.observe.metrics.prometheus import MOST_SCRAPERS
from avatar_actors.observe.tree.server import MOST_WATCHERS
from tests.observe.metrics.http_get import get
from tests.observe.tree.test_server import open_house
from tests.processes.census import eventually, open_fds
from tests.thorough import for_conformance

CROWD = 100


@contextmanager
def crowd(number: int, family: int, place: "tuple[str, int] | str") -> Generator[None]:
    """Connections that say nothing. Those that the program has not accepted cost it nothing."""
    with ExitStack() as stack:
        for _ in range(number):
            stranger = stack.enter_context(socket.socket(family))
            stranger.connect(place)
        yield


@pytest.fixture
async def metrics_url() -> AsyncGenerator[str]:
    async with open_runtime(metrics=MetricsSettings(port=0)) as runtime:
        assert runtime.metrics is not None
        yield runtime.metrics.url


def port_of(url: str) -> tuple[str, int]:
    return "127.0.0.1", urlsplit(url).port or 0


async def test_m10_idle_scrapers_take_no_more_descriptors_than_the_limit(metrics_url: str) -> None:
    before = open_fds()
    with trio.fail_after(60), crowd(CROWD, socket.AF_INET, port_of(metrics_url)):
        await eventually(lambda: open_fds() - before - CROWD >= MOST_SCRAPERS)
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert open_fds() - before - CROWD <= MOST_SCRAPERS
    with trio.fail_after(60):
        assert await get(metrics_url)
        await eventually(lambda: open_fds() <= before)


@for_conformance
async def test_m10_scrapers_that_stay_idle_make_room_for_others(metrics_url: str) -> None:
    with trio.fail_after(120), crowd(MOST_SCRAPERS, socket.AF_INET, port_of(metrics_url)):
        assert await get(metrics_url)


async def test_m10_watchers_of_the_tree_beyond_the_limit_are_turned_away(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        before = open_fds()
        with crowd(CROWD, socket.AF_UNIX, str(house.at)):
            async with await house.raw() as last:
                assert await last.receive_some() == b""
            await eventually(lambda: open_fds() - before - CROWD == MOST_WATCHERS)
        await eventually(lambda: open_fds() == before)
