"""How a figure comes about: alternating rounds, and the median of the rounds' ratios.

One round runs every contestant once, and each round begins with another one, so that what disturbs
the machine for a while disturbs all of them. A ratio is taken within a round; a figure is the
median over the rounds. The collector runs before each program and is off while it is timed, as in
`timeit`: the garbage of one contestant is never paid for by the next. What was there before the
first program is frozen, so that these collections are short.
"""

import gc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

from bench.contest import OURS, Bench, Program, Scale

Progress: TypeAlias = Callable[[int, str], None]


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle of some numbers, and how far they lie apart."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, numbers: list[float]) -> "Spread":
        return cls(median(numbers), min(numbers), max(numbers))


@dataclass(frozen=True, slots=True)
class Result:
    """What the rounds of one bench gave: each contestant's figures, in the order of the rounds."""

    bench: Bench
    n: int
    samples: Mapping[str, list[float]]

    @property
    def rounds(self) -> int:
        return len(self.samples[OURS])

    @property
    def opponents(self) -> list[str]:
        return [contestant for contestant in self.samples if contestant != OURS]

    def value(self, contestant: str = OURS) -> float:
        """The contestant's median figure."""
        return median(self.samples[contestant])

    def ratio(self, opponent: str) -> Spread:
        """Ours to the opponent's, round by round."""
        pairs = zip(self.samples[OURS], self.samples[opponent], strict=True)
        return Spread.of([ours / theirs for ours, theirs in pairs])


def turns(contestants: list[str], rounds: int) -> Iterator[tuple[int, str]]:
    """Who runs when: all of them in each round, and each round begins with the next one."""
    for number in range(rounds):
        first = number % len(contestants)
        for contestant in contestants[first:] + contestants[:first]:
            yield number, contestant


def measure(bench: Bench, scale: Scale, progress: Progress) -> Result:
    """Run the bench. `progress` hears which round of which contestant comes next."""
    samples: dict[str, list[float]] = {contestant: [] for contestant in bench.programs}
    gc.freeze()
    try:
        for number, contestant in turns(list(bench.programs), scale.rounds):
            progress(number, contestant)
            n = bench.size(contestant, scale)
            samples[contestant].append(without_collector(bench.programs[contestant], n))
    finally:
        gc.unfreeze()
    return Result(bench, bench.size(OURS, scale), samples)


def without_collector(program: Program, n: int) -> float:
    """The program's figure, with nothing to collect before it and no collection during it."""
    gc.collect()
    gc.disable()
    try:
        return program(n)
    finally:
        gc.enable()
