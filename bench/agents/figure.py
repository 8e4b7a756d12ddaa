"""One measured figure: what it is held against, and how people and programs read it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TypeAlias

from bench.contest import Scale
from bench.measure import Spread

# A glance on a loaded machine: only what is far off counts.
LOOSENESS = 10.0


@dataclass(frozen=True, slots=True)
class AtMost:
    """The figure itself, in its unit, must not exceed this."""

    limit: float


@dataclass(frozen=True, slots=True)
class RatioAtMost:
    """The ratio to the opponent's figure must not exceed this."""

    limit: float


@dataclass(frozen=True, slots=True)
class NoneAtAll:
    """There must be none at all: a promise, so no machine is too loaded for it."""


Bound: TypeAlias = AtMost | RatioAtMost | NoneAtAll | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A line of the table. `ratio` is to the opponent `against`, round by round."""

    bench: str
    value: float
    unit: str
    n: int
    rounds: int = 1
    against: str = ""
    ratio: Spread | None = None
    bound: Bound = None
    about: str = ""


@dataclass(slots=True)
class Samples:
    """What the rounds gave, per contestant and in the order of the rounds."""

    of: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    def add(self, contestant: str, figure: float) -> None:
        self.of.setdefault(contestant, []).append(figure)

    def value(self, contestant: str) -> float:
        return median(self.of[contestant])

    def ratio(self, contestant: str, opponent: str) -> Spread:
        pairs = zip(self.of[contestant], self.of[opponent], strict=True)
        return Spread.of([ours / theirs for ours, theirs in pairs])


def percentile(numbers: Sequence[float], percent: float) -> float:
    """The smallest of the numbers that so many percent of them do not exceed."""
    ranked = sorted(numbers)
    return ranked[max(0, -(-len(ranked) * int(percent * 100) // 10_000) - 1)]


def miss(figure: Figure, scale: Scale) -> str:
    """A sentence if the figure's bound is not met, else nothing."""
    looseness = LOOSENESS if scale is Scale.QUICK else 1.0
    match figure.bound:
        case AtMost(limit) if figure.value > limit * looseness:
            return f"{figure.bench} is {_shown(figure.value)} {figure.unit}, at most {limit:g}"
        case RatioAtMost(limit) if figure.ratio and figure.ratio.median > limit * looseness:
            ratio = figure.ratio.median
            return f"{figure.bench} is {ratio:.3g} times {figure.against}, at most {limit:g}"
        case NoneAtAll() if figure.value:
            return f"{figure.bench} is {_shown(figure.value)} {figure.unit}, none allowed"
        case _:
            return ""


def json_line(figure: Figure) -> str:
    """The object of DESIGN; without an opponent `ratio` and `against` are null."""
    ratio = figure.ratio
    record: Mapping[str, object] = {
        "bench": figure.bench,
        "value": float(f"{figure.value:.4g}"),
        "unit": figure.unit,
        "ratio": float(f"{ratio.median:.4g}") if ratio else None,
        "against": figure.against or None,
        "n": figure.n,
        "rounds": figure.rounds,
    }
    return json.dumps(record, separators=(",", ":"))


def heading() -> str:
    """The names of the columns."""
    return _row(["figure", "value", "", "against", "ratio", "spread", "bound", "n"], "")


def row(figure: Figure, scale: Scale) -> str:
    """One line of the table."""
    ratio = figure.ratio
    cells = [
        figure.bench.partition(".")[2],
        _shown(figure.value),
        figure.unit,
        figure.against,
        _shown(ratio.median) if ratio else "",
        f"{_shown(ratio.low)}–{_shown(ratio.high)}" if ratio else "",
        _bound(figure),
        f"{figure.n:,}",
    ]
    mark = "NOT met" if miss(figure, scale) else "met" if figure.bound is not None else ""
    return _row(cells, mark)


def _bound(figure: Figure) -> str:
    match figure.bound:
        case AtMost(limit):
            return f"≤ {limit:g} {figure.unit}"
        case RatioAtMost(limit):
            return f"≤ {limit:g} ×"
        case NoneAtAll():
            return "none"
        case None:
            return ""


def _row(cells: Sequence[str], mark: str) -> str:
    # Names and units to the left, numbers to the right, the whole at most 100 wide.
    widths = (-22, 8, -6, -10, 6, 11, 11, 8)
    fitted = (
        cell.rjust(width) if width > 0 else cell.ljust(-width)
        for cell, width in zip(cells, widths, strict=True)
    )
    return f"{' '.join(fitted)} {mark}".rstrip()


def _shown(number: float) -> str:
    if number == int(number) and abs(number) < 1e9:
        return f"{int(number):,}"
    decimals = 2 if abs(number) < 10 else 1 if abs(number) < 100 else 0
    return f"{number:,.{decimals}f}"
