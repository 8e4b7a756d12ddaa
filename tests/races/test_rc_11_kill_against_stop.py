"""RC-11: the agent dies and is stopped at about the same time: the last command decides."""

import os
import signal
from pathlib import Path

import pytest
import trio

from avatar_actors import Outcome, Runtime, open_runtime
from tests.conformance.dialects import Dialect, every_dialect
from tests.conformance.subject import PATIENCE, recorded, script, subject_options
from tests.thorough import IS_THOROUGH, longer_in_conformance

# Milliseconds from the kill to the stop, each of them once; `make test` takes every fifth.
SPAN = 200
STEP = 1 if IS_THOROUGH else 5
PARTS = 4 if IS_THOROUGH else 1


async def kill_then_stop(runtime: Runtime, dialect: Dialect, place: Path, delay: float) -> None:
    avatar = await runtime.start(**subject_options(dialect, place))
    async with recorded(avatar), trio.open_nursery() as nursery:
        turn = avatar.turn(script({"say": "up"}, {"wait": 1000}))
        await turn.__aenter__()
        pid = (await avatar.health()).pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await trio.sleep(delay)
        nursery.start_soon(avatar.stop)
        answer = await turn.wait()
        assert answer.outcome in {Outcome.CRASHED, Outcome.CANCELLED}
    assert avatar.is_down


@longer_in_conformance
@every_dialect()
@pytest.mark.parametrize("part", range(PARTS))
async def test_rc_11_stop_after_a_kill_is_the_last_word_at_any_distance(
    dialect: Dialect, tmp_path: Path, part: int
) -> None:
    delays = [milliseconds / 1000 for milliseconds in range(part, SPAN, PARTS * STEP)]
    with trio.fail_after(PATIENCE):
        async with open_runtime() as runtime:
            async with trio.open_nursery() as nursery:
                for delay in delays:
                    nursery.start_soon(kill_then_stop, runtime, dialect, tmp_path, delay)
            assert runtime.avatars() == []


@every_dialect()
async def test_rc_11_start_stop_start_ends_with_one_that_answers(
    dialect: Dialect, tmp_path: Path
) -> None:
    options = subject_options(dialect, tmp_path)
    with trio.fail_after(PATIENCE):
        async with open_runtime() as runtime:
            for _ in range(3):
                first = await runtime.start(dialect.provider, "aria", **options)
                pid = (await first.health()).pid
                assert pid is not None
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(first.stop)
                    nursery.start_soon(first.stop)
                    os.kill(pid, signal.SIGKILL)
                assert first.is_down
            last = await runtime.start(dialect.provider, "aria", **options)
            assert (await last.chat(script({"say": "here"}))).content == "here"
            assert runtime.avatars() == [last]
