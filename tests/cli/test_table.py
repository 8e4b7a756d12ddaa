"""Rows fit the terminal: aligned, cut, or one record after the other."""

from avatar_actors.cli.terminal.output import Table, wrapped

ROWS = (("a", "short"), ("bcd", "日本語 is wide and this is rather long"))
TABLE = Table(columns=("id", "title"), rows=ROWS, cut="title")


def texts(table: Table, width: int | None) -> list[str]:
    return [line.text for line in table.lines(width)]


def test_without_a_width_nothing_is_cut() -> None:
    assert texts(TABLE, None) == [
        "ID   TITLE",
        "a    short",
        "bcd  日本語 is wide and this is rather long",
    ]


def test_one_column_is_cut_by_cells() -> None:
    assert texts(TABLE, 24)[-1] == "bcd  日本語 is wide and…"


def test_where_too_little_is_left_each_row_is_a_record() -> None:
    assert texts(TABLE, 20) == [
        "a",
        "  title  short",
        "bcd",
        "  title  日本語 is",
        "         wide and",
        "         this is",
        "         rather long",
    ]
    assert [line.is_heading for line in TABLE.lines(20)][:3] == [True, False, True]


def test_a_long_word_is_chopped_by_cells() -> None:
    assert wrapped("see /a/日本語/path", 8) == ["see", "/a/日本", "語/path"]


def test_what_is_not_there_is_left_out_of_a_record() -> None:
    table = Table(columns=("name", "path", "state"), rows=(("claude", "-", "m" * 30),))
    assert not any("path" in line for line in texts(table, 20))
