"""Whose a process is: real ones, with a living agent above them and without."""

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

import pytest
import trio

from avatar_actors.chaos.process_view import MARK, Wardens, process_owners


@pytest.fixture
def run() -> str:
    return secrets.token_hex(8)


@contextmanager
def process(run: str, *command: str) -> Generator[tuple[int, int]]:
    """A process with the mark of a run, and another one, of which it tells the pid."""
    environment = {**os.environ, MARK: f"{run}/a0"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        try:
            yield started.pid, int(started.stdout.readline())
        finally:
            started.kill()


def test_who_stands_below_a_living_agent_is_its_helper_and_else_a_stray(run: str) -> None:
    with process(run, "sh", "-c", "sleep 600 & echo $!; wait") as (agent, helper):
        try:
            living = process_owners(run, Wardens(), frozenset({agent}))
            assert {agent, helper}.isdisjoint(living.strays)
            assert helper in living.helpers
            assert agent not in living.helpers
            over = process_owners(run, Wardens(), frozenset())
            assert {agent, helper} <= over.strays
            assert over.helpers == frozenset()
        finally:
            os.kill(helper, signal.SIGKILL)


def test_who_was_left_by_an_agent_that_ended_is_a_stray_of_its_run(run: str) -> None:
    with process(run, "sh", "-c", "sleep 600 >/dev/null & echo $!") as (agent, left):
        try:
            os.waitid(os.P_PID, agent, os.WEXITED | os.WNOWAIT)
            assert left in process_owners(run, Wardens(), frozenset()).strays
            assert left not in process_owners(secrets.token_hex(8), Wardens(), frozenset()).strays
        finally:
            os.kill(left, signal.SIGKILL)


async def test_a_zombie_of_ours_is_ours_to_reap_and_one_of_an_agent_is_not(run: str) -> None:
    code = "import os, time; print(os.fork() or os._exit(0), flush=True); time.sleep(600)"
    with (
        trio.fail_after(60),
        process(run, sys.executable, "-c", code) as (agent, child),
        process(run, "echo", "0") as (unreaped, _),
    ):
        everybody = frozenset[int]()
        while not {unreaped, child} <= everybody:
            await trio.sleep(0.01)
            everybody = process_owners(run, Wardens(), frozenset()).zombies
        living = process_owners(run, Wardens(), frozenset({agent})).zombies
        assert unreaped in living
        assert child not in living
