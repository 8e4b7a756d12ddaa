"""Who this program is, so that another one can tell later whether it still lives."""

import functools
import os
import re
import uuid
from pathlib import Path
from typing import NamedTuple

from avatar_actors.programs.warden.process_tree import read_stat

# What a kernel can have written there. Anybody may write names like these: `²` is a digit to
# Python and no number to `int`, which refuses thousands of digits too.
_PROCESS = re.compile(r"([0-9]{1,9})\.([0-9]{1,20})", re.ASCII)


class ProcessName(NamedTuple):
    """The two parts of `PID.STARTTIME`."""

    pid: int
    started: int


def host_identity() -> str:
    """`BOOT:NAMESPACE:PID.STARTTIME`: never again another process, also in another container."""
    return f"{_world()}:{process_identity(os.getpid())}"


def process_identity(pid: int) -> str:
    """`PID.STARTTIME`, within this boot and this pid namespace."""
    stat = read_stat(pid)
    return f"{pid}.{stat.started if stat else 0}"


def new_cookie() -> str:
    """A lease's mark in the environment of its processes: `HOST/UUID`."""
    return f"{host_identity()}/{uuid.uuid4()}"


def is_dead_host(identity: str) -> bool:
    """Whether that host ran here and is gone. False when we cannot know: other boot, container."""
    world, _, process = identity.rpartition(":")
    return world == _world() and is_dead_process(process)


def parse_identity(identity: str) -> ProcessName | None:
    """The parts of `PID.STARTTIME`; None for any other text."""
    found = _PROCESS.fullmatch(identity)
    return None if found is None else ProcessName(int(found[1]), int(found[2]))


def is_dead_process(identity: str) -> bool:
    """Whether `PID.STARTTIME` is gone; a zombie is. Without /proc: whether the pid is free.

    False for any other text: nobody can have died who never was.
    """
    process = parse_identity(identity)
    if process is None:
        return False
    if read_stat(os.getpid()) is None:
        return _is_free(process.pid)
    stat = read_stat(process.pid)
    return stat is None or stat.is_dead or stat.started != process.started


def _is_free(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


@functools.cache
def _world() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot}:{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return "no-boot-id:0"
