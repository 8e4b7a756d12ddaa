"""The crew that has an order: one_for_one, one_for_all and rest_for_one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

import trio

from supervisors import errors, policy
from supervisors._cell import Cell, Exited, Signal
from supervisors._life import Ending, Life
from supervisors._roster import Child, Roster
from supervisors.exits import ExitKind, Phase
from supervisors.specs import AutoShutdown, Restart, Spec, Strategy


@dataclass(slots=True, repr=False, eq=False)
class Due(Signal):
    """The next step of a pending restart, unless another has taken its place meanwhile."""

    cell: Cell
    step: Callable[[Cell], Awaitable[None]]
    wait: trio.CancelScope = field(default_factory=trio.CancelScope)


class OrderedCrew:
    """Does one thing at a time, as OTP's supervisor does: what is asked meanwhile waits."""

    def __init__(self, roster: Roster) -> None:
        self.roster = roster
        self._pending: dict[Cell, Due] = {}

    async def start_first(self, specs: Iterable[Spec]) -> None:
        """Start them in order, each ready before the next. The first failure ends it."""
        # All places first, so that a child can have the address of a later sibling.
        for cell in [self.roster.add(spec.name, spec) for spec in specs]:
            await self._start(cell, Cell.hold)

    async def stop_all(self) -> None:
        """End all children, the last started first, each waited for."""
        for cell in reversed(self.roster.cells.values()):
            self._call_off(cell)
            if cell.life is not None:
                await cell.life.stop(Ending.FINAL)
            cell.rest(Phase.GONE)

    async def on_signal(self, signal: Signal) -> None:
        """A child ended, or a restart is due; old news is ignored."""
        if isinstance(signal, Exited) and self.roster.is_current(signal.life):
            await self._on_exit(signal.life.cell)
        elif isinstance(signal, Due) and self._pending.get(signal.cell) is signal:
            await signal.step(signal.cell)

    async def add(self, spec: Spec) -> Life:
        """A new child at the end of the order; if its start fails, it was never here."""
        self.roster.spec.check_child(spec)
        known = self.roster.cells.get(spec.name)
        if known is not None:
            refusal = errors.AlreadyStarted if known.life is not None else errors.AlreadyPresent
            raise refusal(f"{known.path} is known ({known.phase.value}); choose another name")
        return await self._start(self.roster.add(spec.name, spec), self.roster.forget)

    async def start_again(self, child: Child) -> Life:
        """A known child that is not running; if its start fails, it stays so."""
        return await self._start(self._resting(child), Cell.rest)

    async def terminate(self, child: Child) -> None:
        """Stop a child, or take its pending restart back, and with it its group's."""
        cell = self.roster.find(child)
        if cell.life is not None:
            await cell.life.stop(Ending.FINAL)
        self._put_to_rest(cell)
        if self._call_off(cell):
            for held in self.roster.cells.values():
                if held.is_between_lives and not self._is_awaited(held):
                    held.rest()

    async def delete(self, child: Child) -> None:
        """Forget a child that is not running."""
        self.roster.forget(self._resting(child))

    def take(self, specs: Sequence[Spec]) -> None:
        """New specs: who runs goes on, who is new waits, who is missing stays."""
        old = dict(self.roster.cells)
        if any(type(old[new.name].spec) is not type(new) for new in specs if new.name in old):
            raise errors.SpecError("a worker cannot become a supervisor, or the other way round")
        self.roster.cells.clear()
        for spec in specs:
            known = old.pop(spec.name, None)
            cell = self.roster.cells[spec.name] = known or self.roster.add(spec.name, spec)
            cell.spec = spec
        self.roster.cells.update(old)

    def _resting(self, child: Child) -> Cell:
        cell = self.roster.find(child)
        if cell.life is not None:
            raise errors.ChildRunning(f"{cell.path} is running; terminate it first")
        if cell.is_between_lives:
            raise errors.ChildRestarting(f"{cell.path} is about to restart; terminate it or wait")
        return cell

    async def _start(self, cell: Cell, on_failure: Callable[[Cell], None]) -> Life:
        try:
            life = cell.begin()
            await life.wait_started()
        except errors.StartFailed:
            on_failure(cell)
            raise
        if life.exit is not None and life.exit.kind is ExitKind.IGNORED:
            self._put_to_rest(cell)
        return life

    async def _on_exit(self, cell: Cell) -> None:
        if cell.phase is Phase.RESTARTING:
            await self._restart(cell)
            return
        self._put_to_rest(cell)
        if cell.spec.significant:
            self._leave_if_that_was_it(cell)

    async def _restart(self, victim: Cell) -> None:
        victim.hold()
        self._call_off(victim)
        if victim.spec.restart is Restart.TEMPORARY:  # since a reload
            self.roster.forget(victim)
        elif not self._is_awaited(victim):
            await self._restart_group(victim, self.roster.approve_restart(victim))

    async def _restart_group(self, victim: Cell, delay: float) -> None:
        if self.roster.spec.strategy is not Strategy.ONE_FOR_ONE:
            await self._stop_group(victim)
        if delay:
            due = self._pending[victim] = Due(victim, self._start_group)
            tree = self.roster.owner.tree
            tree.nursery.start_soon(self._remind, due, delay, name=f"{victim.path} (backoff)")
        else:
            await self._start_group(victim)

    async def _stop_group(self, victim: Cell) -> None:
        for cell in reversed(self._group(victim)):
            is_temporary = cell.spec.restart is Restart.TEMPORARY
            if cell.life is not None:
                await cell.life.stop(Ending.FINAL if is_temporary else Ending.COMES_BACK)
                cell.hold()
            if is_temporary:
                self.roster.forget(cell)
            self._call_off(cell)

    async def _start_group(self, victim: Cell) -> None:
        self._pending.pop(victim, None)
        for cell in self._group(victim):
            try:
                if cell.life is None:
                    await self._start(cell, Cell.hold)
            except errors.StartFailed:
                due = self._pending[cell] = Due(cell, self._restart)
                # A message to oneself: what callers asked meanwhile comes first.
                self.roster.owner.mailbox.put(due)
                return

    async def _remind(self, due: Due, delay: float) -> None:
        with due.wait:
            await trio.sleep(delay)
            self.roster.owner.mailbox.put(due)

    def _call_off(self, cell: Cell) -> bool:
        due = self._pending.pop(cell, None)
        if due is not None:
            due.wait.cancel()
        return due is not None

    def _group(self, victim: Cell) -> list[Cell]:
        return policy.affected(self.roster.spec.strategy, self.roster.cells.values(), victim)

    def _is_awaited(self, cell: Cell) -> bool:
        """Whether a pending restart will start it."""
        one = self.roster.spec.strategy is Strategy.ONE_FOR_ONE
        return cell in self._pending if one else any(cell in self._group(c) for c in self._pending)

    def _put_to_rest(self, cell: Cell) -> None:
        if cell.spec.restart is Restart.TEMPORARY:
            self.roster.forget(cell)
        else:
            cell.rest()

    def _leave_if_that_was_it(self, ended: Cell) -> None:
        mode, cells = self.roster.spec.auto_shutdown, self.roster.cells.values()
        is_last = not any(c.spec.significant and (c.life or c.is_between_lives) for c in cells)
        if mode is not AutoShutdown.NEVER and (mode is AutoShutdown.ANY_SIGNIFICANT or is_last):
            cause = None if ended.exit is None else ended.exit.error
            raise errors.OrderlyExit("the significant children have ended") from cause
