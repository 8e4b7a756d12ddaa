"""The guard against regressions: margins from runs, and what is worse than they allow."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.check import check, closing, figures, ratio
from bench.regression import (
    LEAST_MARGIN,
    Ratio,
    Verdict,
    missing,
    ratio_of,
    read_ratios,
    sentence,
    write_ratios,
)
from tests.thorough import for_conformance

KNOWN = {"a : b": Ratio(0.5, 1.4)}


def each_time(*ratios: float) -> Iterator[float]:
    yield from ratios


def test_margin_of_runs_that_agree_is_the_least() -> None:
    assert ratio_of([0.5, 0.5, 0.51]) == Ratio(0.5, LEAST_MARGIN)


def test_margin_grows_with_how_far_the_runs_lie_apart() -> None:
    assert ratio_of([0.4, 0.5, 0.6]) == Ratio(0.5, 1.8)


def test_ratios_are_read_as_they_were_written(tmp_path: Path) -> None:
    page = tmp_path / "ratios.json"
    write_ratios({"a : b": [0.4, 0.5, 0.6], "c : d": [2.0]}, page)
    assert read_ratios(page) == {"a : b": Ratio(0.5, 1.8), "c : d": Ratio(2.0, LEAST_MARGIN)}
    assert len(page.read_text("utf-8").splitlines()) == 4


def test_figure_at_its_limit_passes_at_the_first_try() -> None:
    verdicts = check({"a : b": lambda: 0.7}, KNOWN)
    assert [verdict.tries for verdict in verdicts] == [[0.7]]
    assert closing(verdicts, KNOWN) == ("\nNothing has become worse.", 0)


def test_figure_that_was_disturbed_once_passes() -> None:
    disturbed = each_time(9.0, 0.6)
    verdicts = check({"a : b": lambda: next(disturbed)}, KNOWN)
    assert (verdicts[0].tries, verdicts[0].is_worse) == ([9.0, 0.6], False)


def test_planted_slowdown_fails_in_every_try_and_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    verdicts = check({"a : b": lambda: 1.0}, KNOWN)
    words, code = closing(verdicts, KNOWN)
    assert code == 1
    assert "a : b is 1, 1, 1 in 3 tries; it was 0.5, at most 0.7 allowed" in words
    assert capsys.readouterr().out.splitlines()[0].endswith("WORSE")


@for_conformance
def test_slowdown_of_the_work_itself_is_seen_in_its_ratio() -> None:
    usual = ratio(lambda n: 5.0 * n, lambda n: 10.0 * n, 4)
    slowed = ratio(lambda n: 10.0 * n, lambda n: 10.0 * n, 4)
    assert [verdict.is_worse for verdict in check({"a : b": usual}, KNOWN)] == [False]
    assert [verdict.is_worse for verdict in check({"a : b": slowed}, KNOWN)] == [True]


def test_figure_that_nobody_wrote_down_fails_and_says_what_to_do() -> None:
    verdict = Verdict("new : b", None, [1.0])
    assert verdict.is_worse
    assert sentence(verdict).endswith("run `make bench-ratios`")


def test_figure_that_is_no_longer_measured_fails() -> None:
    assert missing(KNOWN, []) == ["a : b"]
    words, code = closing([], KNOWN)
    assert code == 1
    assert "no longer measured" in words


def test_what_is_guarded_is_what_was_written_down() -> None:
    known = read_ratios()
    assert list(known) == list(figures())
    assert all(each.margin >= LEAST_MARGIN for each in known.values())
