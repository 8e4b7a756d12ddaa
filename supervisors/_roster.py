"""A supervisor's book: which children it has, and how many restarts it has left."""

from __future__ import annotations

import random
from typing import Any, TypeAlias

import trio

from supervisors import _life, errors, exits, notices, policy, snapshot
from supervisors._cell import Cell
from supervisors.address import Address
from supervisors.specs import Spec, SupervisorSpec

Child: TypeAlias = str | Address[Any]


class Roster:
    """The children by name, in start order. Only their supervisor's task changes it.

    What callers may order is async, also where it never waits.
    """

    def __init__(self, owner: Cell, spec: SupervisorSpec) -> None:
        self.owner, self.spec = owner, spec
        self.cells: dict[str, Cell] = {}
        self.budget = policy.RestartBudget(spec.intensity, spec.period)
        owner.children = self.cells

    async def describe(self) -> list[snapshot.TreeNode]:
        """All children, the newest first."""
        return [snapshot.node_of(cell) for cell in reversed(self.cells.values())]

    async def count(self) -> snapshot.ChildCount:
        """How many there are of each kind."""
        return snapshot.count(self.cells.values())

    async def spec_of(self, child: Child) -> Spec:
        """The spec of one child."""
        return self.find(child).spec

    def find(self, child: Child) -> Cell:
        """The child by its name or its address."""
        name = child if isinstance(child, str) else child.path.rpartition("/")[2]
        cell = self.cells.get(name)
        if cell is None or not (isinstance(child, str) or child == Address(cell)):
            raise errors.ChildNotFound(f"{self.owner.path} has no child {child}")
        return cell

    def add(self, name: str, spec: Spec) -> Cell:
        """A place for a new child, the last in order."""
        cell = Cell(self.owner.tree, spec, f"{self.owner.path}/{name}", self.owner)
        self.cells[name] = cell
        return cell

    def forget(self, cell: Cell) -> None:
        """The child and its spec are gone."""
        self.cells.pop(cell.name, None)
        cell.rest(exits.Phase.GONE)

    def is_current(self, life: _life.Life) -> bool:
        """Whether it is the last life of a present child; all others are history."""
        return life.cell.life is life and self.cells.get(life.cell.name) is life.cell

    def approve_restart(self, victim: Cell) -> float:
        """Count a restart before it is tried; how long to wait for it, or SupervisorGaveUp."""
        owner, board = self.owner, self.owner.tree.board
        if not self.budget.spend(trio.current_time()):
            board.gave_up(owner.path, victim.path)
            what = f"more than {self.budget.intensity} restarts within {self.budget.period:g} s"
            error = errors.SupervisorGaveUp(f"{owner.path} gave up: {victim.path} needed {what}")
            raise error from (None if victim.exit is None else victim.exit.error)
        delay = policy.restart_delay(victim.spec.backoff, victim.failures, random.random())
        victim.failures += 1
        board.tell(notices.Restarting, victim.path, delay)
        return delay

    def kill_all(self) -> None:
        """For a supervisor that was killed itself: nobody has time to clean up any more."""
        for cell in self.cells.values():
            if cell.life is None or cell.life.exit is not None:
                cell.rest(exits.Phase.GONE)
            else:
                cell.life.ask_to_stop(_life.Ending.FINAL)
                cell.life.kill(trio.current_time())
                self.owner.tree.nursery.start_soon(cell.life.see_out)
