"""Who this program is, so that another one can tell later whether it still lives."""

import functools
import os
import uuid
from pathlib import Path

from avatar_actors.warden.process_tree import read_stat


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


def is_dead_process(identity: str) -> bool:
    """Whether `PID.STARTTIME` is gone; a zombie is. Without /proc: whether the pid is free."""
    pid, _, started = identity.partition(".")
    if not pid.isdigit():
        return False
    if read_stat(os.getpid()) is None:
        return _is_free(int(pid))
    stat = read_stat(int(pid))
    return stat is None or stat.is_dead or str(stat.started) != started


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
