"""The helper program itself: its start, its two halves, its leave."""

import os
import signal
import sys

import pytest
import trio

from avatar_actors.processes import WardenLost, WardenNotStarted, WardenProcess
from avatar_actors.programs.warden.process_tree import read_stat
from tests.processes.census import PATIENCE, eventually, open_fds, own_children, python


@pytest.mark.parametrize("python_name", ["/no/such/python", "/bin/true", "/etc/passwd"])
async def test_what_is_not_a_python_is_a_typed_error_that_says_what_to_pass(
    python_name: str,
) -> None:
    children = own_children()
    with trio.fail_after(PATIENCE):
        with pytest.raises(WardenNotStarted, match=r"pass python="):
            await WardenProcess.open(python=python_name)
    assert own_children() == children


async def test_hosts_python_can_be_named() -> None:
    with trio.fail_after(PATIENCE):
        warden = await WardenProcess.open(python=sys.executable)
        assert warden.containment == "subreaper"
        await warden.aclose()


async def test_warden_does_not_look_like_a_python_and_stands_in_a_session_of_its_own(
    warden: WardenProcess,
) -> None:
    for pid in warden.pids:
        assert b"python" not in await trio.Path(f"/proc/{pid}/cmdline").read_bytes()
        assert os.getsid(pid) == warden.pid != os.getsid(0)


async def test_signals_that_people_send_do_not_end_it(warden: WardenProcess) -> None:
    with trio.fail_after(PATIENCE):
        for pid in warden.pids:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
                os.kill(pid, number)
        async with await warden.lease() as lease:
            await lease.run(python("pass"))
            assert await lease.exited() == 0


async def test_killed_anchor_is_reaped_at_once(warden: WardenProcess) -> None:
    with trio.fail_after(PATIENCE):
        os.kill(warden.pid, signal.SIGKILL)
        await eventually(lambda: warden.pid not in own_children())


async def test_death_of_both_halves_is_noticed() -> None:
    with trio.fail_after(PATIENCE):
        warden = await WardenProcess.open()
        for pid in warden.pids:
            os.kill(pid, signal.SIGKILL)
        await warden.wait_lost()
        await warden.aclose()


async def test_stopped_warden_does_not_hold_up_the_close() -> None:
    with trio.fail_after(PATIENCE):
        warden = await WardenProcess.open()
        for pid in warden.pids:
            os.kill(pid, signal.SIGSTOP)
        await warden.aclose()
        await eventually(lambda: all(read_stat(pid) is None for pid in warden.pids))


async def test_lease_of_a_dead_warden_is_refused_and_leaves_no_descriptor() -> None:
    with trio.fail_after(PATIENCE):
        warden = await WardenProcess.open()
        for pid in warden.pids:
            os.kill(pid, signal.SIGKILL)
        await warden.wait_lost()
        before = open_fds()
        # With its traceback each error holds on to the lease, so nobody else closes that.
        errors: list[pytest.ExceptionInfo[WardenLost]] = []
        for _ in range(5):
            with pytest.raises(WardenLost) as caught:
                await warden.lease()
            errors.append(caught)
        assert open_fds() == before
        await warden.aclose()
        with pytest.raises(WardenLost):
            await warden.lease()
