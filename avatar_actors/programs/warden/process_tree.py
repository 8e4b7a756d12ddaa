"""Finds the processes below another one and signals them; what `os` does not offer."""

# Importing pathlib would cost the warden a quarter of its start-up.
# ruff: noqa: PTH110, PTH112, PTH123, PTH208

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
PR_SET_CHILD_SUBREAPER = 36

PF_KTHREAD = 0x00200000

# Of /proc/self/stat, counted after the process's name: where the command line lies in memory.
ARG_START, ARG_END = 45, 46
LONGEST_COMMAND_LINE = 65536


def adopt_orphans() -> bool:
    """Becomes a child subreaper: orphans below become our children. False if impossible."""
    return _prctl(PR_SET_CHILD_SUBREAPER, 1)


def hear_of_parents_death(signal_number: int) -> bool:
    """Has the signal sent to us when our parent dies. Only safe under a single-threaded parent.

    The kernel watches the parent's thread: an idle worker thread that ends counts as a death.
    """
    return _prctl(PR_SET_PDEATHSIG, signal_number)


def rename_process(name: str) -> None:
    """Shows `name` in process lists, so that an agent's `pkill -f python` does not hit us."""
    if sys.platform != "linux":
        return
    title = name.encode()
    _prctl(PR_SET_NAME, ctypes.create_string_buffer(title[:15]))
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    start, end = int(fields[ARG_START]), int(fields[ARG_END])
    if len(title) < end - start < LONGEST_COMMAND_LINE:
        ctypes.memset(start, 0, end - start)
        ctypes.memmove(start, title, len(title))


def open_pidfd(pid: int) -> int | None:
    """A descriptor for this very process; None where the kernel offers none."""
    if sys.platform != "linux":
        return None
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except OSError:
        # ENOSYS before Linux 5.3, EPERM under the seccomp filters of older container runtimes.
        return None


def _prctl(operation: int, argument: "int | ctypes.Array[ctypes.c_char]") -> bool:
    if sys.platform != "linux":
        return False
    value = ctypes.c_ulong(argument) if isinstance(argument, int) else argument
    return bool(ctypes.CDLL(None).prctl(operation, value, 0, 0, 0) == 0)


# Needs CONFIG_PROC_CHILDREN; without it every walk reads all of /proc.
HAS_CHILDREN_FILES = os.path.exists(f"/proc/self/task/{os.getpid()}/children")


class ProcessStat:
    """The parts of /proc/PID/stat that we need; times are in clock ticks."""

    __slots__ = ("flags", "parent", "session", "started", "state", "ticks", "ticks_of_reaped")

    def __init__(self, line: bytes) -> None:
        # The name stands in brackets and may hold anything, also brackets.
        fields = line.rpartition(b")")[2].split()
        self.state = fields[0].decode()
        self.parent = int(fields[1])
        self.session = int(fields[3])
        self.flags = int(fields[6])
        self.ticks = int(fields[11]) + int(fields[12])
        self.ticks_of_reaped = int(fields[13]) + int(fields[14])
        self.started = int(fields[19])

    @property
    def is_dead(self) -> bool:
        """Whether it is a zombie, or about to be one."""
        return self.state in "ZX"

    @property
    def is_of_the_kernel(self) -> bool:
        """Whether it is a thread of the kernel, which has no environment."""
        return bool(self.flags & PF_KTHREAD)

    @property
    def is_stopped(self) -> bool:
        """Whether a signal or a tracer has stopped it."""
        return self.state in "Tt"


def read_stat(pid: int) -> ProcessStat | None:
    """The stat of the process; None if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return ProcessStat(file.read())
    except OSError:
        return None


def is_free(pid: int) -> bool:
    """Whether no process has this pid."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # another user's
    return False


def children(pid: int) -> list[int]:
    """The direct children of the process, of all of its threads."""
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
    """All processes below `root`, parents before children; forks in the meantime may be missed."""
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
    """Signals those of `pids` that are still below `root`; returns those we may not signal.

    A zombie is signalled too: it may be a dead main thread beside living ones.
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
    """Sends SIGKILL to everything below `root`; True when nothing there was alive any more."""
    pids = descendants(root)
    stats = [stat for stat in map(read_stat, pids) if stat is not None]
    signal_below(root, pids, signal.SIGKILL)
    return all(stat.is_dead for stat in stats)


def kill_stopped_child(pid: int, session: int) -> None:
    """Kills our child if it belongs to that session and is stopped; we inherit its children."""
    stat = read_stat(pid)
    if stat is not None and stat.is_stopped and stat.session == session:
        os.kill(pid, signal.SIGKILL)


def kill_stopped_parents() -> None:
    """Kills the processes above us in our session that are stopped."""
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
    """Signals the process if `is_meant` confirms it, asked once its pid cannot be reused.

    False when there was no such process; PermissionError when it belongs to another user.
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
