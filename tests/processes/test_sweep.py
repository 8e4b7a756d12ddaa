"""What is killed by its cookie, and what is not."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

import trio

from avatar_actors.processes import sweep_dead_hosts
from avatar_actors.processes.sweep import (
    CLEAN_ROUNDS,
    host_identity,
    is_dead_host,
    is_dead_process,
    kill_listed,
    process_identity,
    reap,
    sweep_lease,
)
from avatar_actors.programs.warden import LEASE_COOKIE
from avatar_actors.programs.warden.process_tree import read_stat
from tests.processes.census import PATIENCE, eventually

HOST_THAT_DIES = "from avatar_actors.processes.sweep import host_identity; print(host_identity())"


@contextmanager
def carrier(cookie: str) -> Generator["subprocess.Popen[bytes]"]:
    # Its word tells that it runs: in the midst of exec a process shows no environment.
    command = ["/bin/sh", "-c", "echo up; read line"]
    pipe, env = subprocess.PIPE, {LEASE_COOKIE: cookie}
    with subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"up\n"
            yield process
        finally:
            process.kill()


def dead_host() -> str:
    done = subprocess.run([sys.executable, "-c", HOST_THAT_DIES], capture_output=True, check=True)
    return done.stdout.decode().strip()


def test_process_of_a_dead_host_is_killed() -> None:
    with carrier(f"{dead_host()}/1") as left:
        # Not counted: a runtime that starts elsewhere on this machine may sweep it first.
        sweep_dead_hosts(among=lambda: [left.pid])
        assert left.wait(30) == -signal.SIGKILL


def test_process_of_a_living_host_is_left_alone() -> None:
    with carrier(f"{host_identity()}/1") as process:
        assert sweep_dead_hosts(among=lambda: [process.pid]) == 0
        assert process.poll() is None


def test_host_of_another_boot_or_container_is_not_known_to_be_dead() -> None:
    boot, namespace, process = dead_host().split(":")
    assert is_dead_host(f"{boot}:{namespace}:{process}")
    assert not is_dead_host(f"other-boot:{namespace}:{process}")
    assert not is_dead_host(f"{boot}:1:{process}")
    assert not is_dead_host("nonsense")


def test_pid_that_was_given_to_another_is_a_dead_host() -> None:
    world, _, process = host_identity().rpartition(":")
    assert not is_dead_host(f"{world}:{process}")
    assert is_dead_host(f"{world}:{os.getpid()}.1")


def test_only_this_leases_processes_are_swept() -> None:
    mine, other = f"{host_identity()}/mine", f"{host_identity()}/other"
    with carrier(mine) as first, carrier(other) as second:
        assert sweep_lease(mine) == 1
        # As our child it was ours to reap.
        assert read_stat(first.pid) is None
        assert second.poll() is None


@contextmanager
def family() -> Generator[tuple["subprocess.Popen[bytes]", int]]:
    """A parent and the pid of its child."""
    command = ["/bin/sh", "-c", "sleep 100 & echo $!; wait"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        try:
            assert parent.stdout is not None
            yield parent, int(parent.stdout.readline())
        finally:
            parent.kill()


async def test_listed_process_is_killed_with_those_below_it() -> None:
    with trio.fail_after(PATIENCE), family() as (parent, child):
        identity = process_identity(child)
        kill_listed(["nonsense", process_identity(parent.pid)])
        assert parent.wait(60) == -signal.SIGKILL
        await eventually(lambda: is_dead_process(identity))


def test_listed_pid_that_was_given_to_another_is_left_alone() -> None:
    with carrier("nothing") as process:
        kill_listed([f"{process.pid}.1"])
        assert process.poll() is None


def test_only_a_child_that_has_ended_is_reaped() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        assert not reap(child.pid)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert reap(child.pid)
        assert reap(child.pid)


def test_a_round_with_a_find_is_followed_by_as_many_clean_ones_as_any() -> None:
    rounds = 0

    def among() -> list[int]:
        nonlocal rounds
        rounds += 1
        return [left.pid] if rounds == 1 else []

    with carrier(f"{dead_host()}/1") as left:
        # None is killed where a runtime that starts elsewhere on this machine swept it first.
        killed = sweep_dead_hosts(among=among)
    assert rounds == killed + CLEAN_ROUNDS


COUNTED_SWEEP = """
import collections, os, sys
from avatar_actors.processes import sweep_dead_hosts
from avatar_actors.programs.warden.process_tree import all_pids

opened = collections.Counter()

def count(event, arguments):
    if event == "open" and str(arguments[0]).endswith("/environ"):
        opened[arguments[0]] += 1

sys.addaudithook(count)
sweep_dead_hosts(among=lambda: [int(pid) for pid in sys.argv[1:]])
print(*(opened[f"/proc/{pid}/environ"] for pid in sys.argv[1:]))
"""


def test_environment_of_a_process_is_read_once_though_each_round_lists_it() -> None:
    with carrier(f"{host_identity()}/1") as one, carrier("nothing") as other:
        command = [sys.executable, "-c", COUNTED_SWEEP, str(one.pid), str(other.pid)]
        done = subprocess.run(command, capture_output=True, check=True)
    assert done.stdout.split() == [b"1", b"1"]


def test_process_without_environment_is_looked_at_again() -> None:
    looks = 0

    def among() -> list[int]:
        nonlocal looks
        looks += 1
        if looks == 2:
            # It executes a program that has the cookie, as if the first look had come in between.
            assert process.stdin is not None
            process.stdin.write(b"go\n")
            process.stdin.flush()
            assert process.stdout is not None
            assert process.stdout.readline() == b"up\n"
        return [process.pid]

    code = f"read line; exec env {LEASE_COOKIE}={dead_host()}/1 sh -c 'echo up; read line'"
    command, pipe = ["/bin/sh", "-c", code], subprocess.PIPE
    with subprocess.Popen(command, env={}, stdin=pipe, stdout=pipe) as process:
        try:
            sweep_dead_hosts(among=among)
            assert process.wait(PATIENCE) == -signal.SIGKILL
        finally:
            process.kill()
