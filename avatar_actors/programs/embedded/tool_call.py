"""A tool call: what a turn shows of it, and the work it really does."""

from __future__ import annotations

import os

from avatar_actors.programs.embedded.children import Child
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


def scripted_call(step: Record, start: Callable[[list[str]], Child]) -> ToolUse:
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


def _run(step: Record, tool_input: Record, start: Callable[[list[str]], Child]) -> str:
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
