"""What the system shows of processes, whose they are, and signals to them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from msgspec import Struct

from avatar_actors.programs.warden.process_tree import (
    ProcessStat,
    all_pids,
    children,
    descendants,
    read_stat,
    signal_process,
)

MARK: Final = "AVATAR_CHAOS"
_ROLES: Final = {b"avatar-anchor": "anchor", b"avatar-warden": "server"}


class ProcessSeen(Struct, frozen=True):
    """A process, which no other of the same pid is taken for."""

    pid: int
    started: int

    @property
    def state(self) -> str:
        """The kernel's letter for it; empty when it is gone."""
        stat = read_stat(self.pid)
        return stat.state if stat is not None and stat.started == self.started else ""

    @property
    def is_gone(self) -> bool:
        """A zombie is not gone: somebody still has to reap it."""
        return self.state == ""

    def signal(self, number: int) -> bool:
        """Whether there was somebody alive to hear it."""
        return signal_process(self.pid, number, lambda _: self.state not in {"", "Z", "X"})

    def parent(self) -> ProcessSeen | None:
        """Who stands above it now."""
        stat = read_stat(self.pid)
        return None if stat is None or stat.started != self.started else seen(stat.parent)


def seen(pid: int) -> ProcessSeen | None:
    """The process that has this pid now."""
    stat = read_stat(pid)
    return None if stat is None else ProcessSeen(pid, stat.started)


def children_of(process: ProcessSeen) -> list[ProcessSeen]:
    """Its children now."""
    return [each for pid in children(process.pid) if (each := seen(pid)) is not None]


def newest_pid() -> int:
    """The last that the kernel gave away."""
    return int(_read(Path("/proc/loadavg")).split()[-1])


def marked(mark: str, since: int = 0) -> list[ProcessSeen]:
    """Who carries this mark in its environment; `since` this pid, if they have not wrapped."""
    newest = newest_pid()
    pids: Iterable[int] = range(since + 1, newest + 1) if since and newest >= since else all_pids()
    wanted = f"{MARK}={mark}".encode()
    found = (seen(pid) for pid in pids if wanted in _environment(pid))
    return [each for each in found if each is not None]


def marked_as_begun(run: str) -> list[ProcessSeen]:
    """Everybody of this run: whose mark begins with its name."""
    wanted = f"{MARK}={run}/".encode()
    found = (seen(pid) for pid in all_pids() if _mark_in(wanted, pid))
    return [each for each in found if each is not None]


class Wardens:
    """Finds the warden of this program: it shows nothing of its host but the session it shares.

    A new warden begins as our child, in a session that has its pid; whoever takes its place later
    stays in that session. So the sessions are remembered.
    """

    def __init__(self) -> None:
        self._sessions: set[int] = set()

    def find(self) -> dict[str, ProcessSeen]:
        """The newest anchor and the newest server: older ones look only after their last keepers.

        It looks at every process of the system.
        """
        self._sessions |= {pid for pid in children(os.getpid()) if _name(pid) in _ROLES}
        found: dict[str, ProcessSeen] = {}
        for process in self.everybody():
            role = _ROLES.get(_name(process.pid), "")
            if role:
                found[role] = process
        return found

    def everybody(self) -> list[ProcessSeen]:
        """All of their sessions, keepers too, the newest last."""
        stats = ((pid, read_stat(pid)) for pid in all_pids())
        ours = [
            ProcessSeen(pid, stat.started)
            for pid, stat in stats
            if stat is not None and stat.session in self._sessions and not stat.is_dead
        ]
        return sorted(ours, key=lambda each: (each.started, each.pid))


def _name(pid: int) -> bytes:
    return _read(Path(f"/proc/{pid}/comm")).strip()


def _mark_in(wanted: bytes, pid: int) -> bool:
    return any(entry.startswith(wanted) for entry in _environment(pid))


def _environment(pid: int) -> list[bytes]:
    return _read(Path(f"/proc/{pid}/environ")).split(b"\0")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


class ProcessOwners(Struct, frozen=True, kw_only=True):
    """`strays` belong to nobody who lives; `helpers` are those of living agents.

    `zombies` are due to be reaped by us, a keeper or the warden; an agent's own are its affair.
    """

    strays: frozenset[int]
    helpers: frozenset[int]
    zombies: frozenset[int]


def process_owners(run: str, wardens: Wardens, agents: frozenset[int]) -> ProcessOwners:
    """Everybody with the mark of this run, below us or of our wardens; `agents` are who lives."""
    serving = {each.pid for each in wardens.find().values()}
    staff = {each.pid for each in wardens.everybody()}
    ours = {*descendants(os.getpid()), *(each.pid for each in marked_as_begun(run)), *staff}
    stats = {pid: stat for pid in all_pids() if (stat := read_stat(pid)) is not None}
    dead = {pid for pid, stat in stats.items() if stat.is_dead}
    keepers = {stats[pid].parent for pid in agents & stats.keys()} & staff
    below = {pid for top in agents | keepers for pid in (top, *descendants(top))} - keepers
    # A warden that was followed by another one stays as long as it has keepers.
    above = {pid for keeper in keepers for pid in _ancestors(keeper, stats)} & staff
    wanted = keepers | below | above | serving if agents else set[int]()
    reapers = {os.getpid(), *ours} - below
    return ProcessOwners(
        strays=frozenset((ours & stats.keys()) - dead - wanted),
        helpers=frozenset((below & stats.keys()) - dead - agents),
        zombies=frozenset(pid for pid in dead if stats[pid].parent in reapers),
    )


def _ancestors(pid: int, stats: dict[int, ProcessStat]) -> list[int]:
    found: list[int] = []
    while (stat := stats.get(pid)) is not None:
        pid = stat.parent
        found.append(pid)
    return found
