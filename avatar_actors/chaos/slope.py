"""Whether something grows: a line through samples, and how sure its slope is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import NormalDist, fmean, median

from msgspec import Struct

# Caches, arenas and pools fill in the first part of a run; after it growth is a leak.
_WARM_UP = 0.5
_WINDOWS = 24
_FEWEST = 8


class Slope(Struct, frozen=True):
    """Per unit of x, with its 95 % interval. None: too little was seen to say anything."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def is_growth(self) -> bool:
        """Whether it is above 0 beyond doubt."""
        return self.low is not None and self.low > 0


def slope(xs: Sequence[float], ys: Sequence[float]) -> Slope:
    """Of the later part, by the medians of windows, with neighbours' likeness taken into account.

    Samples that follow each other are alike, which makes a plain interval far too narrow: it is
    widened as for as many independent samples as the lag-one correlation of the residuals leaves.
    """
    first = int(len(xs) * _WARM_UP)
    points = _windows(xs[first:], ys[first:])
    if len(points) < _FEWEST:
        return Slope()
    mean_x, mean_y = fmean(x for x, _ in points), fmean(y for _, y in points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    if spread == 0:
        return Slope()
    value = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    residuals = [y - mean_y - value * (x - mean_x) for x, y in points]
    error = math.sqrt(sum(r * r for r in residuals) / (len(points) - 2) / spread)
    alike = min(0.95, max(0.0, _correlation(residuals)))
    alike = min(0.95, alike + (1 + 4 * alike) / len(points))  # Kendall: it is found too small
    independent = max(3.0, len(points) * (1 - alike) / (1 + alike))
    error *= math.sqrt(len(points) / independent) * _student(independent - 2)
    return Slope(value, value - error, value + error)


def _windows(xs: Sequence[float], ys: Sequence[float]) -> list[tuple[float, float]]:
    size = max(1, len(xs) // _WINDOWS)
    starts = range(0, len(xs) - size + 1, size)
    return [(median(xs[s : s + size]), median(ys[s : s + size])) for s in starts]


def _correlation(residuals: Sequence[float]) -> float:
    whole = sum(r * r for r in residuals)
    return sum(a * b for a, b in pairwise(residuals)) / whole if whole else 0.0


def _student(freedom: float) -> float:
    """The 97.5 % quantile of Student's t, by Cornish and Fisher's expansion; 2 % off at 2."""
    z = NormalDist().inv_cdf(0.975)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    d = max(1.0, freedom)
    return z + first / d + second / d**2 + third / d**3
