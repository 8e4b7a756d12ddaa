"""Rounds that alternate, and the medians of their ratios."""

import gc
from collections.abc import Callable

import pytest

from bench.contest import (
    OURS,
    PYKKA,
    TRIO,
    Bench,
    Program,
    Scale,
    growth,
    kilobytes_each,
    microseconds,
    microseconds_each,
)
from bench.measure import Result, Spread, measure, turns, without_collector


def bench_of(programs: dict[str, Program], fewer: dict[str, int] | None = None) -> Bench:
    return Bench("savina.x", "x", "us", full=1000, quick=100, programs=programs, fewer=fewer or {})


def result_of(**samples: list[float]) -> Result:
    return Result(bench_of({}), 1000, samples)


def hear_nothing(_round: int, _contestant: str) -> None:
    pass


def test_every_contestant_runs_once_in_each_round() -> None:
    order = list(turns(["a", "b", "c"], rounds=4))
    for number in range(4):
        assert sorted(who for round_, who in order if round_ == number) == ["a", "b", "c"]


def test_each_round_begins_with_the_next_contestant() -> None:
    order = [who for _, who in turns(["a", "b", "c"], rounds=4)]
    assert order[::3] == ["a", "b", "c", "a"]


def test_figure_is_the_median_of_the_ratios_not_the_ratio_of_the_medians() -> None:
    result = result_of(supervisors=[1.0, 20.0, 3.0], trio=[10.0, 20.0, 1.0])
    assert result.ratio(TRIO) == Spread(median=1.0, low=0.1, high=3.0)
    assert result.value() == 3.0
    assert result.value(TRIO) == 10.0


def test_opponents_are_all_but_us() -> None:
    assert result_of(supervisors=[1.0], trio=[1.0], pykka=[1.0]).opponents == [TRIO, PYKKA]


def test_samples_stand_in_the_order_of_the_rounds() -> None:
    ours, theirs = iter([1.0, 2.0, 3.0]), iter([4.0, 5.0, 6.0])
    bench = bench_of({OURS: lambda _: next(ours), TRIO: lambda _: next(theirs)})
    result = measure(bench, Scale.QUICK, hear_nothing)
    assert result.samples == {OURS: [1.0, 2.0, 3.0], TRIO: [4.0, 5.0, 6.0]}
    assert (result.n, result.rounds) == (100, 3)


def test_progress_hears_of_every_program_before_it_runs() -> None:
    events: list[object] = []

    def program(who: str) -> Program:
        def run(_: int) -> float:
            events.append(who)
            return 1.0

        return run

    bench = bench_of({OURS: program(OURS), TRIO: program(TRIO)})
    measure(bench, Scale.QUICK, lambda number, who: events.append((number, who)))
    assert events[:4] == [(0, OURS), OURS, (0, TRIO), TRIO]
    assert len(events) == 2 * 2 * Scale.QUICK.rounds


@pytest.mark.parametrize(("scale", "n"), [(Scale.FULL, 100), (Scale.QUICK, 10)])
def test_slow_contestant_does_fewer_operations(scale: Scale, n: int) -> None:
    bench = bench_of({}, fewer={PYKKA: 10})
    assert bench.size(PYKKA, scale) == n
    assert bench.size(TRIO, scale) == 10 * n


def test_every_contestant_does_at_least_one_operation() -> None:
    assert bench_of({}, fewer={PYKKA: 5000}).size(PYKKA, Scale.FULL) == 1


def test_collector_is_off_during_a_program_and_on_after_it() -> None:
    was_on: list[bool] = []

    def program(n: int) -> float:
        was_on.append(gc.isenabled())
        return float(n)

    assert without_collector(program, 3) == 3.0
    assert was_on == [False]
    assert gc.isenabled()


def test_collector_is_on_after_a_program_that_fails() -> None:
    def program(_: int) -> float:
        raise ValueError("wrong work")

    with pytest.raises(ValueError, match="wrong work"):
        without_collector(program, 1)
    assert gc.isenabled()


@pytest.mark.parametrize(
    ("unit", "figure"),
    [(microseconds_each, 2.0), (microseconds, 400.0), (kilobytes_each, 2e-9), (growth, 100.0)],
)
def test_units_are_per_operation_or_of_the_whole(
    unit: Callable[[Program], Program], figure: float
) -> None:
    def seconds_or_bytes(n: int) -> float:
        return n * n * 1e-8

    assert unit(seconds_or_bytes)(200) == pytest.approx(figure)
