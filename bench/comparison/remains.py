"""The processes of one piece of work: found wherever they went, watched until they end, ended."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from avatar_actors.programs.warden.process_tree import (
    all_pids,
    descendants,
    read_stat,
    signal_process,
)

PATIENCE = 5.0
LOOK = 0.005
SETTLE = 0.1


@dataclass(frozen=True, slots=True)
class Left:
    """How many processes there were, how many still live, and when the last of the others ended."""

    were: int
    left: int
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Entry:
    """A process: its pid alone may be another's tomorrow."""

    pid: int
    started: int


def everybody(host: int, sign: str) -> set[Entry]:
    """Who stands below the host, or carries the sign in command line or environment; not the host.

    A daemon has left the tree, and one without an environment still has its command line.
    """
    below = set(descendants(host))
    found: set[Entry] = set()
    for pid in all_pids():
        stat = read_stat(pid)
        if stat is None or stat.is_dead or pid in (host, os.getpid()):
            continue
        if pid in below or _carries(pid, sign.encode()):
            found.add(Entry(pid, stat.started))
    return found


def settled(host: int, sign: str) -> set[Entry]:
    """The same, once nobody comes or goes any more: a tool may just be about to start."""
    found, before = everybody(host, sign), set[Entry]()
    while found != before:
        time.sleep(SETTLE)
        found, before = everybody(host, sign), found
    return found


def watch(entries: set[Entry], began: float) -> Left:
    """Wait until they have all ended, or for so long that they are left."""
    living, ended = entries, began
    while living and time.perf_counter() < began + PATIENCE:
        now = {entry for entry in living if _lives(entry)}
        if now != living:
            living, ended = now, time.perf_counter()
        time.sleep(LOOK)
    return Left(len(entries), len(living), (ended - began) * 1e3)


def end(entries: set[Entry]) -> None:
    """Whoever is left."""
    for entry in entries:
        signal_process(entry.pid, signal.SIGKILL, _is(entry))


def _is(entry: Entry) -> Callable[[int], bool]:
    return lambda _: _lives(entry)


def _lives(entry: Entry) -> bool:
    stat = read_stat(entry.pid)
    return stat is not None and stat.started == entry.started and not stat.is_dead


def _carries(pid: int, sign: bytes) -> bool:
    return any(sign in _read(Path(f"/proc/{pid}/{name}")) for name in ("environ", "cmdline"))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
