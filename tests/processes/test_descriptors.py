"""No descriptor and no process leaks: cancellation, failure, forks, and a host that closes ours."""

import gc
import os
import random
import resource
import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import trio

from avatar_actors.processes import LeaseLost, WardenLost, WardenProcess
from tests.processes.census import PATIENCE, eventually, offspring, open_fds, python

SLEEP = """
import os, signal
if os.fork():
    print("up", flush=True)
else:
    os.setsid()
signal.pause()
"""


async def test_run_cancelled_at_any_point_leaves_no_process_and_no_descriptor(
    warden: WardenProcess,
) -> None:
    moments = random.Random(3)
    fds, processes = open_fds(), offspring()
    with trio.fail_after(PATIENCE):
        for _ in range(60):
            with trio.move_on_after(moments.uniform(0, 0.02)):
                async with await warden.lease() as lease:
                    await lease.run(python(SLEEP))
                    await lease.stdout.receive_some()
        await eventually(lambda: offspring() == processes)
    assert open_fds() == fds


async def test_lease_that_nobody_holds_closes_itself(warden: WardenProcess) -> None:
    fds, processes = open_fds(), offspring()
    with trio.fail_after(PATIENCE):
        lease = await warden.lease()
        del lease
        gc.collect()
        await eventually(lambda: offspring() == processes)
    assert open_fds() == fds


async def test_opened_and_closed_warden_leaves_nothing() -> None:
    fds, processes = open_fds(), offspring()
    with trio.fail_after(PATIENCE):
        for _ in range(3):
            warden = await WardenProcess.open()
            await warden.aclose()
    assert (open_fds(), offspring()) == (fds, processes)


async def test_warden_whose_start_is_cancelled_leaves_nothing() -> None:
    moments = random.Random(5)
    fds, processes = open_fds(), offspring()
    with trio.fail_after(PATIENCE):
        for _ in range(10):
            with trio.move_on_after(moments.uniform(0, 0.08)):
                warden = await WardenProcess.open()
                await warden.aclose()
        await eventually(lambda: offspring() == processes)
    assert open_fds() == fds


@contextmanager
def no_more_descriptors() -> Generator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_fds() + 3, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_host_out_of_descriptors_gets_the_systems_error_and_loses_nothing(
    warden: WardenProcess,
) -> None:
    fds = open_fds()
    with trio.fail_after(PATIENCE):
        with no_more_descriptors(), pytest.raises(OSError, match="Too many open files"):
            await warden.lease()
        gc.collect()
        assert open_fds() == fds
        async with await warden.lease() as lease:
            await lease.run(python("pass"))
            assert await lease.exited() == 0


def sockets_and_pipes() -> set[int]:
    found: set[int] = set()
    for path in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            if path.readlink().name.startswith(("socket:", "pipe:")):
                found.add(int(path.name))
    return found


async def test_nobody_hangs_when_the_host_closes_a_leases_descriptors(
    warden: WardenProcess,
) -> None:
    processes = offspring()
    with trio.fail_after(PATIENCE):
        before = sockets_and_pipes()
        async with await warden.lease() as lease:
            await lease.run(python(SLEEP))
            await lease.stdout.receive_some()

            async def read() -> None:
                with pytest.raises(trio.ClosedResourceError):
                    await lease.stdout.receive_some()

            async with trio.open_nursery() as nursery:
                nursery.start_soon(read)
                nursery.start_soon(lease.exited)
                await trio.testing.wait_all_tasks_blocked()
                for fd in sockets_and_pipes() - before:
                    os.close(fd)
            assert await lease.exited() == -signal.SIGKILL
            stranger = os.open("/", os.O_RDONLY)
        os.close(stranger)
        await eventually(lambda: offspring() == processes)


async def test_nobody_hangs_when_the_host_closes_the_wardens_socket() -> None:
    processes = offspring()
    with trio.fail_after(PATIENCE):
        before = sockets_and_pipes()
        warden = await WardenProcess.open()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(warden.wait_lost)
            await trio.testing.wait_all_tasks_blocked()
            for fd in sockets_and_pipes() - before:
                os.close(fd)
        with pytest.raises(WardenLost):
            await warden.lease()
        await warden.aclose()
        await eventually(lambda: offspring() == processes)


async def test_fork_of_the_host_gives_the_agents_stdin_back(warden: WardenProcess) -> None:
    code = "import sys; sys.stdin.read(); print('end', flush=True)"
    with trio.fail_after(PATIENCE):
        async with await warden.lease() as lease:
            await lease.run(python(code))
            fork = os.fork()
            if fork == 0:
                signal.pause()
            await lease.stdin.aclose()
            assert await lease.stdout.receive_some() == b"end\n"
            os.kill(fork, signal.SIGKILL)
            await trio.to_thread.run_sync(os.waitpid, fork, 0)


async def test_run_racing_the_wardens_death_runs_or_says_that_the_lease_is_lost() -> None:
    moments = random.Random(7)
    processes, fds = offspring(), open_fds()
    with trio.fail_after(PATIENCE):
        for _ in range(8):
            warden = await WardenProcess.open()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_kill_later, warden, moments.uniform(0, 0.01))
                try:
                    async with await warden.lease() as lease:
                        await lease.run(python(SLEEP))
                        assert await lease.stdout.receive_some() == b"up\n"
                        assert (await lease.end(0)).is_gone
                except (LeaseLost, WardenLost):
                    pass
            await warden.aclose()
        await eventually(lambda: offspring() == processes)
    assert open_fds() == fds


async def _kill_later(warden: WardenProcess, seconds: float) -> None:
    await trio.sleep(seconds)
    for pid in warden.pids:
        os.kill(pid, signal.SIGKILL)
