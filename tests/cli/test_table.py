"""Rows fit the terminal: aligned, cut, or one record after the other."""

import sys

from avatar_actors.cli.terminal.output import UNLIMITED, table_lines

COLUMNS = ("id", "title")
ROWS = (("a", "short"), ("bcd", "日本語 is wide and this is rather long"))


def lines(width: int) -> list[str]:
    assert not sys.stdout.isatty()
    return table_lines(COLUMNS, ROWS, "title", width)


def test_without_a_limit_nothing_is_cut() -> None:
    assert lines(UNLIMITED) == [
        "ID   TITLE",
        "a    short",
        "bcd  日本語 is wide and this is rather long",
    ]


def test_one_column_is_cut_by_cells() -> None:
    assert lines(24)[-1] == "bcd  日本語 is wide and…"


def test_where_too_little_is_left_each_row_is_a_record() -> None:
    assert lines(20) == [
        "a",
        "  title  short",
        "bcd",
        "  title  日本語 is",
        "         wide and",
        "         this is",
        "         rather long",
    ]


def test_a_long_word_of_a_record_is_chopped_by_cells() -> None:
    rows = (("a", "see /a/日本語/path"),)
    assert table_lines(COLUMNS, rows, "title", 17)[1:] == [
        "  title  see",
        "         /a/日本",
        "         語/path",
    ]


def test_what_is_not_there_is_left_out_of_a_record() -> None:
    rows = (("claude", "-", "m" * 30),)
    assert not any("path" in line for line in table_lines(("name", "path", "state"), rows, "", 20))
