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
from tests.conformance.subject import PATIENCE, Step, open_subject
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
    async with (
        open_subject(dialect, tmp_path, timeouts=BRIEF) as subject,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(subject.play, {"stubborn": True}, {"say": "up"}, {"deaf": -1})
        await subject.recorder.until_text("up")
        pid = await subject.pid()
        await subject.avatar.stop()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@every_dialect()
async def test_unruly_grandchildren_are_gone_when_the_avatar_has_stopped(
    dialect: Dialect, tmp_path: Path, mark: str
) -> None:
    async with (
        open_subject(dialect, tmp_path, timeouts=BRIEF) as subject,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(subject.play, *family(mark))
        await subject.recorder.until_text("up")
        assert len(processes_marked(mark)) >= len(UNRULY)
        await subject.avatar.stop()
        assert not processes_marked(mark)


@every_dialect()
async def test_unruly_grandchildren_go_with_a_killed_agent(
    dialect: Dialect, tmp_path: Path, mark: str
) -> None:
    async with (
        open_subject(dialect, tmp_path, timeouts=BRIEF) as subject,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(subject.play, *family(mark))
        await subject.recorder.until_text("up")
        await subject.kill()
        await subject.back_again()
        assert not processes_marked(mark)
        assert await subject.says("and now")


@every_dialect()
async def test_fork_storm_is_ended(dialect: Dialect, tmp_path: Path, mark: str) -> None:
    async with (
        open_subject(dialect, tmp_path, timeouts=BRIEF) as subject,
        trio.open_nursery() as nursery,
    ):
        storm: Step = {"spawn": "storm", "mark": mark}
        nursery.start_soon(subject.play, storm, {"say": "up"}, {"wait": 1000})
        await subject.recorder.until_text("up")
        await subject.avatar.stop()
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
