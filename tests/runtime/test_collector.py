"""What avatars leave to Python's garbage collector, and how a host makes it rare: by counts."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from avatar_actors import Avatar, Runtime
from tests.runtime.home import Home, script

TURNS = 30


@pytest.fixture(autouse=True)
def own_thresholds() -> Generator[None]:
    """The thresholds belong to the whole process, so they are put back."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@contextmanager
def collections() -> Generator[list[int]]:
    """The generation of each collection while the block runs."""
    seen: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "stop":
            seen.append(info["generation"])

    gc.callbacks.append(note)
    try:
        yield seen
    finally:
        gc.callbacks.remove(note)


async def talk(avatar: Avatar) -> None:
    for _ in range(TURNS):
        await avatar.chat(script({"say": "x"}))


async def test_turns_leave_no_cyclic_garbage(home: Home) -> None:
    async with home.avatar() as aria:
        await talk(aria)
        gc.collect()
        gc.disable()
        try:
            await talk(aria)
            found = gc.collect()
        finally:
            gc.enable()
    # Something else in this process may leave some; one object a turn would be ours.
    assert found < TURNS


async def test_collector_of_a_host_changes_only_when_the_host_says_so(home: Home) -> None:
    gc.set_threshold(701, 11, 12)
    async with home.avatar() as aria:
        await talk(aria)
        assert gc.get_threshold() == (701, 11, 12)


async def test_tuned_collector_looks_through_nothing_while_avatars_talk(home: Home) -> None:
    gc.set_threshold(20, 1, 1)  # so that the test can fail: a turn has more than 20 objects
    async with home.avatar() as aria:
        await talk(aria)
        with collections() as untuned:
            await talk(aria)
        Runtime.tune_collector()
        gc.collect()
        with collections() as tuned:
            await talk(aria)
    assert len(tuned) <= 1 < len(untuned)
