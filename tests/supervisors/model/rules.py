"""The rules of supervision as a pure model: no task, no clock, only what must happen, in order.

Written from OTP's rules (the numbers in brackets are theirs in our list of them), not from the
package. One supervisor is at work at a time: that is what makes the order predictable. Who has a
restart ahead shows as `restarting`, the bystanders of a group restart that failed included.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from supervisors import AutoShutdown, ExitKind, Phase, Strategy
from tests.supervisors.model.book import (
    Asked,
    Exited,
    Place,
    Retry,
    goes_with,
    is_due,
    runs_dynamic,
    spell_count,
    wants_restart,
)
from tests.supervisors.model.plans import (
    BRUTAL,
    Count,
    CrashTeam,
    Delete,
    Describe,
    Finish,
    Freeze,
    NextStarts,
    Plan,
    Request,
    RestartChild,
    Start,
    Step,
    Team,
    Terminate,
    Thaw,
    Wait,
    Worker,
)
from tests.supervisors.model.trace import Event, Together, Trace


class Ending(Enum):
    """Who ended a life, and what for."""

    BY_ITSELF = "by itself"
    FAILED_START = "before it was ready"
    FOR_GOOD = "stopped"
    TO_COME_BACK = "stopped with its group"


class Refused(Exception):
    """A request that gets an error; its only argument is the error's name."""


class Leaves(Exception):
    """A supervisor ends by itself: it gave up, or its significant children ended."""


class Unpredictable(Exception):
    """Of those who start side by side with one that fails, who had begun is a matter of chance."""


class Model:
    """Plays steps and says what must have happened."""

    def __init__(self, plan: Team) -> None:
        self.now = 0.0
        self.answers: dict[int, str] = {}
        self.raised: str | None = None
        self.frozen: Place | None = None
        self.root = Place(plan, None, plan.name)
        self._outcomes: dict[str, list[ExitKind]] = {}
        self._asked = 0
        self._trace: list[Event | Together] = []
        self._begin(self.root)
        self._trace.clear()

    def play(self, step: Step) -> Trace:
        """Do the step, let everything come to rest, and tell what happened; or Unpredictable."""
        self._trace = []
        match step:
            case Wait(seconds=seconds):
                self.now += seconds
            case NextStarts(path=path, outcomes=outcomes):
                self._outcomes[path] = list(outcomes)
            case Finish(path=path, how=how):
                self._end(self.place(path), how, Ending.BY_ITSELF)
            case CrashTeam(path=path):
                self._stop_children(self.place(path))
                self._end(self.place(path), ExitKind.CRASHED, Ending.BY_ITSELF)
            case Freeze(path=path):
                self.frozen = self.place(path)
                self.frozen.frozen = True
            case Thaw():
                assert self.frozen is not None
                self.frozen.frozen = False
                self.frozen = None
            case _:
                self._ask(step)
        self._settle()
        return self._trace

    def close(self) -> Trace:
        """The host leaves its block."""
        self._trace = []
        if self.root.alive:
            self._stop(self.root, Ending.FOR_GOOD)
        return self._trace

    @property
    def may_be_unpredictable(self) -> bool:
        """Whether a start may fail."""
        return any(self._outcomes.values())

    def place(self, path: str) -> Place:
        """The place of that path; there must be one."""
        return next(place for place in self.root.walk() if place.path == path)

    def picture(self) -> list[str]:
        """Every place with its phase and life, in start order."""
        return [f"{p.path} {p.phase.value}, life {p.lives}" for p in self.root.walk()]

    # What happens to one life.

    def _begin(self, place: Place) -> ExitKind | None:
        """Start it [S1]; None when it became ready, else how that failed."""
        place.lives += 1
        place.alive = place.on_the_book = True
        place.held, place.retry = False, None
        self._tell(place, f"started {place.lives}")
        failure = self._begin_children(place) if isinstance(place.plan, Team) else self._draw(place)
        if failure is None:
            place.phase = Phase.RUNNING
            self._tell(place, f"ready {place.lives}")
        else:
            self._end(place, failure, Ending.FAILED_START)
            place.on_the_book = False
        return failure

    def _draw(self, place: Place) -> ExitKind | None:
        outcomes = self._outcomes.get(place.path)
        return outcomes.pop(0) if outcomes else None

    def _begin_children(self, team: Place) -> ExitKind | None:
        """All in order, or none: the first failure ends those before it in reverse [S1, S3]."""
        team.restarts, team.copies = [], 1
        team.children = {plan.name: Place(plan, team, plan.name) for plan in team.team.children}
        places = list(team.children.values())
        if team.team.strategy is Strategy.DYNAMIC:
            failures = self._side_by_side(self._begin, places)
            if ExitKind.CRASHED in failures and len(places) > 1:
                raise Unpredictable
        else:
            failures = list[ExitKind | None]()
            for place in places:
                failures.append(self._begin(place))
                if failures[-1] is ExitKind.CRASHED:
                    break
        if ExitKind.CRASHED in failures:
            self._stop_children(team)
            return ExitKind.CRASHED
        for place, failure in zip(places, failures, strict=True):
            if failure is ExitKind.IGNORED:
                self._ignored(place)
        return None

    def _stop(self, place: Place, ending: Ending) -> None:
        """Ask, wait as long as its patience says, kill [K1]."""
        how = ExitKind.SHUTDOWN
        if isinstance(place.plan, Worker):
            if place.plan.patience == BRUTAL or place.plan.cleanup > place.plan.patience:
                how = ExitKind.KILLED
            self.now += min(place.plan.cleanup, place.plan.patience)
        else:
            self._stop_children(place)
        self._end(place, how, ending)

    def _stop_children(self, team: Place) -> None:
        """One after the other in reverse start order [K3]; of a dynamic team all at once [R4]."""
        living = [place for place in reversed(team.children.values()) if place.alive]
        if team.team.strategy is Strategy.DYNAMIC:
            self._side_by_side(lambda place: self._stop(place, Ending.FOR_GOOD), living)
        else:
            for place in living:
                self._stop(place, Ending.FOR_GOOD)
        team.children = {}

    def _end(self, place: Place, how: ExitKind, ending: Ending) -> None:
        self._tell(place, f"{how.value} {place.lives}")
        place.alive = False
        comes_back = ending is Ending.TO_COME_BACK or (
            ending is Ending.BY_ITSELF and place.parent is not None and wants_restart(place, how)
        )
        self._close(place, Phase.RESTARTING if comes_back else Phase.STOPPED)
        if place.parent is None:
            self.raised = "InjectedCrash" if how is ExitKind.CRASHED else self.raised
        elif ending is Ending.BY_ITSELF:
            place.parent.queue.append(Exited(place, place.lives, how))

    def _close(self, place: Place, phase: Phase) -> None:
        place.phase = phase
        error = "ActorRestarting" if phase is Phase.RESTARTING else "ActorDown"
        for message in place.queue:
            if isinstance(message, Asked):
                self.answers[message.number] = error
        place.queue.clear()

    # What a supervisor does, one message at a time.

    def _settle(self) -> None:
        while busy := [place for place in self.root.walk() if place.has_work]:
            team = busy[0]
            try:
                self._handle(team, team.queue.popleft())
            except Leaves:
                self._stop_children(team)
                self._end(team, ExitKind.SHUTDOWN, Ending.BY_ITSELF)

    def _handle(self, team: Place, message: Exited | Retry | Asked) -> None:
        match message:
            case Exited(place=place, life=life, how=how):
                is_mine = team.children.get(place.name) is place
                if is_mine and place.on_the_book and place.lives == life:
                    self._on_exit(team, place, how)
            case Retry(place=place):
                if place.retry is message:
                    self._restart(team, place)
            case Asked(number=number, request=request):
                try:
                    self.answers[number] = self._answer(team, request)
                except Refused as refusal:
                    self.answers[number] = str(refusal)

    def _on_exit(self, team: Place, place: Place, how: ExitKind) -> None:
        """The table of restart types [1.3], then the significant children [A1]."""
        place.on_the_book = False
        if wants_restart(place, how):
            self._restart(team, place)
            return
        self._rest(place)
        others = [other for other in team.children.values() if other is not place]
        still_there = any(p.plan.significant and (p.on_the_book or is_due(p)) for p in others)
        mode = team.team.auto_shutdown
        if place.plan.significant and (
            mode is AutoShutdown.ANY_SIGNIFICANT
            or (mode is AutoShutdown.ALL_SIGNIFICANT and not still_there)
        ):
            raise Leaves

    def _restart(self, team: Place, victim: Place) -> None:
        """Count it, stop who goes with it, start them in order; a failure is tried again later."""
        self._count_restart(team, victim)
        self._hold(victim)
        for place in reversed(goes_with(team, victim)):
            if place.alive:
                self._stop(place, Ending.FOR_GOOD if place.is_temporary else Ending.TO_COME_BACK)
            if place.on_the_book:
                self._hold(place)
            place.retry = None
            if place.is_temporary:
                self._forget(place)
        for place in goes_with(team, victim):
            failure = self._begin(place)
            if failure is ExitKind.IGNORED:
                self._ignored(place)
            elif failure is not None:
                self._hold(place)
                place.retry = Retry(place)
                team.queue.append(place.retry)
                return

    def _count_restart(self, team: Place, victim: Place) -> None:
        """Before it is tried; one exactly `period` old still counts [I1, I2]."""
        oldest = self.now - team.team.period
        team.restarts = [time for time in team.restarts if time >= oldest]
        if len(team.restarts) >= team.team.intensity:
            self._tell(team, f"gave up on {victim.path}")
            if team.parent is None:
                self.raised = "SupervisorGaveUp"
            raise Leaves
        team.restarts.append(self.now)
        self._tell(victim, "restarting in 0 s")

    def _hold(self, place: Place) -> None:
        place.on_the_book = False
        place.held = True
        place.phase = Phase.RESTARTING

    def _rest(self, place: Place) -> None:
        """No life, and none is coming [1.3]."""
        if place.is_temporary or runs_dynamic(place.parent):
            self._forget(place)
        else:
            place.on_the_book, place.held, place.retry = False, False, None
            self._close(place, Phase.STOPPED)

    _ignored = _rest  # [S2]

    def _forget(self, place: Place) -> None:
        assert place.parent is not None
        place.on_the_book, place.retry = False, None
        del place.parent.children[place.name]

    # What a supervisor answers [1.9].

    def _ask(self, request: Request) -> None:
        self._asked += 1
        team = self.place(request.path)
        if team.alive:
            team.queue.append(Asked(self._asked, request))
        else:
            is_coming = team.phase is Phase.RESTARTING
            self.answers[self._asked] = "ActorRestarting" if is_coming else "ActorDown"

    def _answer(self, team: Place, request: Request) -> str:
        match request:
            case Count():
                return spell_count(team)
            case Describe():
                places = reversed(team.children.values())
                return ", ".join(f"{place.name} {place.phase.value}" for place in places)
            case Start(plan=plan):
                self._add(team, plan)
            case Terminate(child=name):
                self._terminate(team, child_of(team, name))
            case RestartChild(child=name):
                place = self._resting(team, name)
                failure = self._begin(place)
                if failure is ExitKind.CRASHED:
                    self._rest(place)
                    raise Refused("StartFailed")
                if failure is ExitKind.IGNORED:
                    self._ignored(place)
            case Delete(child=name):
                self._forget(self._resting(team, name))
        return "ok"

    def _add(self, team: Place, plan: Plan) -> None:
        """Append it [R5]; a failure discards the spec."""
        if plan.significant and team.team.auto_shutdown is AutoShutdown.NEVER:
            raise Refused("SpecError")
        name = self._free_name(team, plan)
        place = team.children[name] = Place(plan, team, name)
        failure = self._begin(place)
        if failure is ExitKind.IGNORED:
            self._ignored(place)
        elif failure is not None:
            self._forget(place)
            raise Refused("StartFailed")

    def _free_name(self, team: Place, plan: Plan) -> str:
        limit = team.team.max_children
        if limit is not None and len(team.children) >= limit:
            raise Refused("TooManyChildren")
        name = plan.name
        while name in team.children:
            if not runs_dynamic(team):
                is_alive = team.children[name].on_the_book
                raise Refused("AlreadyStarted" if is_alive else "AlreadyPresent")
            team.copies += 1
            name = f"{plan.name}#{team.copies}"
        return name

    def _terminate(self, team: Place, place: Place) -> None:
        """Stop it, or cancel its pending restart, and with that the group's [T3]."""
        was_pending = place.retry is not None
        if place.alive:
            self._stop(place, Ending.FOR_GOOD)
        self._rest(place)
        if was_pending and team.team.strategy is not Strategy.ONE_FOR_ONE:
            for held in [other for other in team.children.values() if other.held]:
                self._rest(held)

    def _resting(self, team: Place, name: str) -> Place:
        if runs_dynamic(team):
            raise Refused("WrongStrategy")
        place = child_of(team, name)
        if place.on_the_book:
            raise Refused("ChildRunning")
        if is_due(place):
            raise Refused("ChildRestarting")
        return place

    # The trace.

    def _tell(self, place: Place, what: str) -> None:
        self._trace.append(Event(self.now, place.path, what))

    def _side_by_side(
        self, act: Callable[[Place], ExitKind | None], places: list[Place]
    ) -> list[ExitKind | None]:
        outer, begun, end = self._trace, self.now, self.now
        parts: list[Trace] = []
        results: list[ExitKind | None] = []
        for place in places:
            self._trace, self.now = [], begun
            results.append(act(place))
            parts.append(self._trace)
            end = max(end, self.now)
        self._trace, self.now = outer, end
        if parts:
            self._trace.append(Together(tuple(parts)))
        return results


def child_of(team: Place, name: str) -> Place:
    if name not in team.children:
        raise Refused("ChildNotFound")
    return team.children[name]
