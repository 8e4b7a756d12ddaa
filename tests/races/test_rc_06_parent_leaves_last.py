"""RC-6: the parent leaves only after the whole tree of a child that ignores SIGTERM and EOF."""

import signal
import uuid
from pathlib import Path

import trio

from tests.conformance.dialects import Dialect, every_dialect
from tests.conformance.hosts import open_host
from tests.conformance.remains import processes_marked
from tests.conformance.stage import PATIENCE, Step


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
