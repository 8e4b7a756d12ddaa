"""A machine that never fails proves nothing: each of these bugs, planted, must be found by it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

import pytest
import trio
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from supervisors import Exit, Restart, Strategy, policy
from supervisors._ordered import OrderedCrew
from supervisors._roster import Roster
from supervisors.policy import RestartBudget
from tests.supervisors.model.machine import SupervisionMachine
from tests.supervisors.model.stage import Disagreement
from tests.thorough import for_conformance

T = TypeVar("T")

# Only whether it is found matters: no shrinking, no database, the same examples each time.
SEARCH = settings(
    max_examples=500,
    stateful_step_count=20,
    phases=[Phase.generate],
    derandomize=True,
    database=None,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@contextmanager
def planted(owner: object, name: str, bug: Callable[..., Any]) -> Generator[None]:
    """Put the bug in the place of what is right, for the length of a block."""
    right = getattr(owner, name)
    setattr(owner, name, bug)
    try:
        yield
    finally:
        setattr(owner, name, right)


def budget_off_by(intensity: int = 0, period: float = 0) -> AbstractContextManager[None]:
    """The restart budget counts with other numbers than it was given."""
    right = RestartBudget.spend

    def spend(budget: RestartBudget, now: float) -> bool:
        budget.intensity += intensity
        budget.period += period
        try:
            return right(budget, now)
        finally:
            budget.intensity -= intensity
            budget.period -= period

    return planted(RestartBudget, "spend", spend)


def window_too_short() -> AbstractContextManager[None]:
    """A restart exactly `period` old no longer counts: `<=` where `<` is right."""
    return budget_off_by(period=-0.001)


def window_too_long() -> AbstractContextManager[None]:
    """A restart a second older than `period` still counts."""
    return budget_off_by(period=1)


def one_restart_too_many() -> AbstractContextManager[None]:
    """The budget allows intensity + 1: `>` where `>=` is right."""
    return budget_off_by(intensity=1)


def one_restart_too_few() -> AbstractContextManager[None]:
    """The restart that uses up the budget is refused."""
    return budget_off_by(intensity=-1)


def stopped_in_start_order() -> AbstractContextManager[None]:
    """A supervisor that ends stops its first child first."""
    right = OrderedCrew.stop_all

    async def stop_all(crew: OrderedCrew) -> None:
        in_order = list(crew.roster.cells.items())
        crew.roster.cells.clear()
        crew.roster.cells.update(reversed(in_order))
        await right(crew)

    return planted(OrderedCrew, "stop_all", stop_all)


def group_in_reverse_order() -> AbstractContextManager[None]:
    """A group restart stops the first child first and starts the last one first."""
    right = policy.affected

    def affected(strategy: Strategy, children: list[T], victim: T) -> list[T]:
        return right(strategy, children, victim)[::-1]

    return planted(policy, "affected", affected)


def temporary_restarted() -> AbstractContextManager[None]:
    """A temporary child comes back after a crash, as a transient one does."""
    right = policy.comes_back

    def comes_back(restart: Restart, exit: Exit) -> bool:
        return right(Restart.TRANSIENT if restart is Restart.TEMPORARY else restart, exit)

    return planted(policy, "comes_back", comes_back)


def transient_restarted_after_its_return() -> AbstractContextManager[None]:
    """A transient child comes back as a permanent one does."""
    right = policy.comes_back

    def comes_back(restart: Restart, exit: Exit) -> bool:
        return right(Restart.PERMANENT if restart is Restart.TRANSIENT else restart, exit)

    return planted(policy, "comes_back", comes_back)


def one_for_all_restarts_the_victim_alone() -> AbstractContextManager[None]:
    """one_for_all does what one_for_one does."""
    right = policy.affected

    def affected(strategy: Strategy, children: list[T], victim: T) -> list[T]:
        return [victim] if strategy is Strategy.ONE_FOR_ALL else right(strategy, children, victim)

    return planted(policy, "affected", affected)


def rest_for_one_spares_the_rest() -> AbstractContextManager[None]:
    """rest_for_one takes only the next child along."""
    right = policy.affected

    def affected(strategy: Strategy, children: list[T], victim: T) -> list[T]:
        group = right(strategy, children, victim)
        return group[:2] if strategy is Strategy.REST_FOR_ONE else group

    return planted(policy, "affected", affected)


def group_restart_counted_for_each_child() -> AbstractContextManager[None]:
    """A group restart costs as many restarts as it has children."""
    right = Roster.approve_restart

    def approve_restart(roster: Roster, victim: Any) -> float:
        group = policy.affected(roster.spec.strategy, list(roster.cells.values()), victim)
        for _ in group[1:]:
            roster.budget.spend(trio.current_time())
        return right(roster, victim)

    return planted(Roster, "approve_restart", approve_restart)


BUGS = [
    window_too_short,
    window_too_long,
    one_restart_too_many,
    one_restart_too_few,
    stopped_in_start_order,
    group_in_reverse_order,
    temporary_restarted,
    transient_restarted_after_its_return,
    one_for_all_restarts_the_victim_alone,
    rest_for_one_spares_the_rest,
    group_restart_counted_for_each_child,
]


@for_conformance
@pytest.mark.parametrize("plant", BUGS, ids=lambda plant: plant.__name__)
def test_planted_bug_is_found(plant: Callable[[], AbstractContextManager[None]]) -> None:
    with plant(), pytest.raises(Disagreement):
        run_state_machine_as_test(SupervisionMachine, settings=SEARCH)
