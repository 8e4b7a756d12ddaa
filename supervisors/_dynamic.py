"""The crew that comes and goes: no order, starts side by side, a parallel stop."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from supervisors import _cell, _life, errors
from supervisors._roster import Child, Roster
from supervisors.exits import Phase
from supervisors.specs import Spec


class DynamicCrew:
    """Never waits for a child, so that a slow start or stop of one holds up no other."""

    def __init__(self, roster: Roster) -> None:
        self.roster = roster
        self._numbers = itertools.count(2)

    async def start_first(self, specs: Iterable[Spec]) -> None:
        """Start them side by side; the first failure ends it."""
        for life in [await self.add(spec) for spec in specs]:
            await life.wait_started()

    async def stop_all(self) -> None:
        """End all children at once; each has its own time, counted from now."""
        cells = list(self.roster.cells.values())
        lives = [cell.life for cell in cells if cell.life is not None]
        for life in lives:
            life.ask_to_stop(_life.Ending.FINAL)
        for life in sorted(lives, key=lambda life: life.kill_at):
            await life.see_out()
        for cell in cells:
            cell.rest(Phase.GONE)

    async def on_signal(self, signal: _cell.Signal) -> None:
        """A child ended; old news is ignored."""
        if isinstance(signal, _cell.Exited) and self.roster.is_current(signal.life):
            cell = signal.life.cell
            if cell.phase is Phase.RESTARTING:
                cell.begin(self.roster.approve_restart(cell))
            else:
                self.roster.forget(cell)

    async def add(self, spec: Spec) -> _life.Life:
        """A new child, numbered if its name is taken; the caller waits for its start."""
        self.roster.spec.check_child(spec)
        limit = self.roster.spec.max_children
        if limit is not None and len(self.roster.cells) >= limit:
            raise errors.TooManyChildren(f"{self.roster.owner.path} has {limit}, its max_children")
        name = spec.name
        while name in self.roster.cells:
            name = f"{spec.name}#{next(self._numbers)}"
        cell = self.roster.add(name, spec)
        try:
            return cell.begin()
        except errors.StartFailed:
            self.roster.forget(cell)
            raise

    async def terminate(self, child: Child) -> _life.Life | None:
        """Ask a child to stop; the caller waits for its end. Who is gone has ended already."""
        if not isinstance(child, str) and child.phase is Phase.GONE:
            return None
        cell = self.roster.find(child)
        if cell.life is None or cell.life.exit is not None:
            self.roster.forget(cell)
        else:
            cell.life.ask_to_stop(_life.Ending.FINAL)
        return cell.life

    async def start_again(self, child: Child) -> _life.Life:
        """Refused: there is nobody to start again."""
        raise errors.WrongStrategy(f"a dynamic supervisor forgets who ended; start {child!r} anew")

    async def delete(self, child: Child) -> None:
        """Refused: who ended is forgotten already."""
        raise errors.WrongStrategy(f"a dynamic supervisor forgets who ended; terminate {child!r}")

    def take(self, specs: Sequence[Spec]) -> None:
        """Refused: whom it started is not in its spec."""
        raise errors.WrongStrategy(f"a dynamic supervisor takes no list of {len(specs)} children")
