"""Who does which work when: the rounds alternate, and every result is kept with its round."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from bench.agents.program import Say
from bench.comparison.contestants import Contestant
from bench.comparison.worker import Failed, Found, Work
from bench.contest import Scale
from bench.measure import turns

# What hung once is asked once more, and no more: each time takes as long as patience lasts.
HANGING_ROUNDS = 2

Play: TypeAlias = Callable[[Work], Found | Failed]


@dataclass(frozen=True, slots=True)
class Plan:
    """How often a piece of work is done, and how much of it each time."""

    rounds: Mapping[Scale, int]
    n: Mapping[Scale, int]


def _plan(rounds: tuple[int, int], n: tuple[int, int]) -> Plan:
    full, quick = Scale.FULL, Scale.QUICK
    return Plan({full: rounds[0], quick: rounds[1]}, {full: n[0], quick: n[1]})


PLANS: Mapping[str, Plan] = {
    "stream": _plan((7, 3), (5_000, 1_000)),
    "memory": _plan((5, 1), (8, 2)),
    "kill": _plan((5, 1), (1, 1)),
    "calls": _plan((3, 1), (8, 4)),
    "host_killed": _plan((3, 1), (1, 1)),
    "closed": _plan((3, 1), (1, 1)),
}


@dataclass(frozen=True, slots=True)
class Entrant:
    """A contestant with the Python that has its library, or why there is none."""

    contestant: Contestant
    python: str
    missing: str = ""

    @property
    def name(self) -> str:
        return self.contestant.name


@dataclass(slots=True)
class Results:
    """What one wire's rounds gave: by task, contestant and round."""

    wire: str
    names: Sequence[str]
    scale: Scale
    of: dict[tuple[str, str], dict[int, Found | Failed]] = field(
        default_factory=dict[tuple[str, str], dict[int, Found | Failed]]
    )

    def add(self, task: str, name: str, number: int, result: Found | Failed) -> None:
        self.of.setdefault((task, name), {})[number] = result

    def found(self, task: str, name: str) -> dict[int, Found]:
        """The rounds that gave something."""
        results = self.of.get((task, name), {})
        return {number: each for number, each in results.items() if not isinstance(each, Failed)}

    def failed(self, task: str, name: str) -> list[str]:
        """Why the others gave nothing."""
        results = self.of.get((task, name), {}).values()
        return [each.why for each in results if isinstance(each, Failed)]

    def figures(self, task: str, name: str, key: str) -> dict[int, float]:
        """One of a task's figures, by round, where it was there."""
        found = self.found(task, name).items()
        return {number: each[key] for number, each in found if each.get(key) is not None}


def contest(wire: str, entrants: Sequence[Entrant], scale: Scale, play: Play, say: Say) -> Results:
    """All the work of one wire."""
    results = Results(wire, [each.name for each in entrants], scale)
    by_name = {each.name: each for each in entrants}
    for task, number, name in _order(list(by_name), scale):
        entrant = by_name[name]
        say(f"{wire}: {task}, round {number + 1} of {PLANS[task].rounds[scale]}, {name}")
        if entrant.missing:
            results.add(task, name, number, Failed(entrant.missing))
        elif not _hangs(results.found(task, name).values()):
            n = PLANS[task].n[scale]
            work = Work(entrant.contestant, entrant.python, wire, task, n)
            results.add(task, name, number, play(work))
    return results


def _order(names: list[str], scale: Scale) -> Iterator[tuple[str, int, str]]:
    for task, plan in PLANS.items():
        for number, name in turns(names, plan.rounds[scale]):
            yield task, number, name


def _hangs(found: Iterable[Found]) -> bool:
    return [each.get("told") for each in found].count("never") >= HANGING_ROUNDS
