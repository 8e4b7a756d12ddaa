"""The pure decisions: OTP's table, the restart window, who goes with whom, how long to wait."""

import pytest

from supervisors import Backoff, Exit, ExitKind, Ignore, OrderlyExit, Restart, Strategy
from supervisors.exits import exit_of
from supervisors.policy import RestartBudget, affected, comes_back, restart_delay

ORDERLY = [ExitKind.NORMAL, ExitKind.SHUTDOWN]
DISORDERLY = [ExitKind.CRASHED, ExitKind.KILLED, ExitKind.STUCK]


@pytest.mark.parametrize("kind", [*ORDERLY, *DISORDERLY])
def test_a_permanent_child_always_comes_back(kind: ExitKind) -> None:
    assert comes_back(Restart.PERMANENT, Exit(kind))


@pytest.mark.parametrize("kind", DISORDERLY)
def test_a_transient_child_comes_back_after_a_disorderly_end(kind: ExitKind) -> None:
    assert comes_back(Restart.TRANSIENT, Exit(kind))


@pytest.mark.parametrize("kind", ORDERLY)
def test_a_transient_child_stays_away_after_an_orderly_end(kind: ExitKind) -> None:
    assert not comes_back(Restart.TRANSIENT, Exit(kind))


@pytest.mark.parametrize("kind", list(ExitKind))
def test_a_temporary_child_never_comes_back(kind: ExitKind) -> None:
    assert not comes_back(Restart.TEMPORARY, Exit(kind))


@pytest.mark.parametrize("restart", list(Restart))
def test_a_child_that_ignored_its_start_is_not_started_again(restart: Restart) -> None:
    assert not comes_back(restart, Exit(ExitKind.IGNORED))


def test_no_restart_is_allowed_with_intensity_zero() -> None:
    assert not RestartBudget(0, 5).spend(0)


def test_as_many_restarts_as_the_intensity_are_allowed_in_a_period() -> None:
    budget = RestartBudget(3, 5)
    assert [budget.spend(now) for now in (0, 1, 2, 3)] == [True, True, True, False]


def test_a_restart_exactly_one_period_old_still_counts() -> None:
    budget = RestartBudget(1, 5)
    assert budget.spend(0)
    assert not budget.spend(5)
    assert budget.spend(5.001)


def test_a_refused_restart_is_not_counted() -> None:
    budget = RestartBudget(1, 5)
    assert budget.spend(0)
    assert not budget.spend(4)
    assert budget.spend(6)


def test_the_window_slides() -> None:
    budget = RestartBudget(2, 10)
    assert [budget.spend(now) for now in (0, 9, 11, 12, 20)] == [True, True, True, False, True]


def test_new_limits_hold_for_restarts_already_counted() -> None:
    budget = RestartBudget(3, 10)
    assert [budget.spend(now) for now in (0, 1)] == [True, True]
    budget.intensity = 1
    assert not budget.spend(2)
    budget.period = 2
    assert budget.spend(4)


@pytest.mark.parametrize(
    ("strategy", "group"),
    [
        (Strategy.ONE_FOR_ONE, "b"),
        (Strategy.ONE_FOR_ALL, "abc"),
        (Strategy.REST_FOR_ONE, "bc"),
        (Strategy.DYNAMIC, "b"),
    ],
)
def test_who_is_restarted_with_the_victim(strategy: Strategy, group: str) -> None:
    children = list("abc")
    assert affected(strategy, children, children[1]) == list(group)


def test_there_is_no_delay_without_a_backoff() -> None:
    assert restart_delay(None, failures=9, dice=0.9) == 0


def test_the_delay_grows_by_the_factor_up_to_the_maximum() -> None:
    backoff = Backoff(minimum=1, maximum=10, factor=3, jitter=0)
    delays = [restart_delay(backoff, failures, dice=0) for failures in range(5)]
    assert delays == [1, 3, 9, 10, 10]


def test_jitter_stretches_the_delay_by_up_to_its_share() -> None:
    backoff = Backoff(minimum=1, maximum=8, factor=2, jitter=0.5)
    assert restart_delay(backoff, failures=1, dice=0) == 2
    assert restart_delay(backoff, failures=1, dice=0.5) == 2.5
    assert restart_delay(backoff, failures=1, dice=0.999) == pytest.approx(3, rel=0.01)
    assert restart_delay(backoff, failures=9, dice=1) == 12


@pytest.mark.parametrize("factor", [1.0, 2.0, 3.0, 1e300])
def test_a_million_failures_in_a_row_are_no_overflow(factor: float) -> None:
    backoff = Backoff(minimum=1, maximum=10, factor=factor, jitter=0)
    assert restart_delay(backoff, failures=1_000_000, dice=0) == (1 if factor == 1 else 10)


def test_an_exception_means_how_the_life_ended() -> None:
    boom, enough, nothing = ValueError("boom"), OrderlyExit("enough"), Ignore()
    assert exit_of(boom) == Exit(ExitKind.CRASHED, boom)
    assert exit_of(enough) == Exit(ExitKind.SHUTDOWN, enough)
    assert exit_of(nothing) == Exit(ExitKind.IGNORED, nothing)


def test_groups_of_one_are_opened_and_others_are_kept() -> None:
    boom = ValueError("boom")
    nested = ExceptionGroup("outer", [ExceptionGroup("inner", [boom])])
    several = ExceptionGroup("several", [boom, OrderlyExit()])
    assert exit_of(nested) == Exit(ExitKind.CRASHED, boom)
    assert exit_of(several) == Exit(ExitKind.CRASHED, several)


def test_an_exit_says_how_and_why() -> None:
    assert str(Exit(ExitKind.NORMAL)) == "returned"
    assert str(Exit(ExitKind.CRASHED, ValueError("boom"))) == "crashed: ValueError: boom"
    assert Exit(ExitKind.SHUTDOWN).orderly
    assert not Exit(ExitKind.KILLED).orderly
