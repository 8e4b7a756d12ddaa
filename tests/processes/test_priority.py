"""The scheduling priority of an agent and its tools, as the kernel tells it."""

import os
import signal
from pathlib import Path

import pytest
import trio

from avatar_actors.processes import WardenProcess
from tests.processes.census import PATIENCE, eventually, python

NICE = 16  # of /proc/PID/stat, counted after the process's name
# A tool in a session of its own, as agents run them.
WITH_A_TOOL = """
import os, signal
tool = os.fork()
if tool == 0:
    os.setsid()
else:
    print(tool, flush=True)
signal.pause()
"""


def nice_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[NICE])


def autogroup_nice_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/autogroup").read_text("ascii").split()[-1])


@pytest.mark.parametrize("nice", [0, 19])
async def test_agent_and_its_tools_get_the_priority_and_their_keeper_does_not(
    warden: WardenProcess, nice: int
) -> None:
    ours = nice_of(os.getpid())
    with trio.fail_after(PATIENCE):
        async with await warden.lease() as lease:
            await lease.run(python(WITH_A_TOOL, nice=nice))
            tool = int(await lease.stdout.receive_some())
            assert [nice_of(lease.pid), nice_of(tool)] == [max(ours, nice)] * 2
            assert [nice_of(pid) for pid in (lease.keeper_pid, *warden.pids)] == [ours] * 3


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="needs autogroups")
async def test_session_of_an_agent_is_scheduled_as_a_group_of_its_priority(
    warden: WardenProcess,
) -> None:
    with trio.fail_after(PATIENCE):
        async with await warden.lease() as low, await warden.lease() as normal:
            await normal.run(python("import signal; signal.pause()"))
            await low.run(python("import signal; signal.pause()", nice=19))
            await eventually(lambda: autogroup_nice_of(low.pid) == 19)
            assert autogroup_nice_of(normal.pid) == 0
            assert autogroup_nice_of(low.keeper_pid) == 0
            low.signal(signal.SIGKILL)
            assert await low.exited() == -signal.SIGKILL
