"""Whether something grows, told from samples that are noisy and alike."""

import random

from avatar_actors.chaos.report.statistics import Histogram, drift, percentile, slope


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
    false_alarms = sum(slope(*walk(0, seed)).is_growth for seed in range(100))
    assert false_alarms <= 2


def test_growth_is_seen_and_its_interval_holds_it() -> None:
    found = [slope(*walk(20, seed)) for seed in range(20)]
    assert sum(each.is_growth for each in found) >= 19
    held = sum(each.low is not None and each.low < 20 < (each.high or 0) for each in found)
    assert held >= 17


def staircase(growth: float, seed: int) -> tuple[list[float], list[float]]:
    """Samples of something that now and then steps up or down, and stays there."""
    dice = random.Random(seed)
    level, xs, ys = 100.0, list[float](), list[float]()
    for number in range(600):
        level += dice.choice((-2.0, 2.0)) if dice.random() < 0.05 else 0.0
        xs.append(number / 100)
        ys.append(level + growth * number / 100)
    return xs, ys


def test_a_walk_without_drift_is_seldom_taken_for_growth_where_a_line_would_be_often() -> None:
    walks = [staircase(0, seed) for seed in range(400)]
    assert sum(drift(*each).is_growth for each in walks) <= 4
    assert sum(slope(*each).is_growth for each in walks) > 10


def test_the_drift_of_a_walk_is_seen() -> None:
    found = [drift(*staircase(20, seed)) for seed in range(20)]
    assert all(each.is_growth for each in found)


def test_what_filled_up_at_the_beginning_and_then_stayed_is_no_growth() -> None:
    xs = [float(n) for n in range(600)]
    ys = [min(n, 100.0) + (n * 7919 % 13) for n in xs]
    assert not slope(xs, ys).is_growth


def test_too_few_samples_say_nothing() -> None:
    for found in (slope, drift):
        assert found([1, 2, 3], [1, 2, 3]).value is None
        assert found([], []).value is None


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
