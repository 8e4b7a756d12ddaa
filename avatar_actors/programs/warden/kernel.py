"""What the warden asks of Linux beyond Python's `os`; elsewhere each request is a polite no."""

# Importing pathlib would cost the warden a quarter of its start-up.
# ruff: noqa: PTH123

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
PR_SET_CHILD_SUBREAPER = 36

# Of /proc/self/stat, counted after the process's name: where the command line lies in memory.
ARG_START, ARG_END = 45, 46
LONGEST_COMMAND_LINE = 65536


def adopt_orphans() -> bool:
    """Become a child subreaper: who is orphaned below us becomes our child. False: not possible."""
    return _prctl(PR_SET_CHILD_SUBREAPER, 1)


def hear_of_parents_death(signal_number: int) -> bool:
    """Have the signal sent to us when our parent dies. Only safe under a single-threaded parent.

    The kernel watches the parent's thread: an idle worker thread that ends counts as a death.
    """
    return _prctl(PR_SET_PDEATHSIG, signal_number)


def rename_process(name: str) -> None:
    """Show `name` in process lists, so that an agent's `pkill -f python` does not hit us."""
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
    """A descriptor that stays with this very process; None where the kernel has none to give."""
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
