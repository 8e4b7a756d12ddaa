"""A supervisor is an actor: this is its loop, whatever its strategy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from trio.lowlevel import enable_ki_protection

from supervisors import _cell, _roster, errors
from supervisors._dynamic import DynamicCrew
from supervisors._ordered import OrderedCrew
from supervisors.address import Request
from supervisors.inbox import Inbox
from supervisors.specs import Spec, Strategy, SupervisorOptions, SupervisorSpec

Crew: TypeAlias = OrderedCrew | DynamicCrew


@dataclass(slots=True, repr=False, eq=False)
class Order(Request[Any]):
    """What a caller wants done by a supervisor, in the supervisor's own task and time."""

    fulfil: Callable[[Crew], Awaitable[Any]]


@enable_ki_protection
async def supervise(cell: _cell.Cell, inbox: Inbox[Any]) -> None:
    """Start the children, keep them as the strategy says, and end them whatever happens."""
    spec = cell.spec
    assert isinstance(spec, SupervisorSpec)
    roster = _roster.Roster(cell, spec)
    crew = DynamicCrew(roster) if spec.strategy is Strategy.DYNAMIC else OrderedCrew(roster)
    try:
        await crew.start_first(spec.first_children())
        inbox.ready()
        async for message in inbox:
            if isinstance(message, Order):
                await _obey(crew, message, inbox)
            else:
                await crew.on_signal(message)
    finally:
        with inbox.grace():
            await crew.stop_all()
        roster.kill_all()


async def reload(crew: Crew, options: SupervisorOptions, children: Sequence[Spec]) -> None:
    """Live by new options and specs from now on; the restarts already counted stay counted."""
    roster, spec = crew.roster, replace(crew.roster.spec, **options)
    if (spec.strategy is Strategy.DYNAMIC) != (roster.spec.strategy is Strategy.DYNAMIC):
        raise errors.WrongStrategy("a running supervisor cannot become dynamic, or stop being it")
    if "children" in options:
        crew.take(spec.check_children(children))
    roster.spec = roster.owner.spec = spec
    roster.budget.intensity, roster.budget.period = spec.intensity, spec.period


async def _obey(crew: Crew, order: Order, inbox: Inbox[Any]) -> None:
    try:
        inbox.reply(order, await order.fulfil(crew))
    except Exception as refusal:  # noqa: BLE001 - what a caller got wrong is raised at the caller
        inbox.reject(order, refusal)
