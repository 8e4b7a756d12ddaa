"""Nobody outlives the avatar: neither its own processes nor what they have started."""

import os
import signal
import uuid
from pathlib import Path

import pytest
import trio

from avatar_actors import Timeouts, open_runtime
from tests.conformance.dialects import Dialect, every_dialect
from tests.conformance.hosts import open_host
from tests.conformance.remains import processes_marked
from tests.conformance.stage import PATIENCE, Step, on_stage
from tests.processes.census import eventually

BRIEF = Timeouts(stop=0.3, interrupt=0.3)
UNRULY = ("sleeper", "setsid", "daemon", "noenv", "stubborn")


@pytest.fixture
def mark() -> str:
    return f"mark-{uuid.uuid4()}"


def family(mark: str) -> list[Step]:
    """Unruly processes, in place when the agent says so; then it waits."""
    spawn: list[Step] = [{"spawn": kind, "mark": mark} for kind in UNRULY]
    return [*spawn, {"say": "up"}, {"wait": 1000}]


@every_dialect()
async def test_agent_that_ignores_sigterm_and_the_end_of_stdin_is_ended(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with on_stage(dialect, tmp_path, timeouts=BRIEF) as stage, trio.open_nursery() as nursery:
        nursery.start_soon(stage.play, {"stubborn": True}, {"say": "up"}, {"deaf": -1})
        await stage.witness.until_text("up")
        pid = await stage.pid()
        await stage.avatar.stop()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@every_dialect()
async def test_unruly_grandchildren_are_gone_when_the_avatar_has_stopped(
    dialect: Dialect, tmp_path: Path, mark: str
) -> None:
    async with on_stage(dialect, tmp_path, timeouts=BRIEF) as stage, trio.open_nursery() as nursery:
        nursery.start_soon(stage.play, *family(mark))
        await stage.witness.until_text("up")
        assert len(processes_marked(mark)) >= len(UNRULY)
        await stage.avatar.stop()
        assert not processes_marked(mark)


@every_dialect()
async def test_unruly_grandchildren_go_with_a_killed_agent(
    dialect: Dialect, tmp_path: Path, mark: str
) -> None:
    async with on_stage(dialect, tmp_path, timeouts=BRIEF) as stage, trio.open_nursery() as nursery:
        nursery.start_soon(stage.play, *family(mark))
        await stage.witness.until_text("up")
        await stage.kill()
        await stage.back_again()
        assert not processes_marked(mark)
        assert await stage.says("and now")


@every_dialect()
async def test_fork_storm_is_ended(dialect: Dialect, tmp_path: Path, mark: str) -> None:
    async with on_stage(dialect, tmp_path, timeouts=BRIEF) as stage, trio.open_nursery() as nursery:
        storm: Step = {"spawn": "storm", "mark": mark}
        nursery.start_soon(stage.play, storm, {"say": "up"}, {"wait": 1000})
        await stage.witness.until_text("up")
        await stage.avatar.stop()
        assert not processes_marked(mark)


@every_dialect()
async def test_killed_host_leaves_nobody_and_its_directory_goes_with_the_next_start(
    dialect: Dialect, tmp_path: Path, mark: str
) -> None:
    with trio.fail_after(PATIENCE):
        async with open_host(dialect.name, tmp_path, family(mark)) as host:
            await host.says("up")
            await host.says("ready")
            await eventually(lambda: len(processes_marked(mark)) >= len(UNRULY))
            host.process.send_signal(signal.SIGKILL)
            await host.process.wait()
            await eventually(lambda: not processes_marked(mark))
            async with open_runtime():
                assert not host.remains()
