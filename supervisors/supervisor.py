"""The public door: open a tree, and the handle on a supervisor."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from typing import Any, Unpack, overload

import trio

from supervisors import _life, _supervise, _tree, errors, exits, notices, snapshot
from supervisors.address import Address, M, R, address_of
from supervisors.specs import ChildSpec, Spec, SupervisorOptions, SupervisorSpec


@asynccontextmanager
async def open_supervisor(
    name: str, **options: Unpack[SupervisorOptions]
) -> AsyncGenerator[Supervisor]:
    """Run a supervision tree for the length of a block.

    Leaving the block, by whatever way, stops the tree in order. When the root gives up, the block
    is cancelled and SupervisorGaveUp raised; when it shuts down by itself, the block is cancelled.
    """
    spec = SupervisorSpec(name, **options)
    tree = _tree.Tree(_supervise.supervise)
    root = await tree.plant(spec)
    life = root.begin()
    try:
        await life.wait_started()
        with tree.body:
            yield Supervisor(root)
    finally:
        with trio.CancelScope(shield=True):
            await life.stop(_life.Ending.FINAL)
        if tree.host_error is not None:
            raise tree.host_error
    exit = life.exit or exits.SHUT_DOWN
    if isinstance(exit.error, errors.SupervisorGaveUp) or (exit.error and not exit.orderly):
        raise exit.error


class Supervisor(Address[Any]):
    """The address of a supervisor: good across its restarts. Requests wait while it is busy."""

    __slots__ = ()

    @property
    def dead_letters(self) -> int:
        """How many messages of the whole tree found no reader so far."""
        return self._home.tree.board.dead_letters

    @overload
    async def start(self, spec: ChildSpec[M]) -> Address[M]: ...
    @overload
    async def start(self, spec: SupervisorSpec) -> Supervisor: ...
    async def start(self, spec: Spec) -> Address[Any] | Supervisor:
        """Add a child and wait until it is ready; StartFailed if it does not get there."""
        life = await self._order(lambda crew: crew.add(spec))
        await life.wait_started()
        return Supervisor(life.cell) if isinstance(spec, SupervisorSpec) else Address(life.cell)

    async def restart(self, child: str | Address[Any]) -> None:
        """Start a child that ended or was terminated. It does not count as a restart."""
        await self._order(lambda crew: crew.start_again(child))

    async def terminate(self, child: str | Address[Any]) -> None:
        """Stop a child and wait for its end, or cancel its pending restart."""
        life = await self._order(lambda crew: crew.terminate(child))
        if life is not None:
            await life.see_out()
            # By then the supervisor has taken note of it.
            await self._order(lambda _: trio.lowlevel.cancel_shielded_checkpoint())  # noqa: ASYNC105 - there

    async def delete(self, child: str | Address[Any]) -> None:
        """Forget a child that is not running."""
        await self._order(lambda crew: crew.delete(child))

    async def reload(self, **options: Unpack[SupervisorOptions]) -> None:
        """Take new options and specs while running.

        Who runs goes on under its new spec (a new `register` counts from its next start, a new
        `mailbox` never), new children wait to be restarted by name, children that are no longer
        named stay.
        """
        with suppress(errors.Ignore):
            given = options.get("children", ())
            specs = given() if callable(given) else given
            await self._order(lambda crew: _supervise.reload(crew, options, specs))

    async def children(self) -> list[snapshot.TreeNode]:
        """What it has, the newest first; answered between two restart attempts, not during one."""
        return await self._order(lambda crew: crew.roster.describe())

    async def count(self) -> snapshot.ChildCount:
        """The same in four numbers."""
        return await self._order(lambda crew: crew.roster.count())

    async def spec(self, child: str | Address[Any]) -> Spec:
        """The child's spec, all defaults filled in."""
        return await self._order(lambda crew: crew.roster.spec_of(child))

    def address(self, spec: ChildSpec[M]) -> Address[M]:
        """The address of the child with this very spec."""
        return address_of(spec, self._home.children.values())

    def supervisor(self, name: str) -> Supervisor:
        """The handle of a child that is itself a supervisor."""
        cell = self._home.children.get(name)
        if cell is None or not isinstance(cell.spec, SupervisorSpec):
            raise errors.ChildNotFound(f"{self.path} has no supervisor {name!r} among its children")
        return Supervisor(cell)

    def tree(self) -> snapshot.TreeNode:
        """What is alive now, from this supervisor down; `print()` it."""
        return snapshot.node_of(self._home)

    async def read_tree(self) -> snapshot.TreeNode:
        """The same for a tree of thousands: one supervisor after the other, while all go on."""
        return await snapshot.node_in_slices(self._home)

    def named(self, name: str) -> Address[Any]:
        """An address by registered name, looked up at each use: it outlives every restart.

        It is whoever has the name at that moment, so it is no key for a dict.
        """
        return _tree.NamedAddress(name, self._home.tree)

    def registered(self) -> dict[str, Address[Any]]:
        """All registered names of the tree and who has them now."""
        return {name: Address(cell) for name, cell in self._home.tree.names.items()}

    def notices(self, capacity: int = 1024) -> AbstractContextManager[notices.NoticeStream]:
        """Subscribe to what happens in the whole tree from now on."""
        return self._home.tree.board.subscribe(capacity)

    async def stop(self) -> None:
        """Stop the tree whose root this is and wait for its end; the host's block goes on.

        Whoever loses patience (`trio.fail_after`) leaves; the stop itself goes on.
        """
        if self._home is not self._home.tree.root:
            raise errors.ChildNotFound(f"{self.path} is not a root: its parent can terminate() it")
        self._home.tree.body = trio.CancelScope()  # the end no longer ends the host's block
        self._home.tree.stop()
        await self.wait()

    async def wait(self) -> None:
        """Until the tree has ended by itself, by auto_shutdown or stop()."""
        await self._home.tree.wait_over()

    async def _order(self, fulfil: Callable[[_supervise.Crew], Awaitable[R]]) -> R:
        answer: R = await self.ask(_supervise.Order(fulfil))
        return answer
