"""Durations in buckets of a fixed number, so that a long run needs no more memory than a short."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct, field

# From 10 µs, twenty buckets for each tenfold, to 1,000 s: each is 12 % wide.
_LEAST = 1e-5
_PER_DECADE = 20
_BUCKETS = 8 * _PER_DECADE + 1


class Histogram(Struct):
    """How many durations fell into each bucket, and the longest."""

    counts: list[int] = field(default_factory=lambda: [0] * _BUCKETS)
    longest: float = 0.0

    def add(self, seconds: float) -> None:
        """One more."""
        self.counts[bucket_of(seconds)] += 1
        self.longest = max(self.longest, seconds)

    @property
    def total(self) -> int:
        """How many there are."""
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
    """Where a duration belongs."""
    if seconds <= _LEAST:
        return 0
    return min(_BUCKETS - 1, math.ceil(math.log10(seconds / _LEAST) * _PER_DECADE))


def upper_bound(bucket: int) -> float:
    """The longest duration of a bucket."""
    return _LEAST * 10 ** (bucket / _PER_DECADE)


def percentile(numbers: Sequence[float], percent: float) -> float | None:
    """The smallest of the numbers that so many percent of them do not exceed; None of nothing."""
    ranked = sorted(numbers)
    if not ranked:
        return None
    return ranked[max(0, math.ceil(len(ranked) * percent / 100) - 1)]
