"""Whether something grows, told from samples that are noisy and alike."""

import random

from avatar_actors.chaos.histogram import Histogram, percentile
from avatar_actors.chaos.slope import slope

NOTHING = [0.0] * 600


def walk(growth: float, seed: int, noise: float = 1.0) -> tuple[list[float], list[float]]:
    """Samples of a level that wanders about its mean, and maybe grows."""
    dice = random.Random(seed)
    level, xs, ys = 0.0, list[float](), list[float]()
    for number in range(600):
        level = 0.9 * level + dice.gauss(0, noise)
        xs.append(number / 100)
        ys.append(100 + level + growth * number / 100)
    return xs, ys


def test_what_wanders_is_seldom_taken_for_growth() -> None:
    false_alarms = sum(slope(*walk(0, seed), NOTHING).is_growth for seed in range(100))
    assert false_alarms <= 8


def test_growth_is_seen_and_its_interval_holds_it() -> None:
    found = [slope(*walk(20, seed), NOTHING) for seed in range(20)]
    assert all(each.is_growth for each in found)
    held = sum(each.low is not None and each.low < 20 < (each.high or 0) for each in found)
    assert held >= 17


def test_what_filled_up_at_the_beginning_and_then_stayed_is_no_growth() -> None:
    xs = [float(n) for n in range(600)]
    ys = [min(n, 100.0) + (n * 7919 % 13) for n in xs]
    assert not slope(xs, ys, NOTHING).is_growth


def test_what_another_cause_explains_is_no_growth() -> None:
    kept = [min(256.0, 0.5 * n + n * 7919 % 11) for n in range(600)]
    for growth, is_growth in ((0.0, False), (20.0, True)):
        xs, wandering = walk(growth, seed=1)
        ys = [y + 5 * each for y, each in zip(wandering, kept, strict=True)]
        assert slope(xs, ys, kept).is_growth is is_growth
        assert (slope(xs, ys, NOTHING).value or 0) > 100


def test_too_few_samples_say_nothing() -> None:
    assert slope([1, 2, 3], [1, 2, 3], [0, 0, 0]).value is None


def test_a_histogram_knows_percentiles_within_a_bucket() -> None:
    histogram = Histogram()
    for milliseconds in range(1, 1001):
        histogram.add(milliseconds / 1000)
    median, high = histogram.percentile(50), histogram.percentile(99)
    assert median is not None
    assert high is not None
    assert 0.5 <= median <= 0.5 * 1.13
    assert 0.99 <= high <= 1.0
    assert histogram.total == 1000
    assert Histogram().percentile(50) is None


def test_percentiles_of_numbers_are_among_them() -> None:
    numbers = [float(n) for n in range(1, 201)]
    assert (percentile(numbers, 50), percentile(numbers, 99)) == (100.0, 198.0)
    assert percentile([], 50) is None
