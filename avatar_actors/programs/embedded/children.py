"""Tool processes: each in a session of its own, its output kept, and killed with its turn."""

from __future__ import annotations

import os
import signal
import sys
import threading

OUTPUT_LIMIT = 30_000

# Reentrant, both kinds of locks: a signal's handler kills in the middle of whatever runs.
_living_lock = threading.RLock()
_living: set[Child] = set()


class Child:
    """A running process with nothing on stdin and its output in memory."""

    def __init__(self, argv: list[str], cwd: str) -> None:
        self._output = _memory_file()
        # posix_spawn has no working directory, and the shell does.
        command = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', cwd, *argv]
        self._lock = threading.RLock()
        self._is_running = True
        with _living_lock:
            self.pid = _spawn(command, self._output)
            _living.add(self)

    def wait(self) -> tuple[int, str]:
        """The exit code, negative for a signal, and what the process wrote."""
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        with _living_lock:
            _living.discard(self)
        # Reaped under the lock, so that `kill` can never hit a later process of that number.
        with self._lock:
            self._is_running = False
            _, status = os.waitpid(self.pid, 0)
        os.lseek(self._output, 0, os.SEEK_SET)
        written = os.read(self._output, OUTPUT_LIMIT)
        os.close(self._output)
        return os.waitstatus_to_exitcode(status), written.decode(errors="replace")

    def kill(self) -> None:
        """Kills the process and its group; `wait` then returns."""
        with self._lock:
            if self._is_running:
                os.killpg(self.pid, signal.SIGKILL)


def kill_all() -> None:
    """Kills every tool process, whichever turn started it."""
    with _living_lock:
        living = list(_living)
    for child in living:
        child.kill()


def _spawn(command: list[str], output: int) -> int:
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, output, 1),
        (os.POSIX_SPAWN_DUP2, output, 2),
    ]
    return os.posix_spawn(command[0], command, os.environ, file_actions=actions, setsid=True)


def _memory_file() -> int:
    if sys.platform == "linux":
        return os.memfd_create("tool-output")
    import tempfile  # noqa: PLC0415 - it costs 8 ms, and only other systems need it

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
