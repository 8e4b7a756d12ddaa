"""Tools: one call of a tool as a turn shows it, and the processes that do its work."""

from __future__ import annotations

import os
import signal
import sys
import threading

from avatar_actors.programs.embedded.json_lines import (
    Record,
    number_in,
    record_in,
    text_in,
    to_json,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

KINDS = {
    "Agent": "think",
    "Bash": "execute",
    "Calculator": "think",
    "Clock": "think",
    "Count": "read",
    "Edit": "edit",
    "Glob": "search",
    "Grep": "search",
    "List": "read",
    "Read": "read",
    "Search": "search",
    "Task": "think",
    "WebFetch": "fetch",
    "Write": "edit",
    "run_shell_command": "execute",
    "write_file": "edit",
}

OUTPUT_LIMIT = 30_000

# Reentrant, both kinds of locks: a signal's handler kills in the middle of whatever runs.
_living_lock = threading.RLock()
_living: set[ToolProcess] = set()


class ToolFailed(Exception):
    """The tool's work ended in an error that the turn shows."""


class ToolUse:
    """One use of a tool; `work` gives its output or raises ToolFailed."""

    def __init__(self, name: str, tool_input: Record, work: Callable[[], str]) -> None:
        self.id = new_id("call_")
        self.name = name
        self.input = tool_input
        self.kind = KINDS.get(name, "other")
        self.work = work
        self.output = ""
        self.is_failed = False

    @property
    def title(self) -> str:
        """What a person reads: the command, the file, else the tool's name."""
        for key in ("title", "command", "description"):
            if found := text_in(self.input, key):
                return found
        path = self.path
        return f"{self.name} {path}" if path else self.name

    @property
    def path(self) -> str:
        """The file that the call is about, if any."""
        return text_in(self.input, "file_path") or text_in(self.input, "path")

    def perform(self) -> None:
        """Does the work and keeps how it ended."""
        try:
            self.output = self.work()
        except ToolFailed as failure:
            self.output = str(failure)
            self.is_failed = True


def scripted_call(step: Record, start: Callable[[list[str]], ToolProcess]) -> ToolUse:
    """The call that a `tool` step describes; `seconds` and `run` are done by real processes."""
    name = text_in(step, "tool") or text_in(step, "task") or text_in(step, "ask") or "tool"

    def work() -> str:
        # The call's input, not the step's: whoever allowed the call may have changed it.
        printed = _run(step, call.input, start)
        if error := text_in(step, "error"):
            raise ToolFailed(error)
        return text_in(step, "result", printed)

    call = ToolUse(name, dict(record_in(step, "input")), work)
    call.id = text_in(step, "id", call.id)
    call.kind = text_in(step, "kind", call.kind)
    return call


def _run(step: Record, tool_input: Record, start: Callable[[list[str]], ToolProcess]) -> str:
    if step.get("run") is True:
        argv = ["/bin/sh", "-c", text_in(tool_input, "command")]
    elif seconds := number_in(step, "seconds"):
        argv = ["sleep", str(seconds)]
    else:
        return to_json(tool_input) if "ask" in step else ""
    try:
        code, printed = start(argv).wait()
    except OSError as error:
        raise ToolFailed(f"the tool did not start: {error}") from None
    if code:
        how = f"exit code {code}" if code > 0 else f"killed by signal {-code}"
        raise ToolFailed(f"{printed}[{how}]")
    return printed


def new_id(prefix: str = "") -> str:
    """A fresh name with that prefix."""
    return prefix + os.urandom(12).hex()


def new_uuid() -> str:
    """A random UUID, without the 2 ms that importing `uuid` takes."""
    raw = bytearray(os.urandom(16))
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    digits = raw.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


class ToolProcess:
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
