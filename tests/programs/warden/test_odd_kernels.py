"""The warden where the kernel refuses: no fork, no pidfd, no priority, no list of children."""

import os
import signal
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import trio

from avatar_actors.processes import LeaseLost, Proof, WardenProcess
from tests.processes.census import PATIENCE, eventually, is_left, python
from tests.processes.test_host_death import program, said

# A Python for `WardenProcess.open(python=...)` that prepares its `os` and then runs the warden.
ODD_PYTHON = """#!{python} -IS
import errno, os, sys, time
_, _, _, _, code, *rest = sys.argv
sys.argv = ["-c", *rest]
real_fork, started = os.fork, time.monotonic()

def note(line):
    with open({notes!r}, "a") as file:
        print(line, file=file)
{prepare}
exec(code)
"""
# The second fork is the first keeper's.
REFUSES_ONE_KEEPER = """
calls = 0
def fork():
    global calls
    calls += 1
    if calls == 2:
        raise OSError(errno.EAGAIN, "refused")
    return real_fork()
os.fork = fork
"""
REFUSES_TWO_SERVERS = """
calls = 0
def fork():
    global calls
    calls += 1
    note(calls)
    if calls <= 2:
        raise OSError(errno.EAGAIN, "refused")
    return real_fork()
os.fork = fork
"""
SERVERS_THAT_DIE = """
def fork():
    note(time.monotonic())
    return real_fork() or os._exit(1)
os.fork = fork
"""
NO_PIDFD = """
def pidfd_open(pid):
    raise OSError(errno.ENOSYS, "none")
os.pidfd_open = pidfd_open
"""
REFUSES_AUTOGROUPS = """
real_open, calls = os.open, 0
def refusing_open(path, *rest):
    global calls
    if path.endswith("/autogroup"):
        calls += 1
        note(calls)
        if calls <= {times}:
            raise OSError(errno.{error}, "refused")
    return real_open(path, *rest)
os.open = refusing_open
"""
REFUSES_PRIORITIES = """
def setpriority(which, who, priority):
    raise OSError(errno.EPERM, "refused")
os.setpriority = setpriority
"""
# A kernel without CONFIG_PROC_CHILDREN.
NO_CHILDREN_FILES = """
real_open = open
def open(path, *rest, **more):
    if str(path).endswith("/children"):
        raise FileNotFoundError(path)
    return real_open(path, *rest, **more)
import builtins
builtins.open = open
real_exists = os.path.exists
os.path.exists = lambda path: not path.endswith("/children") and real_exists(path)
"""


# Nothing wakes the keeper of this agent; a fork holds all descriptors, so that no socket tells of
# the host's death; and without its cookie no other runtime that starts can sweep the agent.
CALM_HOST = """
import ctypes, os, signal, sys
import trio
from avatar_actors.processes import Launch, WardenProcess
from avatar_actors.programs.warden.process_tree import read_stat

async def main():
    warden = await WardenProcess.open(python=sys.argv[1])
    lease = await warden.lease()
    agent = await lease.run(Launch(argv=("env", "-i", "sleep", "100"), cwd="/", env={}))
    fork = ctypes.CDLL(None).fork()
    if fork == 0:
        os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
        signal.alarm(100)
        signal.pause()
    print(fork, agent, read_stat(agent).started, flush=True)
    await trio.sleep_forever()

trio.run(main)
"""

AGENT_WITH_A_TOOL = """
import os, signal
if os.fork() == 0:
    os.setsid()
    os.write(1, f"{os.getpid()} {open('/proc/self/stat').read().split()[21]}".encode())
signal.pause()
"""


SLEEP = "import signal; signal.pause()"


def odd_python(folder: Path, prepare: str) -> str:
    path, notes = folder / "odd-python", str(folder / "notes")
    path.write_text(ODD_PYTHON.format(python=sys.executable, notes=notes, prepare=prepare))
    path.chmod(0o700)
    return str(path)


async def test_refused_keeper_costs_one_lease_and_not_the_server(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE):
        warden = await WardenProcess.open(python=odd_python(tmp_path, REFUSES_ONE_KEEPER))
        pids = warden.pids
        async with trio.open_nursery() as nursery:
            nursery.start_soon(warden.wait_lost)  # hears of new pids
            async with await warden.lease() as refused:
                with pytest.raises(LeaseLost):
                    await refused.run(python("pass"))
            async with await warden.lease() as lease:
                await lease.run(python("pass"))
                assert await lease.exited() == 0
            nursery.cancel_scope.cancel()
        assert warden.pids == pids
        await warden.aclose()


async def test_refused_server_is_tried_again(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE):
        warden = await WardenProcess.open(python=odd_python(tmp_path, REFUSES_TWO_SERVERS))
        assert (tmp_path / "notes").read_text().split() == ["1", "2", "3"]
        await warden.aclose()


async def test_servers_that_die_at_once_are_made_with_a_pause_between_them(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            executable = odd_python(tmp_path, SERVERS_THAT_DIE)
            nursery.start_soon(lambda: WardenProcess.open(python=executable))
            await eventually(lambda: notes.exists() and len(notes.read_text().split()) > 5)
            nursery.cancel_scope.cancel()
    times = [float(each) for each in notes.read_text().split()]
    assert min(after - before for before, after in pairwise(times)) > 0.04


async def test_death_of_the_host_is_seen_without_a_pidfd(tmp_path: Path) -> None:
    with (
        trio.fail_after(PATIENCE),
        program(CALM_HOST, odd_python(tmp_path, NO_PIDFD)) as host,
    ):
        fork, agent, started = await trio.to_thread.run_sync(said, host)
        host.kill()
        await eventually(lambda: not is_left(agent, started))
        os.kill(int(fork), signal.SIGKILL)


@pytest.mark.parametrize("prepare", [NO_PIDFD, NO_CHILDREN_FILES])
@pytest.mark.parametrize("by", [Proof.KEEPER, Proof.WARDEN])
async def test_an_agent_and_its_tools_are_ended_without_help_of_the_kernel(
    tmp_path: Path, prepare: str, by: Proof
) -> None:
    with trio.fail_after(PATIENCE):
        warden = await WardenProcess.open(python=odd_python(tmp_path, prepare))
        async with await warden.lease() as lease:
            await lease.run(python(AGENT_WITH_A_TOOL))
            tool = (await lease.stdout.receive_some()).decode().split()
            if by is Proof.WARDEN:
                os.kill(lease.keeper_pid, signal.SIGKILL)
            assert (await lease.end(0)).proof is by
            assert not is_left(*tool)
        await warden.aclose()


async def test_autogroup_that_the_kernel_refuses_for_now_is_tried_again(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    prepare = REFUSES_AUTOGROUPS.format(times=2, error="EAGAIN")
    with trio.fail_after(PATIENCE):
        warden = await WardenProcess.open(python=odd_python(tmp_path, prepare))
        async with await warden.lease() as lease:
            await lease.run(python(SLEEP, nice=19))
            await eventually(lambda: notes.exists() and notes.read_text().split()[-1] == "3")
            assert lease.returncode is None
        await warden.aclose()
    assert notes.read_text().split() == ["1", "2", "3"]


async def test_agent_runs_where_its_priority_cannot_be_changed(tmp_path: Path) -> None:
    prepare = REFUSES_AUTOGROUPS.format(times=9, error="EACCES") + REFUSES_PRIORITIES
    with trio.fail_after(PATIENCE):
        warden = await WardenProcess.open(python=odd_python(tmp_path, prepare))
        async with await warden.lease() as lease:
            await lease.run(python("print('up')", nice=19))
            assert await lease.stdout.receive_some() == b"up\n"
            assert await lease.exited() == 0
        await warden.aclose()
    assert (tmp_path / "notes").read_text().split() == ["1"]
