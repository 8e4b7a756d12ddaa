"""A zoo of hostile tools, and kill -9 on everybody who could look after them."""

import os
import signal
from collections.abc import Callable

import pytest
import trio

from avatar_actors.processes import Lease, Proof, WardenProcess
from tests.processes.census import (
    PATIENCE,
    Book,
    eventually,
    open_fds,
    own_children,
    run_zoo,
    until_changed,
)

pytestmark = pytest.mark.usefixtures("unrelated")


def kill(*pids: int) -> None:
    # All are stopped first: else who dies last would have the time to replace who died first.
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            os.kill(pid, number)


def anchor(warden: WardenProcess) -> int:
    return warden.pid


def server(warden: WardenProcess) -> int:
    [pid] = set(warden.pids) - {warden.pid}
    return pid


@pytest.mark.parametrize("grace", [0, 0.1])
async def test_nobody_is_left_when_end_returns(
    warden: WardenProcess, book: Book, grace: float
) -> None:
    with trio.fail_after(PATIENCE):
        async with await run_zoo(warden, book) as lease:
            ending = await lease.end(grace)
            assert (ending.proof, book.left()) == (Proof.KEEPER, [])


async def test_agents_death_takes_its_tools_along(warden: WardenProcess, book: Book) -> None:
    with trio.fail_after(PATIENCE):
        async with await run_zoo(warden, book) as lease:
            kill(lease.pid)
            assert await lease.exited() == -signal.SIGKILL
            await eventually(lambda: not book.left())


async def test_killed_keepers_tree_is_ended_by_the_warden(
    warden: WardenProcess, book: Book
) -> None:
    with trio.fail_after(PATIENCE):
        async with await run_zoo(warden, book) as lease:
            kill(lease.keeper_pid)
            assert await lease.exited() == -signal.SIGKILL
            assert (await lease.end(0)).proof is Proof.WARDEN
            assert not book.left()


@pytest.mark.parametrize("half", [anchor, server])
async def test_half_a_warden_is_made_anew_and_the_agent_lives_on(
    warden: WardenProcess, book: Book, half: Callable[[WardenProcess], int]
) -> None:
    with trio.fail_after(PATIENCE):
        async with await run_zoo(warden, book) as lease:
            before = warden.pids
            kill(half(warden))
            await until_changed(warden, before)
            assert lease.returncode is None
            async with await warden.lease() as another:
                await another.run(book.launch())
                assert (await another.end(0)).proof is Proof.KEEPER
            assert (await lease.end(0)).is_gone
            assert not book.left()


@pytest.mark.parametrize("half", [anchor, server])
async def test_keeper_and_half_a_warden_killed_at_once_leave_nobody(
    warden: WardenProcess, book: Book, half: Callable[[WardenProcess], int]
) -> None:
    with trio.fail_after(PATIENCE):
        async with await run_zoo(warden, book) as lease:
            kill(half(warden), lease.keeper_pid)
            assert await lease.exited() == -signal.SIGKILL
            await eventually(lambda: not book.left())


async def test_agent_outlives_the_whole_warden_and_can_still_be_ended(
    warden: WardenProcess, book: Book
) -> None:
    with trio.fail_after(PATIENCE):
        async with await run_zoo(warden, book) as lease:
            kill(*warden.pids)
            await warden.wait_lost()
            assert lease.returncode is None
            assert (await lease.end(0)).proof is Proof.KEEPER
            assert not book.left()


async def test_whole_warden_and_keeper_killed_at_once_leave_only_who_hid_from_the_search(
    warden: WardenProcess, book: Book
) -> None:
    with trio.fail_after(PATIENCE):
        async with await run_zoo(warden, book) as lease:
            kill(*warden.pids, lease.keeper_pid)
            assert await lease.exited() == -signal.SIGKILL
            assert (await lease.end(0)).proof is Proof.SEARCH
            hidden = {"no_environment", "wiped_environment"}
            await eventually(lambda: {line.split()[2] for line in book.left()} <= hidden)
            kill(*(int(line.split()[0]) for line in book.left()))


async def test_keeper_killed_long_after_all_its_wardens_leaves_nobody(
    warden: WardenProcess, book: Book
) -> None:
    with trio.fail_after(PATIENCE):
        async with await run_zoo(warden, book) as lease, trio.open_nursery() as nursery:
            nursery.start_soon(lease.exited)
            for _ in range(2):
                before = warden.pids
                kill(before[0])
                await until_changed(warden, before)
            await eventually(lambda: lease.is_adrift)
            kill(lease.keeper_pid)
            assert (await lease.end(0)).proof is Proof.SEARCH
            await eventually(lambda: not book.left())


async def test_stopped_keeper_is_killed_after_its_patience_and_the_warden_ends_the_tree(
    warden: WardenProcess, book: Book
) -> None:
    with trio.fail_after(PATIENCE):
        async with await run_zoo(warden, book) as lease:
            os.kill(lease.keeper_pid, signal.SIGSTOP)
            assert (await lease.end(0)).proof is Proof.WARDEN
            assert not book.left()


async def test_many_kills_leave_no_process_and_no_descriptor(
    warden: WardenProcess, book: Book
) -> None:
    def kill_agent(lease: Lease) -> None:
        kill(lease.pid)

    def kill_keeper(lease: Lease) -> None:
        kill(lease.keeper_pid)

    fds, children = open_fds(), own_children()
    with trio.fail_after(PATIENCE):
        for number in range(12):
            async with await run_zoo(warden, book) as lease:
                (kill_agent, kill_keeper)[number % 2](lease)
                await lease.exited()
        await eventually(lambda: not book.left())
    assert (open_fds(), own_children()) == (fds, children)
