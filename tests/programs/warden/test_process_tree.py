"""Reading /proc, and signals that reach only who was meant."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Generator

import pytest

from avatar_actors.programs.warden.process_tree import (
    ProcessStat,
    children,
    descendants,
    read_stat,
    signal_below,
    signal_process,
)


@pytest.fixture
def child() -> Generator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(["sh", "-c", "sleep 100 & sleep 100"], start_new_session=True) as process:
        yield process
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def test_process_may_be_called_anything() -> None:
    numbers = " ".join(str(number) for number in range(4, 60))
    stat = ProcessStat(f"7 (a) Z (b)) S {numbers}".encode())
    assert (stat.state, stat.parent, stat.session) == ("S", 4, 6)
    assert (stat.ticks, stat.ticks_of_reaped, stat.started) == (14 + 15, 16 + 17, 22)


def test_process_that_is_not_there_has_no_stat() -> None:
    assert read_stat(2**22 + 1) is None
    assert children(2**22 + 1) == []


def test_children_and_grandchildren_are_found(child: "subprocess.Popen[bytes]") -> None:
    assert child.pid in children(os.getpid())
    while len(descendants(child.pid)) < 2:
        pass
    assert {child.pid, *descendants(child.pid)} <= set(descendants(os.getpid()))


def test_who_does_not_stand_below_is_not_signalled(child: "subprocess.Popen[bytes]") -> None:
    while len(descendants(child.pid)) < 2:
        pass
    grandchild = descendants(child.pid)[0]
    signal_below(os.getpid(), [grandchild], signal.SIGKILL)
    stat = read_stat(grandchild)
    assert stat is not None
    assert not stat.is_dead


def test_who_is_not_meant_is_not_signalled(child: "subprocess.Popen[bytes]") -> None:
    assert not signal_process(child.pid, signal.SIGKILL, lambda _pid: False)
    assert child.poll() is None
    assert signal_process(child.pid, signal.SIGKILL, lambda pid: pid == child.pid)
    assert child.wait(30) == -signal.SIGKILL
    assert not signal_process(child.pid, signal.SIGKILL, lambda _pid: True)
