"""Finds processes, tells whose they are, and sends them signals."""

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
    """A process, told apart from later ones with the same pid."""

    pid: int
    started: int

    @property
    def state(self) -> str:
        """The kernel's letter for its state; empty when it is gone."""
        stat = read_stat(self.pid)
        return stat.state if stat is not None and stat.started == self.started else ""

    @property
    def is_gone(self) -> bool:
        """Whether it is gone; a zombie is not, since it still has to be reaped."""
        return self.state == ""

    def signal(self, number: int) -> bool:
        """Sends the signal; returns whether the process was alive."""
        return signal_process(self.pid, number, lambda _: self.state not in {"", "Z", "X"})

    def parent(self) -> ProcessSeen | None:
        """Its present parent."""
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
    """The last pid that the kernel assigned."""
    return int(_read(Path("/proc/loadavg")).split()[-1])


def marked(mark: str, since: int = 0) -> list[ProcessSeen]:
    """The processes with this mark in their environment; above `since`, unless pids wrapped."""
    newest = newest_pid()
    pids: Iterable[int] = range(since + 1, newest + 1) if since and newest >= since else all_pids()
    wanted = f"{MARK}={mark}".encode()
    found = (seen(pid) for pid in pids if wanted in _environment(pid))
    return [each for each in found if each is not None]


def marked_as_begun(run: str) -> list[ProcessSeen]:
    """Every process of this run."""
    wanted = f"{MARK}={run}/".encode()
    found = (seen(pid) for pid in all_pids() if _mark_in(wanted, pid))
    return [each for each in found if each is not None]


class Wardens:
    """Finds the warden of this program by the session that its processes share.

    A new warden begins as our child, in a session that has its pid; its successors stay in that
    session, so the sessions are remembered.
    """

    def __init__(self) -> None:
        self._sessions: set[int] = set()

    def find(self) -> dict[str, ProcessSeen]:
        """The newest anchor and the newest server; older ones only look after their last keepers.

        Reads every process of the system.
        """
        self._sessions |= {pid for pid in children(os.getpid()) if _name(pid) in _ROLES}
        found: dict[str, ProcessSeen] = {}
        for process in self.everybody():
            role = _ROLES.get(_name(process.pid), "")
            if role:
                found[role] = process
        return found

    def everybody(self) -> list[ProcessSeen]:
        """All processes of their sessions, keepers too, the newest last."""
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
    """Who owns the processes of a run.

    `strays` belong to nothing that lives; `helpers` belong to living agents. `zombies` are to be
    reaped by us, a keeper or the warden; those of an agent are left to it.
    """

    strays: frozenset[int]
    helpers: frozenset[int]
    zombies: frozenset[int]


def process_owners(run: str, wardens: Wardens, agents: frozenset[int]) -> ProcessOwners:
    """Sorts all processes of this run and of our wardens; `agents` are those that live."""
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
