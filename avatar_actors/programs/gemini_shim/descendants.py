"""The processes below a process, as far as the system tells; where there is no /proc, none."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PROC = Path("/proc")
# Fields of /proc/PID/stat after the name in brackets, which may itself contain brackets.
PARENT, STARTED = 1, 19


def descendants(pid: int) -> dict[int, str]:
    """All processes below this one, each with the time of its start, which no other will have."""
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
    """Kill those that still are the same processes."""
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
