"""Scripts that found something once, or that chance would find too rarely: played every time."""

from __future__ import annotations

import pytest

from supervisors import AutoShutdown, ExitKind, Restart, Strategy
from tests.supervisors.model.plans import (
    Count,
    Delete,
    Describe,
    Finish,
    Freeze,
    NextStarts,
    RestartChild,
    Start,
    Step,
    Team,
    Terminate,
    Thaw,
    Wait,
    Worker,
)
from tests.supervisors.model.rehearsal import Rehearsal
from tests.supervisors.model.stage import perform

CRASHED = ExitKind.CRASHED


def play(plan: Team, *steps: Step) -> None:
    rehearsal = Rehearsal(plan)
    for step in steps:
        rehearsal.take(step)
    perform(rehearsal.end())


def trio_of_workers(strategy: Strategy) -> Team:
    return Team("r", strategy, intensity=9, children=(Worker("a"), Worker("b"), Worker("c")))


def crashes(*names: str) -> list[Step]:
    return [Finish(f"r/{name}", CRASHED) for name in names]


def fails_to_start(name: str, times: int) -> Step:
    return NextStarts(f"r/{name}", (CRASHED,) * times)


@pytest.mark.parametrize("strategy", [Strategy.ONE_FOR_ONE, Strategy.REST_FOR_ONE])
def test_termination_of_one_pending_restart_leaves_the_others(strategy: Strategy) -> None:
    play(
        trio_of_workers(strategy),
        fails_to_start("c", 2),
        fails_to_start("b", 2),
        Freeze("r"),
        *crashes("c", "b"),
        Terminate("r", "c"),
        Describe("r"),
        Thaw(),
        Wait(1),
    )


@pytest.mark.parametrize("strategy", [Strategy.ONE_FOR_ONE, Strategy.REST_FOR_ONE])
def test_termination_of_a_pending_restart_keeps_a_crash_not_yet_handled(strategy: Strategy) -> None:
    play(
        trio_of_workers(strategy),
        fails_to_start("c", 2),
        Freeze("r"),
        *crashes("c"),
        Terminate("r", "c"),
        *crashes("a"),
        Thaw(),
    )


@pytest.mark.parametrize("strategy", [Strategy.ONE_FOR_ALL, Strategy.REST_FOR_ONE])
def test_termination_of_a_pending_restart_puts_its_group_to_rest(strategy: Strategy) -> None:
    play(
        trio_of_workers(strategy),
        fails_to_start("b", 2),
        Freeze("r"),
        *crashes("a"),
        Terminate("r", "b"),
        Describe("r"),
        RestartChild("r", "c"),
        Thaw(),
        *crashes("a"),
    )


@pytest.mark.parametrize("restart", Restart)
def test_child_whose_exit_is_not_handled_yet_still_runs_for_its_supervisor(
    restart: Restart,
) -> None:
    worker = Worker("a", restart)
    play(
        Team("r", children=(worker, Worker("b"))),
        Freeze("r"),
        RestartChild("r", "a"),
        Delete("r", "a"),
        Start("r", worker),
        Finish("r/a", ExitKind.NORMAL),
        Thaw(),
    )


@pytest.mark.parametrize("request_first", [RestartChild("r", "a"), Delete("r", "a")])
def test_end_of_a_significant_child_is_not_lost_behind_a_request(request_first: Step) -> None:
    worker = Worker("a", Restart.TRANSIENT, significant=True)
    play(
        Team("r", auto_shutdown=AutoShutdown.ANY_SIGNIFICANT, children=(worker,)),
        Freeze("r"),
        request_first,
        Finish("r/a", ExitKind.NORMAL),
        Thaw(),
    )


def test_all_significant_waits_for_exits_not_handled_yet() -> None:
    workers = [Worker(name, Restart.TRANSIENT, significant=True) for name in "ab"]
    play(
        Team("r", auto_shutdown=AutoShutdown.ALL_SIGNIFICANT, children=tuple(workers)),
        Freeze("r"),
        Finish("r/a", ExitKind.NORMAL),
        RestartChild("r", "a"),
        Finish("r/b", ExitKind.NORMAL),
        Thaw(),
    )


def test_root_that_left_by_itself_is_stopped_not_restarting() -> None:
    worker = Worker("a", Restart.TEMPORARY, significant=True)
    play(
        Team("r", auto_shutdown=AutoShutdown.ANY_SIGNIFICANT, children=(worker,)),
        Finish("r/a", CRASHED),
        Describe("r"),
    )


@pytest.mark.parametrize("question", [Describe("r"), Count("r")])
def test_answer_tells_how_things_stood_when_its_turn_came(question: Step) -> None:
    play(trio_of_workers(Strategy.ONE_FOR_ONE), Freeze("r"), question, Terminate("r", "a"), Thaw())
