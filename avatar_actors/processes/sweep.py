"""The last resort: finds processes of dead hosts by the lease cookie in their environment."""

import contextlib
import functools
import os
import re
import signal
import time
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from avatar_actors.programs.warden import LEASE_COOKIE, WARDEN_COOKIE
from avatar_actors.programs.warden.process_tree import (
    all_pids,
    descendants,
    is_free,
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
        return is_free(process.pid)
    stat = read_stat(process.pid)
    return stat is None or stat.is_dead or stat.started != process.started


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
# For those that a sweep has killed and that are ours to reap, to end.
REAP_SECONDS = 1.0
# More than any kernel hands out before it begins again with the small ones.
PIDS = 1 << 23


def sweep_dead_hosts(among: Pids = all_pids) -> int:
    """Kill what the leases of dead hosts left behind; returns how many. Blocks for a moment.

    `among` lists the processes to look at, by default all of them. Stopped wardens and keepers of
    dead hosts are continued: they then do the work themselves.
    """
    return len(_sweep(lambda cookie: is_dead_host(cookie.partition("/")[0]), among))


def sweep_lease(cookie: str) -> int:
    """Kill the processes with this cookie; returns how many. Blocks for a moment."""
    killed = _sweep(lambda found: found == cookie, all_pids)
    give_up_at = time.monotonic() + REAP_SECONDS
    while not all(map(reap, killed)) and time.monotonic() < give_up_at:
        time.sleep(0.005)
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


def _sweep(is_wanted: Callable[[str], bool], among: Pids) -> set[int]:
    killed: set[int] = set()
    # No process gets a cookie later, and no pid comes back so soon: each is read once.
    clear = {os.getpid()}
    clean = 0
    for _ in range(MOST_ROUNDS):
        found: set[int] = set()
        for pid in _newest_first(pid for pid in among() if pid not in clear):
            environment = _environment(pid)
            cookie = _variable(environment, LEASE_COOKIE)
            if is_wanted(cookie):
                found |= {pid} if _kill(pid, cookie) else set()
            elif environment or _is_out_of_reach(pid):
                clear.add(pid)
                _wake_helper(pid, _variable(environment, WARDEN_COOKIE))
        killed |= found
        clean = 0 if found else clean + 1
        if clean == CLEAN_ROUNDS:
            break
    return killed


def _is_out_of_reach(pid: int) -> bool:
    """Whether a process without environment is another user's, or the kernel's own.

    Others may be in the midst of exec, and are looked at again.
    """
    try:
        is_foreign = Path(f"/proc/{pid}").stat().st_uid != os.geteuid() != 0
    except OSError:
        return False
    stat = read_stat(pid)
    return is_foreign or (stat is not None and stat.is_of_the_kernel)


def _wake_helper(pid: int, host: str) -> None:
    """Continue a warden or keeper of a dead host, if it is stopped."""
    if is_dead_host(host):
        with contextlib.suppress(PermissionError):
            signal_process(pid, signal.SIGCONT, lambda held: _cookie(held, WARDEN_COOKIE) == host)


def _newest_first(pids: Iterable[int]) -> list[int]:
    """The newest first: a process that forks and dies all the time would have moved on."""
    listed = list(pids)
    if not listed:
        return []  # where there is no /proc
    newest = int(Path("/proc/loadavg").read_bytes().split()[-1])
    return sorted(listed, key=lambda pid: (newest - pid) % PIDS)


def _kill(pid: int, cookie: str) -> bool:
    try:
        return signal_process(
            pid, signal.SIGKILL, lambda held: _cookie(held, LEASE_COOKIE) == cookie
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


def _cookie(pid: int, name: str) -> str:
    return _variable(_environment(pid), name)


def _variable(environment: bytes, name: str) -> str:
    """The variable in a process's environment; empty if it is not there."""
    wanted = f"{name}=".encode()
    for entry in environment.split(b"\0"):
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
