"""The living tree as data, and as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import trio

from supervisors import _cell, address, exits, specs
from supervisors._value import Value


class ChildCount(Value):
    """How many children there are: known, alive, and of each kind."""

    specs: int
    active: int
    supervisors: int
    workers: int


class TreeNode(Value):
    """One place in the tree at one moment; `str()` draws it with everything below."""

    name: str
    address: address.Address[Any]
    phase: exits.Phase
    life: int
    waiting: int
    strategy: specs.Strategy | None
    children: tuple[TreeNode, ...]

    @property
    def path(self) -> str:
        """The names from the root to here."""
        return self.address.path

    def walk(self) -> Iterator[TreeNode]:
        """This node and all below it, in start order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def __str__(self) -> str:
        return "\n".join(_draw(self, "", ""))


def node_of(cell: _cell.Cell) -> TreeNode:
    """A picture of the cell and what is below it."""
    return _node(cell, tuple(map(node_of, cell.children.values())))


async def node_in_slices(cell: _cell.Cell) -> TreeNode:
    """The same, with a checkpoint at each supervisor of supervisors: not all of one moment."""
    below = tuple(cell.children.values())
    if not any(child.children for child in below):
        return node_of(cell)
    await trio.lowlevel.checkpoint()
    return _node(cell, tuple([await node_in_slices(child) for child in below]))


def _node(cell: _cell.Cell, children: tuple[TreeNode, ...]) -> TreeNode:
    strategy = cell.spec.strategy if isinstance(cell.spec, specs.SupervisorSpec) else None
    waiting = len(cell.mailbox.queue)
    home = address.Address[Any](cell)
    return TreeNode(cell.name, home, cell.phase, cell.lives, waiting, strategy, children)


def count(cells: Iterable[_cell.Cell]) -> ChildCount:
    """The listing in four numbers."""
    known = list(cells)
    supervisors = sum(isinstance(cell.spec, specs.SupervisorSpec) for cell in known)
    up = (exits.Phase.STARTING, exits.Phase.RUNNING, exits.Phase.STOPPING)
    active = sum(cell.phase in up for cell in known)
    return ChildCount(len(known), active, supervisors, len(known) - supervisors)


def _draw(node: TreeNode, first: str, rest: str) -> Iterator[str]:
    strategy = f", {node.strategy.value}" if node.strategy else ""
    life = f", life {node.life}" if node.life > 1 else ""
    waiting = f", {node.waiting} waiting" if node.waiting else ""
    yield f"{first}{node.name}  {node.phase.value}{strategy}{life}{waiting}"
    for child in node.children:
        branch, trunk = ("└─ ", "   ") if child is node.children[-1] else ("├─ ", "│  ")
        yield from _draw(child, rest + branch, rest + trunk)
