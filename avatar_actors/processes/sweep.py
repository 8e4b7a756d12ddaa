"""The last resort: finds processes of dead hosts by the lease cookie in their environment."""

import contextlib
import functools
import os
import re
import signal
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from avatar_actors.programs.warden import LEASE_COOKIE, WARDEN_COOKIE
from avatar_actors.programs.warden.process_tree import (
    all_pids,
    descendants,
    read_stat,
    signal_process,
)

# What a kernel can write there. Others may write similar names: `²` is a digit to Python's `\d`,
# but not a number to `int`, which refuses thousands of digits too.
_PROCESS = re.compile(r"([0-9]{1,9})\.([0-9]{1,20})", re.ASCII)


class ProcessName(NamedTuple):
    """The two parts of `PID.STARTTIME`."""

    pid: int
    started: int


def host_identity() -> str:
    """`BOOT:NAMESPACE:PID.STARTTIME`: unique to this process, across containers too."""
    return f"{_world()}:{process_identity(os.getpid())}"


def process_identity(pid: int) -> str:
    """`PID.STARTTIME`, within this boot and this pid namespace."""
    stat = read_stat(pid)
    return f"{pid}.{stat.started if stat else 0}"


def new_cookie() -> str:
    """A lease's mark in the environment of its processes: `HOST/UUID`."""
    return f"{host_identity()}/{uuid.uuid4()}"


def is_dead_host(identity: str) -> bool:
    """Whether that host ran here and is gone; False if it ran in another boot or container."""
    world, _, process = identity.rpartition(":")
    return world == _world() and is_dead_process(process)


def parse_identity(identity: str) -> ProcessName | None:
    """The parts of `PID.STARTTIME`; None for any other text."""
    found = _PROCESS.fullmatch(identity)
    return None if found is None else ProcessName(int(found[1]), int(found[2]))


def is_dead_process(identity: str) -> bool:
    """Whether `PID.STARTTIME` is gone; a zombie is. Without /proc: whether the pid is free.

    False for any other text.
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


Pids: TypeAlias = Callable[[], Iterable[int]]

# Each round kills what it finds; the next finds what forked meanwhile. A round can miss a process
# that forks and dies all the time, so one round without a find is not enough.
MOST_ROUNDS = 50
CLEAN_ROUNDS = 5
# More than any kernel hands out before it begins again with the small ones.
PIDS = 1 << 23


def sweep_dead_hosts(among: Pids = all_pids) -> int:
    """Kill what the leases of dead hosts left behind; returns how many. Blocks for a moment.

    `among` lists the processes to look at, by default all of them.
    """
    _wake_wardens(among)
    return len(_sweep(lambda cookie: is_dead_host(cookie.partition("/")[0]), among))


def sweep_lease(cookie: str) -> int:
    """Kill the processes with this cookie; returns how many. Blocks for a moment."""
    killed = _sweep(lambda found: found == cookie, all_pids)
    for pid in killed:
        reap(pid)
    return len(killed)


def kill_listed(identities: Iterable[str]) -> None:
    """Kill the processes with these `PID.STARTTIME` identities, and their descendants."""
    for identity in identities:
        process = parse_identity(identity)
        if process is None:
            continue
        below = descendants(process.pid)
        with contextlib.suppress(PermissionError):
            is_same = functools.partial(_is_living, identity)
            if signal_process(process.pid, signal.SIGKILL, is_same):
                kill_listed(map(process_identity, below))


def _is_living(identity: str, _pid: int) -> bool:
    return not is_dead_process(identity)


def _wake_wardens(among: Pids) -> None:
    """Continue stopped wardens and keepers of dead hosts: they then do the work themselves."""
    for pid in among():
        if _serves_dead_host(pid):
            with contextlib.suppress(PermissionError):
                signal_process(pid, signal.SIGCONT, _serves_dead_host)


def _serves_dead_host(pid: int) -> bool:
    return is_dead_host(_variable(pid, WARDEN_COOKIE))


def _sweep(is_wanted: Callable[[str], bool], among: Pids) -> set[int]:
    killed: set[int] = set()
    clean = 0
    for _ in range(MOST_ROUNDS):
        pids = _newest_first(among())
        found = {pid for pid in pids if pid != os.getpid() and _kill_if(pid, is_wanted)}
        killed |= found
        clean = 0 if found else clean + 1
        if clean == CLEAN_ROUNDS:
            break
    return killed


def _newest_first(pids: Iterable[int]) -> list[int]:
    """The newest first: a process that forks and dies all the time would have moved on."""
    newest = int(Path("/proc/loadavg").read_bytes().split()[-1])
    return sorted(pids, key=lambda pid: (newest - pid) % PIDS)


def _kill_if(pid: int, is_wanted: Callable[[str], bool]) -> bool:
    cookie = _variable(pid, LEASE_COOKIE)
    if not is_wanted(cookie):
        return False
    try:
        return signal_process(
            pid, signal.SIGKILL, lambda held: _variable(held, LEASE_COOKIE) == cookie
        )
    except PermissionError:
        return False


def reap(pid: int) -> bool:
    """Reap the process if it is our child and has ended; True when there is nothing to reap.

    Orphans are ours to reap only when this program is PID 1 of its container, or a subreaper.
    """
    try:
        return os.waitpid(pid, os.WNOHANG) != (0, 0)
    except ChildProcessError:
        return True


def _variable(pid: int, name: str) -> str:
    """The variable in the process's environment; empty if it cannot be read."""
    wanted = f"{name}=".encode()
    for entry in _environment(pid).split(b"\0"):
        if entry.startswith(wanted):
            return os.fsdecode(entry.removeprefix(wanted))
    return ""


def _environment(pid: int) -> bytes:
    process = Path(f"/proc/{pid}")
    environment = _read(process / "environ")
    if environment:
        return environment
    # A dead main thread shows nothing, but others of the process may live.
    try:
        threads = list((process / "task").iterdir())
    except OSError:
        return b""
    return b"\0".join(_read(thread / "environ") for thread in threads)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
