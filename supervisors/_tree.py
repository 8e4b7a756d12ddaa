"""One host's tree: the nursery all its tasks live in, and what its actors have in common."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import copy_context
from typing import Any

import trio

from supervisors import _cell, _life, errors
from supervisors._left_open import keep_abandoned
from supervisors.address import Address
from supervisors.exits import Exit, ExitKind, Phase
from supervisors.inbox import Inbox
from supervisors.notices import NoticeBoard
from supervisors.specs import SupervisorSpec


class Tree:
    """All tasks of a tree live in one nursery, which a task outside of the host's scopes holds.

    So a cancellation of the host reaches the tree as an ordered stop, not as a blow to every child
    at once, and a child that ignores its cancellation cannot hold up the host for ever.
    """

    nursery: trio.Nursery
    root: _cell.Cell

    def __init__(self, supervise: Callable[[_cell.Cell, Inbox[Any]], Awaitable[None]]) -> None:
        self.supervise = supervise
        self.board: NoticeBoard = NoticeBoard()
        self.names: dict[str, _cell.Cell] = {}
        self.host_error: BaseException | None = None
        self.over: trio.Event = trio.Event()
        self._planted = trio.Event()
        self._host = trio.lowlevel.current_task()
        self._host_waits = False
        self.body: trio.CancelScope = trio.CancelScope()

    async def plant(self, spec: SupervisorSpec) -> _cell.Cell:
        """Make the nursery and the root; nothing of it runs yet."""
        keep_abandoned()
        trio.lowlevel.spawn_system_task(self._hold_nursery, context=copy_context())
        with trio.CancelScope(shield=True):
            await self._planted.wait()
        self.root = _cell.Cell(self, spec, spec.name, None)
        return self.root

    def stop(self) -> None:
        """Ask the root to end."""
        if self.root.life is not None:
            self.root.life.ask_to_stop(_life.Ending.FINAL)

    def root_over(self) -> None:
        """The root's life ended, and with it the host's block, unless that waits for it."""
        if not self._host_waits:
            self.body.cancel()
        self.over.set()

    async def wait_over(self) -> None:
        """Until the root's life has ended."""
        is_host = trio.lowlevel.current_task() is self._host
        self._host_waits = self._host_waits or is_host
        try:
            await self.over.wait()
        finally:
            self._host_waits = self._host_waits and not is_host

    def fail_host(self, error: BaseException) -> None:
        """Stop everything in order, then raise the first such error from the host's block."""
        self.host_error = error if self.host_error is None else self.host_error
        self.stop()

    def claim(self, name: str, cell: _cell.Cell) -> str:
        """Give the name to the cell, or say who has it."""
        owner = self.names.setdefault(name, cell)
        if owner is not cell:
            taken = errors.NameTaken(f"the name {name!r} belongs to {owner.path}, which is alive")
            raise errors.StartFailed(cell.path, Exit(ExitKind.CRASHED, taken)) from taken
        return name

    def owner(self, name: str) -> _cell.Cell:
        """The cell that has the name now, or one in which nobody lives."""
        return self.names.get(name) or _cell.Cell(self, self.root.spec, name, None, Phase.GONE)

    async def _hold_nursery(self) -> None:
        async with trio.open_nursery() as self.nursery:
            self._planted.set()
            await self.over.wait()


class NamedAddress(Address[Any]):
    """Reaches whoever has the name when a message is sent."""

    __slots__ = ("_name", "_tree")

    def __init__(self, name: str, tree: Tree) -> None:
        self._name, self._tree = name, tree

    @property
    def _home(self) -> _cell.Cell:
        return self._tree.owner(self._name)
