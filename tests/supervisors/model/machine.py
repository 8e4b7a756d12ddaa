"""Invents trees and what happens to them, one step at a time, with the model at its side."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from supervisors import AutoShutdown, ExitKind, Restart, Strategy
from tests.supervisors.model.book import Place, runs_dynamic
from tests.supervisors.model.plans import (
    BRUTAL,
    INFINITE,
    Count,
    CrashTeam,
    Delete,
    Describe,
    Finish,
    Freeze,
    NextStarts,
    Plan,
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
from tests.supervisors.model.rules import Model
from tests.supervisors.model.stage import perform

T = TypeVar("T")
Deed: TypeAlias = Callable[[st.DataObject], None]

NAMES = ("a", "b", "c", "d")
DEPTH = 3

# Much is there twice or more: chance should go where the rules are hard.
RESTARTS = [Restart.PERMANENT, Restart.PERMANENT, Restart.TRANSIENT, Restart.TEMPORARY]
AUTO_SHUTDOWNS = [AutoShutdown.NEVER, *AutoShutdown]
STOPS = [(0, INFINITE), (0, INFINITE), (0, INFINITE), (0, BRUTAL), (1, INFINITE), (1, 2), (3, 2)]
ENDS = [ExitKind.CRASHED, ExitKind.CRASHED, ExitKind.NORMAL, ExitKind.SHUTDOWN]
BAD_STARTS = [ExitKind.CRASHED, ExitKind.CRASHED, ExitKind.IGNORED]


@st.composite
def workers(draw: st.DrawFn, name: str, parent: AutoShutdown) -> Worker:
    restart = draw(st.sampled_from(RESTARTS))
    cleanup, patience = draw(st.sampled_from(STOPS))
    return Worker(name, restart, draw(significance(restart, parent)), cleanup, patience)


@st.composite
def teams(draw: st.DrawFn, name: str, parent: AutoShutdown, depth: int) -> Team:
    strategy = draw(st.sampled_from(Strategy))
    dynamic = strategy is Strategy.DYNAMIC
    auto_shutdown = AutoShutdown.NEVER if dynamic else draw(st.sampled_from(AUTO_SHUTDOWNS))
    restart = draw(st.sampled_from(RESTARTS))
    names = NAMES[: draw(st.sampled_from([3, 3, 2, 1, 0]))]
    # A dynamic team of teams would start them side by side: no order to predict.
    below = DEPTH if dynamic else depth + 1
    return Team(
        name,
        strategy,
        intensity=draw(st.sampled_from([1, 2, 3, 0])) + (2 if depth == 1 else 0),
        period=draw(st.sampled_from([2, 5])),
        auto_shutdown=auto_shutdown,
        max_children=draw(st.sampled_from([None, 3, 4])) if dynamic else None,
        restart=restart,
        significant=draw(significance(restart, parent)),
        children=tuple(draw(plans(each, auto_shutdown, below)) for each in names),
    )


def plans(name: str, parent: AutoShutdown, depth: int) -> st.SearchStrategy[Plan]:
    """A child on that level: the deepest ones are workers."""
    if depth >= DEPTH:
        return workers(name, parent)
    return st.one_of(workers(name, parent), workers(name, parent), teams(name, parent, depth))


def significance(restart: Restart, parent: AutoShutdown) -> st.SearchStrategy[bool]:
    is_allowed = restart is not Restart.PERMANENT and parent is not AutoShutdown.NEVER
    return st.booleans() if is_allowed else st.just(False)


def pick(data: st.DataObject, choices: Sequence[T]) -> T:
    return data.draw(st.sampled_from(choices))


class SupervisionMachine(RuleBasedStateMachine):
    """Each deed adds steps to the script; the model says at once what must come of them.

    The model needs no task and no clock, so that deeds can be chosen by how things stand. At the
    end the real tree plays the whole script in one run and is compared at each step. There is one
    rule: of several, Hypothesis would switch off half in each example, crashes included.
    """

    def __init__(self) -> None:
        super().__init__()
        self.rehearsal = Rehearsal(Team("r"))

    @initialize(plan=teams("r", AutoShutdown.NEVER, 1))
    def plant(self, plan: Team) -> None:
        self.rehearsal = Rehearsal(plan)

    @precondition(lambda self: self.model.root.alive)
    @rule(data=st.data())
    def something_happens(self, data: st.DataObject) -> None:
        deed = pick(data, self.possible_deeds())
        deed(data)

    @precondition(lambda self: not self.model.root.alive)
    @rule()
    def nothing_happens_any_more(self) -> None:
        """Hypothesis wants a rule for every state."""

    def teardown(self) -> None:
        # While it looks for variations Hypothesis cuts many examples short: those are none.
        if sys.exception() is None:
            perform(self.rehearsal.end())

    @property
    def model(self) -> Model:
        return self.rehearsal.model

    def take(self, step: Step) -> None:
        self.rehearsal.take(step)

    def possible_deeds(self) -> list[Deed]:
        deeds: list[Deed] = [self.child_is_administered] * 2
        if self.running_workers():
            deeds += [self.worker_ends] * 3 + [self.worker_starts_badly_after_a_crash] * 2
        if self.model.frozen is not None:
            deeds += [self.supervisor_is_asked] + [self.supervisor_thaws] * 2
        elif self.teams_to_freeze():
            deeds += [self.supervisor_freezes]
        return [*deeds, *self.rarer_deeds()]

    def rarer_deeds(self) -> list[Deed]:
        deeds: list[Deed] = [self.child_is_added, self.supervisor_is_asked, self.time_passes]
        if self.running_workers():
            deeds += [self.next_start_goes_wrong]
        if self.workers_with_a_window():
            deeds += [self.worker_crashes_as_the_window_closes]
        if self.teams_to_crash():
            deeds += [self.supervisor_crashes]
        # While one is frozen its queue fills up: the fewer other things happen, the better.
        return deeds if self.model.frozen is None else deeds[:2]

    def worker_ends(self, data: st.DataObject) -> None:
        self.take(Finish(self.pick_worker(data).path, pick(data, ENDS)))

    def worker_starts_badly_after_a_crash(self, data: st.DataObject) -> None:
        path = self.pick_worker(data).path
        outcomes = data.draw(st.lists(st.sampled_from(BAD_STARTS), min_size=1, max_size=3))
        self.take(NextStarts(path, tuple(outcomes)))
        self.take(Finish(path, ExitKind.CRASHED))

    def next_start_goes_wrong(self, data: st.DataObject) -> None:
        self.take(NextStarts(self.pick_worker(data).path, (pick(data, BAD_STARTS),)))

    def worker_crashes_as_the_window_closes(self, data: st.DataObject) -> None:
        worker = pick(data, self.workers_with_a_window())
        assert worker.parent is not None
        closes_at = worker.parent.restarts[0] + worker.parent.team.period
        self.take(Wait(max(0, closes_at - self.model.now) + pick(data, [0, 1])))
        self.take(Finish(worker.path, ExitKind.CRASHED))

    def supervisor_crashes(self, data: st.DataObject) -> None:
        self.take(CrashTeam(pick(data, self.teams_to_crash()).path))

    def time_passes(self, data: st.DataObject) -> None:
        self.take(Wait(pick(data, [1, 2, 3, 5])))

    def supervisor_freezes(self, data: st.DataObject) -> None:
        self.take(Freeze(pick(data, self.teams_to_freeze()).path))

    def supervisor_thaws(self, data: st.DataObject) -> None:
        self.take(Thaw())

    def child_is_added(self, data: st.DataObject) -> None:
        team = self.pick_team(data)
        level = DEPTH if runs_dynamic(team) else team.path.count("/") + 2
        plan = data.draw(plans(pick(data, NAMES), AutoShutdown.ANY_SIGNIFICANT, level))
        self.take(Start(team.path, plan))

    def child_is_administered(self, data: st.DataObject) -> None:
        team = self.pick_team(data)
        child = pick(data, [*team.children, *team.children, "nobody"])
        orders: list[Step] = [each(team.path, child) for each in (Terminate, RestartChild, Delete)]
        self.take(pick(data, orders))

    def supervisor_is_asked(self, data: st.DataObject) -> None:
        path = self.pick_team(data).path
        questions: list[Step] = [Count(path), Describe(path)]
        self.take(pick(data, questions))

    def running_workers(self) -> list[Place]:
        places = self.model.root.walk()
        return [place for place in places if place.alive and isinstance(place.plan, Worker)]

    def workers_with_a_window(self) -> list[Place]:
        return [
            place
            for place in self.running_workers()
            if place.plan.restart is not Restart.TEMPORARY
            and place.parent is not None
            and place.parent.restarts
        ]

    def teams(self) -> list[Place]:
        return [place for place in self.model.root.walk() if isinstance(place.plan, Team)]

    def teams_to_crash(self) -> list[Place]:
        return [team for team in self.teams() if team.alive and team is not self.model.root]

    def teams_to_freeze(self) -> list[Place]:
        # What queued up at a dynamic supervisor is done side by side: no order to predict.
        return [team for team in self.teams() if team.alive and not runs_dynamic(team)]

    def pick_worker(self, data: st.DataObject) -> Place:
        """Any, but rather one of the frozen supervisor: its queue is where the rules are hard."""
        running = self.running_workers()
        near = [place for place in running if place.parent is self.model.frozen]
        return pick(data, near * 4 + running)

    def pick_team(self, data: st.DataObject) -> Place:
        """Any, but rather the frozen one."""
        known = self.teams()
        near = [team for team in known if team is self.model.frozen]
        return pick(data, near * 4 + known)
