"""The state of the model: the places of a tree, and what one can tell from them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from supervisors import ExitKind, Phase, Restart, Strategy
from tests.supervisors.model.plans import Plan, Request, Team

ORDERLY = (ExitKind.NORMAL, ExitKind.SHUTDOWN)


@dataclass(frozen=True)
class Exited:
    """A child told its supervisor, by dying, that this life of it is over."""

    place: Place
    life: int
    how: ExitKind


@dataclass(frozen=True, eq=False)
class Retry:
    """A supervisor told itself to try a failed restart again."""

    place: Place


@dataclass(frozen=True)
class Asked:
    """A request that waits for its answer."""

    number: int
    request: Request


class Place:
    """A child's place in the tree and in the book of its supervisor."""

    def __init__(self, plan: Plan, parent: Place | None, name: str) -> None:
        self.plan = plan
        self.parent = parent
        self.name = name
        self.path: str = f"{parent.path}/{name}" if parent else name
        self.phase = Phase.STOPPED
        self.lives = 0
        self.alive = False
        # In its supervisor's book it runs until the supervisor has handled its exit.
        self.on_the_book = False
        self.held = False
        self.retry: Retry | None = None
        self.frozen = False
        self.children: dict[str, Place] = {}
        self.queue: deque[Exited | Retry | Asked] = deque()
        self.restarts: list[float] = []
        self.copies = 1

    def __repr__(self) -> str:
        return self.path

    def walk(self) -> Iterator[Place]:
        yield self
        for child in self.children.values():
            yield from child.walk()

    @property
    def team(self) -> Team:
        assert isinstance(self.plan, Team)
        return self.plan

    @property
    def is_temporary(self) -> bool:
        return self.plan.restart is Restart.TEMPORARY

    @property
    def has_work(self) -> bool:
        return self.alive and not self.frozen and bool(self.queue)


def wants_restart(place: Place, how: ExitKind) -> bool:
    """The table [1.3]."""
    match place.plan.restart:
        case Restart.PERMANENT:
            return True
        case Restart.TRANSIENT:
            return how not in ORDERLY
        case Restart.TEMPORARY:
            return False


def goes_with(team: Place, victim: Place) -> list[Place]:
    """Who is stopped and started together with the victim, in start order [R1 to R4]."""
    places = list(team.children.values())
    match team.team.strategy:
        case Strategy.ONE_FOR_ALL:
            return places
        case Strategy.REST_FOR_ONE:
            return places[places.index(victim) :]
        case Strategy.ONE_FOR_ONE | Strategy.DYNAMIC:
            return [victim]


def is_due(place: Place) -> bool:
    """Whether its supervisor means to start it again."""
    return place.held or place.retry is not None


def runs_dynamic(team: Place | None) -> bool:
    return team is not None and team.team.strategy is Strategy.DYNAMIC


def spell_count(team: Place) -> str:
    places = team.children.values()
    active = sum(place.alive for place in places)
    teams = sum(isinstance(place.plan, Team) for place in places)
    return (
        f"{len(places)} specs, {active} active, {teams} supervisors, {len(places) - teams} workers"
    )
