"""Which processes are a run's, and which of them belong to a living agent or its warden."""

from __future__ import annotations

import os

from msgspec import Struct

from avatar_actors.chaos.oracle.process_view import Wardens, marked_as_begun
from avatar_actors.programs.warden.process_tree import ProcessStat, all_pids, descendants, read_stat


class Population(Struct, frozen=True, kw_only=True):
    """`strays` belong to nobody who lives; `helpers` are those of living agents.

    `zombies` are due to be reaped by us, a keeper or the warden; an agent's own are its affair.
    """

    strays: frozenset[int]
    helpers: frozenset[int]
    zombies: frozenset[int]


def population(run: str, wardens: Wardens, agents: frozenset[int]) -> Population:
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
    return Population(
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
