"""Counters, histograms and slopes of a run, of a fixed size; the verdict is left to `report`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import NormalDist, fmean, median, stdev

from msgspec import Struct, field

from avatar_actors import Outcome

# Caches, arenas and pools fill in the first part of a run; after it growth is a leak.
_WARM_UP = 0.5
_WINDOWS = 24
_FEWEST = 8
# Mean and slope.
_FITTED = 2
_NOTHING = 1e-12
# 99.5 % within. Three slopes are judged, in run after run: of 95 % one of 15 runs would be wrong.
_QUANTILE = 0.9975


class Slope(Struct, frozen=True):
    """Growth per unit of x with its 99.5 % interval; None if there are too few samples."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def is_growth(self) -> bool:
        """Whether the slope is certainly above 0."""
        return self.low is not None and self.low > 0


def slope(xs: Sequence[float], ys: Sequence[float]) -> Slope:
    """The slope of y by x in the later part, for a y that varies around a level.

    It uses the medians of windows. Neighbouring samples are alike, which makes a plain interval far
    too narrow: it is widened to that of as many independent samples as the lag-one correlation of
    the residuals leaves.
    """
    across, up = (_about_mean(_windows(_later(each))) for each in (xs, ys))
    count, spread = len(across), sum(x * x for x in across)
    if count < _FEWEST or spread <= _NOTHING:
        return Slope()
    value = sum(x * y for x, y in zip(across, up, strict=True)) / spread
    residuals = [y - value * x for x, y in zip(across, up, strict=True)]
    error = math.sqrt(sum(r * r for r in residuals) / (count - _FITTED) / spread)
    alike = min(0.95, max(0.0, _correlation(residuals)))
    alike = min(0.95, alike + (1 + 4 * alike) / count)  # Kendall: it is found too small
    independent = max(_FITTED + 1.0, count * (1 - alike) / (1 + alike))
    error *= math.sqrt(count / independent) * _student(independent - _FITTED)
    return Slope(value, value - error, value + error)


def drift(xs: Sequence[float], ys: Sequence[float]) -> Slope:
    """The slope of y by x in the later part, for a y that moves in steps and stays there: a walk.

    A walk has no level to return to, so a line through it would claim too much: its drift is the
    mean of its steps, from the median of one window to that of the next.
    """
    across, up = (_steps(_windows(_later(each))) for each in (xs, ys))
    count, length = len(up), sum(across)
    if count < _FEWEST or length <= _NOTHING:
        return Slope()
    value = sum(up) / length
    error = stdev(up) * math.sqrt(count) / length * _student(count - 1)
    return Slope(value, value - error, value + error)


def _later(numbers: Sequence[float]) -> Sequence[float]:
    return numbers[int(len(numbers) * _WARM_UP) :]


def _steps(numbers: Sequence[float]) -> list[float]:
    return [after - before for before, after in pairwise(numbers)]


def _windows(numbers: Sequence[float]) -> list[float]:
    size = max(1, len(numbers) // _WINDOWS)
    return [median(numbers[s : s + size]) for s in range(0, len(numbers) - size + 1, size)]


def _about_mean(numbers: Sequence[float]) -> list[float]:
    mean = fmean(numbers) if numbers else 0.0
    return [number - mean for number in numbers]


def _correlation(residuals: Sequence[float]) -> float:
    whole = sum(r * r for r in residuals)
    return sum(a * b for a, b in pairwise(residuals)) / whole if whole else 0.0


def _student(freedom: float) -> float:
    """The quantile of Student's t, by Cornish and Fisher's expansion: 1 % off at 5, more below."""
    z = NormalDist().inv_cdf(_QUANTILE)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    d = max(1.0, freedom)
    return z + first / d + second / d**2 + third / d**3


# From 10 µs, twenty buckets for each tenfold, to 1,000 s: each is 12 % wide.
_LEAST = 1e-5
_PER_DECADE = 20
_BUCKETS = 8 * _PER_DECADE + 1


class Histogram(Struct):
    """How many durations fell into each bucket, and the longest."""

    counts: list[int] = field(default_factory=lambda: [0] * _BUCKETS)
    longest: float = 0.0

    def add(self, seconds: float) -> None:
        """Counts a duration."""
        self.counts[bucket_of(seconds)] += 1
        self.longest = max(self.longest, seconds)

    @property
    def total(self) -> int:
        """How many durations were counted."""
        return sum(self.counts)

    def percentile(self, percent: float) -> float | None:
        """At most 12 % above the true one; None of nothing."""
        rank = math.ceil(self.total * percent / 100)
        for bucket, count in enumerate(self.counts):
            rank -= count
            if count and rank <= 0:
                return min(upper_bound(bucket), self.longest)
        return None


def bucket_of(seconds: float) -> int:
    """The bucket of a duration."""
    if seconds <= _LEAST:
        return 0
    return min(_BUCKETS - 1, math.ceil(math.log10(seconds / _LEAST) * _PER_DECADE))


def upper_bound(bucket: int) -> float:
    """The longest duration of a bucket."""
    return _LEAST * 10 ** (bucket / _PER_DECADE)


def percentile(numbers: Sequence[float], percent: float) -> float | None:
    """The smallest number that so many percent do not exceed; None if there are none."""
    ranked = sorted(numbers)
    if not ranked:
        return None
    return ranked[max(0, math.ceil(len(ranked) * percent / 100) - 1)]


_EXAMPLES = 20


class Prompts(Struct):
    """Every prompt is in one of these: answered, cancelled as asked, failed, refused or lost."""

    sent: int = 0
    answered: int = 0
    cancelled: int = 0
    failed: int = 0
    refused: int = 0
    lost: int = 0

    def __add__(self, other: Prompts) -> Prompts:
        """The sum."""
        sums = {name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__}
        return Prompts(**sums)

    def __sub__(self, other: Prompts) -> Prompts:
        """The prompts since `other`."""
        rest = {name: getattr(self, name) - getattr(other, name) for name in self.__struct_fields__}
        return Prompts(**rest)

    def add(self, outcome: Outcome) -> None:
        """Counts the outcome of a prompt."""
        if outcome is Outcome.COMPLETED:
            self.answered += 1
        elif outcome is Outcome.CANCELLED:
            self.cancelled += 1
        else:
            self.failed += 1


class RunCounters(Struct):
    """The counters that all avatars share; `in_slice` is `siblings` in the present slice."""

    baseline: Histogram = field(default_factory=Histogram)
    siblings: Histogram = field(default_factory=Histogram)
    in_slice: Histogram = field(default_factory=Histogram)
    disturbed: int = 0
    disturbances: list[str] = field(default_factory=list[str])
    given_up: int = 0
    restarts: int = 0
    is_baseline: bool = True

    def waited(self, seconds: float) -> None:
        """Counts how long an avatar without a fault took for its whole answer."""
        for waits in (self.baseline,) if self.is_baseline else (self.siblings, self.in_slice):
            waits.add(seconds)

    def disturb(self, words: str) -> None:
        """Counts an avatar without a fault whose prompt had a wrong outcome."""
        self.disturbed += 1
        if len(self.disturbances) < _EXAMPLES:
            self.disturbances.append(words)
