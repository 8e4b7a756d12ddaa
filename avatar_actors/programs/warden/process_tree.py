"""Which processes stand below another one, how they are, and signals to them; read from /proc."""

# Importing pathlib would cost the warden a quarter of its start-up.
# ruff: noqa: PTH110, PTH112, PTH123, PTH208

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator

from avatar_actors.programs.warden.kernel import open_pidfd

# Needs CONFIG_PROC_CHILDREN; without it every walk reads all of /proc.
HAS_CHILDREN_FILES = os.path.exists(f"/proc/self/task/{os.getpid()}/children")


class ProcessStat:
    """What /proc/PID/stat says of a process, as far as we need it; times are in clock ticks."""

    __slots__ = ("parent", "session", "started", "state", "ticks", "ticks_of_reaped")

    def __init__(self, line: bytes) -> None:
        # The name stands in brackets and may hold anything, also brackets.
        fields = line.rpartition(b")")[2].split()
        self.state = fields[0].decode()
        self.parent = int(fields[1])
        self.session = int(fields[3])
        self.ticks = int(fields[11]) + int(fields[12])
        self.ticks_of_reaped = int(fields[13]) + int(fields[14])
        self.started = int(fields[19])

    @property
    def is_dead(self) -> bool:
        """Whether it is a zombie, or on its way out of the table."""
        return self.state in "ZX"

    @property
    def is_stopped(self) -> bool:
        """Whether a signal or a tracer holds it: it does nothing until somebody lets it go on."""
        return self.state in "Tt"


def read_stat(pid: int) -> ProcessStat | None:
    """The process's stat; None when there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return ProcessStat(file.read())
    except OSError:
        return None


def children(pid: int) -> list[int]:
    """The direct children of the process, of whichever of its threads."""
    if not HAS_CHILDREN_FILES:
        return _children_by_parent().get(pid, [])
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found.extend(map(int, file.read().split()))
        except OSError:
            continue
    return found


def descendants(root: int) -> list[int]:
    """Everybody below `root`, parents before their children. Forks meanwhile may be missed."""
    everybody = None if HAS_CHILDREN_FILES else _children_by_parent()
    found: dict[int, None] = {}
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        for child in children(pid) if everybody is None else everybody.get(pid, []):
            if child not in found:
                found[child] = None
                waiting.append(child)
    return list(found)


def signal_below(root: int, pids: Iterable[int], number: int) -> list[int]:
    """Signal those of `pids` that still stand below `root`; gives those we had no right to.

    A zombie is signalled too: it may be a dead main thread beside others that live.
    """
    family = {root, *pids}
    denied: list[int] = []
    for pid in family - {root}:
        try:
            signal_process(pid, number, lambda held: _parent(held) in family)
        except PermissionError:
            denied.append(pid)
    return denied


def kill_below(root: int) -> bool:
    """SIGKILL everybody below `root`; True when nobody there was alive any more."""
    pids = descendants(root)
    stats = [stat for stat in map(read_stat, pids) if stat is not None]
    signal_below(root, pids, signal.SIGKILL)
    return all(stat.is_dead for stat in stats)


def kill_stopped_child(pid: int, session: int) -> None:
    """Kill our child if it belongs to that session and is stopped. What it kept falls to us."""
    stat = read_stat(pid)
    if stat is not None and stat.is_stopped and stat.session == session:
        os.kill(pid, signal.SIGKILL)


def kill_stopped_parents() -> None:
    """Kill who stands above us in our session, as far as they are stopped."""
    while True:
        parent = os.getppid()
        stat = read_stat(parent)
        if stat is None or not stat.is_stopped or stat.session != os.getsid(0):
            return
        signal_process(parent, signal.SIGKILL, lambda pid: pid == os.getppid())
        while os.getppid() == parent:
            time.sleep(0.001)


def all_pids() -> Iterator[int]:
    """Every process that this /proc shows."""
    if os.path.isdir("/proc"):
        yield from (int(name) for name in os.listdir("/proc") if name.isdigit())


def signal_process(pid: int, number: int, is_meant: Callable[[int], bool]) -> bool:
    """Signal the process if `is_meant`, asked once its pid cannot pass on to another, says so.

    False when there was nobody to signal; PermissionError when it belongs to another user.
    """
    try:
        pidfd = open_pidfd(pid)
    except ProcessLookupError:
        return False
    try:
        if not is_meant(pid):
            return False
        if pidfd is None:
            os.kill(pid, number)
        else:
            signal.pidfd_send_signal(pidfd, number)
    except ProcessLookupError:
        return False
    finally:
        if pidfd is not None:
            os.close(pidfd)
    return True


def _parent(pid: int) -> int | None:
    stat = read_stat(pid)
    return None if stat is None else stat.parent


def _children_by_parent() -> dict[int, list[int]]:
    families: dict[int, list[int]] = {}
    for pid in all_pids():
        stat = read_stat(pid)
        if stat is not None:
            families.setdefault(stat.parent, []).append(pid)
    return families
