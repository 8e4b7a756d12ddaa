"""RC-6: the parent leaves only after the whole tree of a child that ignores SIGTERM and EOF."""

import signal
import uuid
from pathlib import Path

import pytest
import trio

from tests.conformance.dialects import Dialect, every_dialect
from tests.conformance.host_program import EXIT_ON_TERM
from tests.conformance.hosts import open_host
from tests.conformance.remains import processes_marked
from tests.conformance.subject import PATIENCE, Step


@every_dialect()
async def test_rc_06_host_that_gets_sigterm_leaves_after_its_stubborn_tree(
    dialect: Dialect, tmp_path: Path
) -> None:
    mark = f"mark-{uuid.uuid4()}"
    spawn: list[Step] = [{"spawn": kind, "mark": mark} for kind in ("stubborn", "daemon")]
    with trio.fail_after(PATIENCE):
        deaf: list[Step] = [*spawn, {"stubborn": True}, {"read": "up"}, {"deaf": -1}]
        async with open_host(dialect.name, tmp_path, deaf) as host:
            await host.says("up")
            await host.says("ready")
            while len(processes_marked(mark)) < len(spawn):  # noqa: ASYNC110 - nobody tells us
                await trio.sleep(0.01)
            host.process.send_signal(signal.SIGTERM)
            await host.process.wait()
            assert not processes_marked(mark)
            assert not host.remains()


async def marked(mark: str, count: int) -> None:
    while len(processes_marked(mark)) < count:  # noqa: ASYNC110 - nobody tells us
        await trio.sleep(0.01)


@pytest.mark.parametrize("style", ["sync", "asyncio"])
async def test_rc_06_engine_program_that_gets_sigterm_in_a_call_leaves_after_its_stubborn_tree(
    style: str, tmp_path: Path
) -> None:
    mark = f"mark-{uuid.uuid4()}"
    spawn: list[Step] = [{"spawn": kind, "mark": mark} for kind in ("stubborn", "daemon")]
    deaf: list[Step] = [*spawn, {"stubborn": True}, {"read": "up"}, {"deaf": -1}]
    with trio.fail_after(PATIENCE):
        async with open_host(style, tmp_path, deaf, module="tests.races.engine_program") as host:
            await host.says("up")
            await host.says("ready")
            await marked(mark, len(spawn))
            host.process.send_signal(signal.SIGTERM)
            assert await host.process.wait() == EXIT_ON_TERM
            assert not processes_marked(mark)
            assert not host.remains()


@pytest.mark.parametrize("style", ["sync", "asyncio"])
async def test_rc_06_second_signal_ends_the_program_at_once_and_the_warden_the_rest(
    style: str, tmp_path: Path
) -> None:
    mark = f"mark-{uuid.uuid4()}"
    deaf: list[Step] = [{"spawn": "stubborn", "mark": mark}, {"stubborn": True}, {"deaf": -1}]
    with trio.fail_after(PATIENCE):
        async with open_host(style, tmp_path, deaf, module="tests.races.engine_program") as host:
            await host.says("up")
            await host.says("ready")
            await marked(mark, 1)
            host.process.send_signal(signal.SIGTERM)
            host.process.send_signal(signal.SIGINT)
            assert await host.process.wait() in {EXIT_ON_TERM, 128 + signal.SIGINT}
            while processes_marked(mark):  # noqa: ASYNC110 - nobody tells us
                await trio.sleep(0.01)
