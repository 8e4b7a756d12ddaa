"""kill -9 on the host program: nobody of its agents survives, everybody else does."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager

import pytest
import trio

from avatar_actors.programs.warden.process_tree import all_pids, read_stat
from tests.processes.census import PATIENCE, Book, eventually, is_left

HOST = """
import os, signal, subprocess, sys
from pathlib import Path
import trio
from avatar_actors.processes import WardenProcess
from avatar_actors.programs.warden.process_tree import read_stat
from tests.processes.census import Book, run_zoo

async def main():
    warden = await WardenProcess.open()
    lease = await run_zoo(warden, Book(Path(sys.argv[1])))
    unrelated = subprocess.Popen(["sleep", "100"], stdout=subprocess.DEVNULL)
    fork = FORK
    if fork == 0:
        os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
        signal.alarm(100)
        signal.pause()
    others = [unrelated.pid] + ([fork] if fork else [])
    print(*warden.pids, *others, *[read_stat(pid).started for pid in others], flush=True)
    await trio.sleep_forever()

trio.run(main)
"""
NO_FORK = "None"
# Without Python's hooks, as a C library would: the fork holds all our descriptors.
RAW_FORK = "__import__('ctypes').CDLL(None).fork()"


def host(book: Book, fork: str) -> AbstractContextManager["subprocess.Popen[str]"]:
    return program(HOST.replace("FORK", fork), str(book.path))


@contextmanager
def program(code: str, *arguments: str) -> Generator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: "subprocess.Popen[str]") -> list[str]:
    assert process.stdout is not None
    return process.stdout.readline().split()


def wardens_left(session: str) -> list[int]:
    """Anchor, server and keepers share the session that the first anchor made."""
    stats = ((pid, read_stat(pid)) for pid in all_pids())
    return [pid for pid, stat in stats if stat is not None and stat.session == int(session)]


@pytest.mark.parametrize("wardens_killed", [(), ("anchor",), ("server",), ("anchor", "server")])
async def test_nobody_survives_the_host_and_its_own_child_lives_on(
    book: Book, wardens_killed: tuple[str, ...]
) -> None:
    with trio.fail_after(PATIENCE), host(book, NO_FORK) as process:
        anchor, server, unrelated, started = await trio.to_thread.run_sync(said, process)
        pids = {"anchor": anchor, "server": server}
        assert wardens_left(anchor)
        for victim in [str(process.pid), *(pids[name] for name in wardens_killed)]:
            os.kill(int(victim), signal.SIGKILL)
        await eventually(lambda: not book.left())
        await eventually(lambda: not wardens_left(anchor))
        assert is_left(unrelated, started)
        os.kill(int(unrelated), signal.SIGKILL)


IDLE_HOST = """
import trio
from avatar_actors.processes import WardenProcess

async def main():
    print(*(await WardenProcess.open()).pids, flush=True)
    await trio.sleep_forever()

trio.run(main)
"""


async def test_anchor_that_hears_of_two_deaths_at_once_leaves() -> None:
    with trio.fail_after(PATIENCE), program(IDLE_HOST) as process:
        anchor, server = await trio.to_thread.run_sync(said, process)
        os.kill(int(anchor), signal.SIGSTOP)
        os.kill(int(server), signal.SIGKILL)
        process.kill()
        await trio.to_thread.run_sync(process.wait)
        os.kill(int(anchor), signal.SIGCONT)
        await eventually(lambda: not wardens_left(anchor))


async def test_fork_that_holds_every_descriptor_does_not_keep_the_agents_of_a_dead_host(
    book: Book,
) -> None:
    with trio.fail_after(PATIENCE), host(book, RAW_FORK) as process:
        _, _, *others = await trio.to_thread.run_sync(said, process)
        process.kill()
        await eventually(lambda: not book.left())
        for pid, started in zip(others[:2], others[2:], strict=True):
            assert is_left(pid, started)
            os.kill(int(pid), signal.SIGKILL)
