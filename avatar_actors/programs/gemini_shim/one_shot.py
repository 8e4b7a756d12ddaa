"""One run of an agent that takes its prompt on the command line, with every process it started."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


PROC = Path("/proc")
# Fields of /proc/PID/stat after the name in brackets, which may itself contain brackets.
PARENT, STARTED = 1, 19


def descendants(pid: int) -> dict[int, str]:
    """All processes below this one, each with its start time, which tells it from later ones."""
    children: dict[int, list[int]] = {}
    started: dict[int, str] = {}
    for folder in PROC.iterdir() if PROC.is_dir() else ():
        fields = _stat(folder) if folder.name.isdigit() else []
        if fields:
            children.setdefault(int(fields[PARENT]), []).append(int(folder.name))
            started[int(folder.name)] = fields[STARTED]
    found: dict[int, str] = {}
    waiting = [pid]
    while waiting:
        for child in children.get(waiting.pop(), []):
            found[child] = started[child]
            waiting.append(child)
    return found


def kill(family: Mapping[int, str]) -> None:
    """Kills those that are still the same processes."""
    for pid, start in family.items():
        fields = _stat(PROC / str(pid))
        if fields and fields[STARTED] == start:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _stat(folder: Path) -> list[str]:
    try:
        text = (folder / "stat").read_bytes()
    except OSError:
        return []
    return text.rpartition(b")")[2].decode("ascii").split()


# Linux takes no argument of 128 KiB or more. A longer prompt goes by stdin, to which gemini appends
# that of -p (0.61.0 took 200 KB so); and so does one that would be taken for a flag.
LONGEST_ARGUMENT = 100_000
# After SIGINT gemini ends within a moment, with 0 and without a result (0.61.0).
ESCALATION = ((0.0, signal.SIGINT), (1.0, signal.SIGTERM), (2.0, signal.SIGKILL))
# How long the output may stay open after the child is gone: a grandchild can hold it forever.
GRACE = 0.3
# How often the child is looked at where the system has no pidfd.
TICK = 0.05
BLOCK = 65536
STDOUT = 1


def say(message: Mapping[str, object]) -> None:
    """Writes a line of the shim itself."""
    _write(json.dumps(message).encode() + b"\n")


class OneShot:
    """The child, in a process group of its own, and its output until both have ended."""

    def __init__(self, turn: object, command: Sequence[str], prompt: str) -> None:
        self.turn = turn
        self._process = _spawn(command, prompt)
        stdout = self._process.stdout
        assert stdout is not None
        self._output = stdout.fileno()
        self._is_open = True
        self._is_line_whole = True
        self._pidfd = _pidfd(self._process.pid)
        self._gone_at = 0.0
        self._closed_at = 0.0
        self._cancelled_at = 0.0
        self._signals = list(ESCALATION)
        self._family: dict[int, str] = {}

    def watched(self) -> tuple[list[int], float | None]:
        """The descriptors to wait for, and for how long at most."""
        watched = [self._output] if self._is_open else []
        is_alive = not self._gone_at
        if is_alive and self._pidfd >= 0:
            watched.append(self._pidfd)
        is_due = self._gone_at or self._closed_at or self._cancelled_at or self._pidfd < 0
        return watched, TICK if is_due else None

    def step(self, ready: Sequence[int]) -> bool:
        """Handles what has happened; returns whether the run is over and was reported."""
        if self._output in ready:
            self._copy()
        now = time.monotonic()
        if not self._gone_at and self._process.poll() is not None:
            self._gone_at = now
        if self._cancelled_at and not self._gone_at:
            self._escalate(now)
        if self._closed_at and not self._gone_at and now >= self._closed_at + GRACE:
            self.end_at_once()  # nothing more can come
            self._gone_at = now
        if not self._gone_at or (self._is_open and now < self._gone_at + GRACE):
            return False
        self._report()
        return True

    def cancel(self) -> None:
        """Asks it to end, and later makes it."""
        self._cancelled_at = self._cancelled_at or time.monotonic()

    def end_at_once(self) -> None:
        """Kills it with everything below it."""
        self._family |= descendants(self._process.pid)
        self._signal(signal.SIGKILL)
        self._process.wait()
        kill(self._family)

    def _escalate(self, now: float) -> None:
        if self._signals and now >= self._cancelled_at + self._signals[0][0]:
            # Gemini leaves the command of a running shell tool behind, in a session of its own
            # (0.61.0): it is remembered while it can still be found.
            self._family |= descendants(self._process.pid)
            self._signal(self._signals.pop(0)[1])

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _copy(self) -> None:
        block = os.read(self._output, BLOCK)
        if block:
            self._is_line_whole = block.endswith(b"\n")
            _write(block)
        else:
            self._is_open = False
            self._closed_at = time.monotonic()

    def _report(self) -> None:
        if self._cancelled_at:
            self._signal(signal.SIGKILL)
            kill(self._family)
        if not self._is_line_whole:
            _write(b"\n")
        if self._pidfd >= 0:
            os.close(self._pidfd)
        if self._process.stdout:
            self._process.stdout.close()
        code = self._process.returncode
        say({"type": "avatar_exit", "turn": self.turn, "returncode": code})


def _spawn(command: Sequence[str], prompt: str) -> subprocess.Popen[bytes]:
    text = prompt.encode("utf-8", "replace")
    if len(text) <= LONGEST_ARGUMENT and not text.startswith(b"-") and b"\0" not in text:
        return _popen([*command, "-p", text.decode()], subprocess.DEVNULL)
    with tempfile.TemporaryFile() as source:
        source.write(text)
        source.seek(0)
        return _popen([*command, "-p", ""], source.fileno())


def _popen(command: Sequence[str], stdin: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, start_new_session=True)


def _pidfd(pid: int) -> int:
    if not hasattr(os, "pidfd_open"):
        return -1
    return os.pidfd_open(pid)


def _write(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(STDOUT, rest) :]
