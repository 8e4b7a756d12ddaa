"""What people and programs read, and which bounds are said not to be met."""

import json

import pytest

from bench.contest import ASYNCIO, OURS, PYKKA, TRIO, Bench, Bound, MostOfAll, MostOfTrio, Scale
from bench.measure import Result
from bench.report import closing, heading, json_lines, row
from bench.verdict import misses


def result_of(bound: Bound = None, unit: str = "us", **samples: list[float]) -> Result:
    given = {OURS: [2.0, 4.0, 3.0], TRIO: [10.0, 10.0, 10.0], **samples}
    bench = Bench("savina.x", "x", unit, full=1000, quick=10, programs={}, bound=bound)
    return Result(bench, 1000, given)


def test_json_is_one_line_per_opponent_in_the_form_of_the_design() -> None:
    lines = list(json_lines(result_of(asyncio=[1.0, 1.0, 1.0])))
    assert lines == [
        '{"bench":"savina.x","value":3.0,"unit":"us","ratio":0.3,"against":"trio",'
        '"n":1000,"rounds":3}',
        '{"bench":"savina.x","value":3.0,"unit":"us","ratio":3.0,"against":"asyncio",'
        '"n":1000,"rounds":3}',
    ]


def test_json_numbers_have_four_digits() -> None:
    [line] = json_lines(result_of(supervisors=[1 / 3] * 3))
    figure = json.loads(line)
    assert (figure["value"], figure["ratio"]) == (0.3333, 0.03333)


def test_row_shows_all_contestants_the_ratio_its_spread_and_the_bound() -> None:
    result = result_of(MostOfTrio(0.5), asyncio=[1.0] * 3, pykka=[1500.0] * 3)
    cells = row(result).split()
    assert cells[:6] == ["x", "us", "3.00", "10.0", "1.00", "1,500"]
    assert cells[6:] == ["0.30", "0.20–0.40", "≤", "0.5", "0.00", "met"]


def test_row_without_a_contestant_has_a_dash() -> None:
    assert row(result_of()).split()[2:6] == ["3.00", "10.0", "–", "–"]


def test_numbers_stand_below_their_headings() -> None:
    last_heading = heading(Scale.FULL).splitlines()[-1]
    shown = row(result_of(asyncio=[1.0] * 3, pykka=[7.0] * 3))
    for name, number in [(OURS, "3.00"), (TRIO, "10.0"), (ASYNCIO, "1.00"), (PYKKA, "7.00")]:
        end = last_heading.index(name) + len(name)
        assert shown[:end].endswith(number)


@pytest.mark.parametrize(
    ("bound", "unit", "sentence"),
    [
        (MostOfTrio(0.29), "us", "savina.x takes 0.3 times plain trio's, at most 0.29 allowed"),
        (MostOfAll(2.9), "kB", "savina.x takes 3 kB, at most 2.9 kB allowed"),
    ],
)
def test_missed_bound_is_said_in_words(bound: Bound, unit: str, sentence: str) -> None:
    result = result_of(bound, unit)
    assert list(misses(result)) == [sentence]
    assert row(result).endswith("NOT met")
    assert sentence in closing([result], Scale.FULL)


@pytest.mark.parametrize("bound", [MostOfTrio(0.3), MostOfAll(3.0), None])
def test_bound_itself_is_met(bound: Bound) -> None:
    result = result_of(bound)
    assert not list(misses(result))
    assert "All bounds are met" in closing([result], Scale.FULL)


def test_pykka_is_to_be_beaten_where_it_takes_part() -> None:
    [miss] = misses(result_of(pykka=[3.0, 4.0, 3.0]))
    assert miss == "savina.x takes 1 times pykka's, which is to be beaten"
    assert not list(misses(result_of(pykka=[9.0] * 3)))


def test_quick_run_says_that_it_is_a_glance() -> None:
    assert "--quick is a glance" in closing([result_of(MostOfTrio(0.1))], Scale.QUICK)
    assert "--quick is a glance" not in closing([result_of(MostOfTrio(0.1))], Scale.FULL)


def test_no_line_is_wider_than_100_columns_even_with_long_numbers() -> None:
    long = [99_999.0] * 3
    result = result_of(MostOfAll(13.0), supervisors=long, trio=long, asyncio=long, pykka=long)
    for line in [*heading(Scale.FULL).splitlines(), row(result)]:
        assert len(line) <= 100
