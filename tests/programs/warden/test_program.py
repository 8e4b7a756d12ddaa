"""The warden's server: what its keepers inherit, whom it outlives, and what it says once."""

import os
import re
import select
import signal
from contextlib import suppress
from pathlib import Path

import trio

from avatar_actors.processes import Proof, WardenProcess
from avatar_actors.programs.warden.process_tree import open_pidfd, read_stat
from tests.processes.census import PATIENCE, python
from tests.processes.test_host_death import program, said

DEAF_AGENT = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
signal.pause()
"""
HOST = """
import sys
import trio
from avatar_actors.processes import Launch, WardenProcess

async def main():
    warden = await WardenProcess.open()
    lease = await warden.lease()
    argv = (sys.executable, "-I", "-S", "-c", sys.argv[1])
    agent = await lease.run(Launch(argv=argv, cwd="/", env={}, close_grace=1.0))
    await lease.stdout.receive_some()
    print(*warden.pids, agent, flush=True)
    await trio.sleep_forever()

trio.run(main)
"""


def pipes_and_sockets(pid: int) -> set[str]:
    found: set[str] = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            if re.match(r"(pipe|socket):", target := str(path.readlink())):
                found.add(target)
    return found


async def test_a_keeper_inherits_nothing_of_the_server_and_of_other_keepers() -> None:
    with trio.fail_after(PATIENCE):
        warden = await WardenProcess.open()
        async with await warden.lease() as first, await warden.lease() as second:
            for lease in (first, second):
                await lease.run(python(DEAF_AGENT))
                await lease.stdout.receive_some()
            one, other = map(pipes_and_sockets, (first.keeper_pid, second.keeper_pid))
            server = pipes_and_sockets(warden.pids[1])
            assert one
            assert not one & other
            # The control socket of each, by which the server speaks for a keeper that is killed.
            assert len(one & server) == len(other & server) == 1
        await warden.aclose()


async def test_the_end_of_a_killed_keepers_lease_does_not_end_the_server(
    warden: WardenProcess,
) -> None:
    pids = warden.pids
    with trio.fail_after(PATIENCE):
        for _ in range(2):
            async with await warden.lease() as lease:
                await lease.run(python(DEAF_AGENT))
                os.kill(lease.keeper_pid, signal.SIGKILL)
                assert (await lease.end(0)).proof is Proof.WARDEN
        async with await warden.lease() as lease:
            await lease.run(python("pass"))
            assert (await lease.end(PATIENCE)).proof is Proof.KEEPER
    assert warden.pids == pids


async def test_a_keeper_proves_the_end_of_an_agent_that_leaves_by_itself(
    warden: WardenProcess,
) -> None:
    with trio.fail_after(PATIENCE):
        async with await warden.lease() as lease:
            await lease.run(python("pass"))
            assert await lease.exited() == 0
            assert (await lease.end(0)).proof is Proof.KEEPER


async def test_a_lease_has_ended_when_its_keeper_is_gone_too(warden: WardenProcess) -> None:
    with trio.fail_after(PATIENCE):
        for _ in range(10):
            async with await warden.lease() as lease:
                await lease.run(python("pass"))
                assert (await lease.end(0)).is_gone
                assert read_stat(lease.keeper_pid) is None


async def test_the_warden_of_a_dead_host_stays_until_the_last_agent_is_gone() -> None:
    with trio.fail_after(PATIENCE), program(HOST, DEAF_AGENT) as host:
        *pids, agent = map(int, await trio.to_thread.run_sync(said, host))
        held = {pid: open_pidfd(pid) for pid in (*pids, agent)}
        host.kill()
        for pid in pids:
            await ended(held[pid])
            assert has_ended(held[agent])
        for pidfd in filter(None, held.values()):
            os.close(pidfd)


async def ended(pidfd: int | None) -> None:
    assert pidfd is not None
    await trio.lowlevel.wait_readable(pidfd)


def has_ended(pidfd: int | None) -> bool:
    assert pidfd is not None
    return bool(select.select([pidfd], [], [], 0)[0])
