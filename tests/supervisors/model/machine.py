"""Invents trees and what happens to them, one rule at a time, with the model at its side."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from supervisors import AutoShutdown, ExitKind, Restart, Strategy
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
from tests.supervisors.model.rules import Model, Place, runs_dynamic
from tests.supervisors.model.stage import Prediction, Script, perform
from tests.supervisors.model.trace import Trace

NAMES = ("a", "b", "c")
DEPTH = 3

picks = st.integers(0, 11)


@st.composite
def workers(draw: st.DrawFn, name: str, parent: AutoShutdown) -> Worker:
    restart = draw(st.sampled_from(Restart))
    cleanup, patience = draw(
        st.sampled_from([(0, INFINITE), (0, BRUTAL), (1, INFINITE), (1, 2), (3, 2)])
    )
    return Worker(name, restart, draw(significance(restart, parent)), cleanup, patience)


@st.composite
def teams(draw: st.DrawFn, name: str, parent: AutoShutdown, depth: int) -> Team:
    strategy = draw(st.sampled_from(Strategy))
    dynamic = strategy is Strategy.DYNAMIC
    auto_shutdown = AutoShutdown.NEVER if dynamic else draw(st.sampled_from(AutoShutdown))
    restart = draw(st.sampled_from(Restart))
    names = NAMES[: draw(st.integers(0, len(NAMES)))]
    # A dynamic team of teams would start them side by side: no order to predict.
    below = DEPTH if dynamic else depth + 1
    return Team(
        name,
        strategy,
        intensity=draw(st.integers(0, 3)) + (depth == 1),
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


class SupervisionMachine(RuleBasedStateMachine):
    """Every rule is a step of the script; the model says at once what must come of it.

    The model needs no task and no clock, so that rules can be chosen by how things stand. At the
    end the real tree plays the whole script in one run and is compared at each step.
    """

    def __init__(self) -> None:
        super().__init__()
        self.plan = Team("r")
        self.model = Model(self.plan)
        self.predictions: list[Prediction] = []

    @initialize(plan=teams("r", AutoShutdown.NEVER, 1))
    def plant(self, plan: Team) -> None:
        self.plan = plan
        self.model = Model(plan)

    def take(self, step: Step) -> None:
        self.note(step, self.model.play(step))

    def running_workers(self) -> list[Place]:
        places = self.model.root.walk()
        return [place for place in places if place.alive and isinstance(place.plan, Worker)]

    def known_teams(self) -> list[Place]:
        return [place for place in self.model.root.walk() if isinstance(place.plan, Team)]

    def pick_team(self, pick: int) -> Place:
        known = self.known_teams()
        return known[pick % len(known)]

    def pick_child(self, team: Place, pick: int) -> str:
        names = [*team.children, "nobody"]
        return names[pick % len(names)]

    @precondition(running_workers)
    @rule(pick=picks, how=st.sampled_from([ExitKind.CRASHED, ExitKind.NORMAL, ExitKind.SHUTDOWN]))
    def worker_ends(self, pick: int, how: ExitKind) -> None:
        running = self.running_workers()
        self.take(Finish(running[pick % len(running)].path, how))

    @precondition(running_workers)
    @rule(pick=picks)
    def worker_crashes(self, pick: int) -> None:
        self.worker_ends(pick, ExitKind.CRASHED)

    @precondition(lambda self: self.model.root.alive)
    @rule(pick=picks)
    def supervisor_crashes(self, pick: int) -> None:
        team = self.pick_team(pick)
        if team.alive and team.parent is not None:
            self.take(CrashTeam(team.path))

    @precondition(running_workers)
    @rule(
        pick=picks,
        outcomes=st.lists(
            st.sampled_from([ExitKind.CRASHED, ExitKind.IGNORED]), min_size=1, max_size=3
        ),
    )
    def next_starts_go_wrong(self, pick: int, outcomes: list[ExitKind]) -> None:
        running = self.running_workers()
        self.take(NextStarts(running[pick % len(running)].path, tuple(outcomes)))

    @rule(seconds=st.sampled_from([1, 2, 3, 5]))
    def time_passes(self, seconds: int) -> None:
        self.take(Wait(seconds))

    @precondition(lambda self: self.model.root.alive and self.model.frozen is None)
    @rule(pick=picks)
    def supervisor_freezes(self, pick: int) -> None:
        team = self.pick_team(pick)
        # What queued up at a dynamic supervisor is done side by side: no order to predict.
        if team.alive and not runs_dynamic(team):
            self.take(Freeze(team.path))

    @precondition(lambda self: self.model.frozen is not None)
    @rule()
    def supervisor_thaws(self) -> None:
        self.take(Thaw())

    @precondition(lambda self: self.model.root.alive)
    @rule(pick=picks, data=st.data(), name=st.sampled_from([*NAMES, "d"]))
    def child_is_added(self, pick: int, data: st.DataObject, name: str) -> None:
        team = self.pick_team(pick)
        level = DEPTH if runs_dynamic(team) else team.path.count("/") + 2
        plan = data.draw(plans(name, AutoShutdown.ANY_SIGNIFICANT, level), label="plan")
        self.take(Start(team.path, plan))

    @precondition(lambda self: self.model.root.alive)
    @rule(pick=picks, child=picks, what=st.sampled_from([Terminate, RestartChild, Delete]))
    def child_is_administered(
        self, pick: int, child: int, what: type[Terminate | RestartChild | Delete]
    ) -> None:
        team = self.pick_team(pick)
        self.take(what(team.path, self.pick_child(team, child)))

    @precondition(lambda self: self.model.root.alive)
    @rule(pick=picks, what=st.sampled_from([Count, Describe]))
    def supervisor_is_asked(self, pick: int, what: type[Count | Describe]) -> None:
        self.take(what(self.pick_team(pick).path))

    def teardown(self) -> None:
        if self.model.frozen is not None:
            self.take(Thaw())
        self.note(None, self.model.close())
        perform(Script(self.plan, self.predictions, self.model.raised))

    def note(self, step: Step | None, trace: Trace) -> None:
        model = self.model
        self.predictions.append(
            Prediction(step, model.now, trace, dict(model.answers), model.picture())
        )
