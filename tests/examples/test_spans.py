"""Text is measured and cut by the cells it takes on the screen."""

import pytest

from examples.spans import (
    Line,
    Span,
    Style,
    clipped,
    columns,
    line_columns,
    padded,
    with_colours,
    without_colours,
)


@pytest.mark.parametrize(("text", "cells"), [("", 0), ("till", 4), ("店", 2), ("é", 1), ("●", 1)])
def test_columns_are_cells_not_characters(text: str, cells: int) -> None:
    assert columns(text) == cells


@pytest.mark.parametrize("width", range(12))
def test_clipped_line_never_takes_more_than_its_width(width: int) -> None:
    line: Line = (Span("店", Style.BOLD), Span("ab店"), Span("cd", Style.BAD), Span("ef"))
    assert line_columns(clipped(line, width)) <= width


def test_line_that_fits_is_left_alone() -> None:
    line: Line = (Span("ab"), Span("cd", Style.BAD))
    assert clipped(line, 4) is line


def test_cut_is_shown() -> None:
    assert without_colours(clipped((Span("abc"), Span("def")), 5)) == "abcd…"


def test_padding_counts_cells() -> None:
    assert padded("店", 4) == "店  "


def test_colours_end_with_their_span() -> None:
    line: Line = (Span("a", Style.BAD), Span("b"))
    assert with_colours(line) == "\x1b[1;31ma\x1b[0mb"
    assert without_colours(line) == "ab"
