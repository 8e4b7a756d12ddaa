"""Lines are wrapped between words, by the cells they take, whatever the width."""

from hypothesis import given
from hypothesis import strategies as st

from examples.scroll import wrapped
from examples.spans import Line, Span, Style, line_columns, without_colours
from examples.turn_view import reflowed


def rows(text: str, width: int, hang: int = 0) -> list[str]:
    return [without_colours(row) for row in wrapped((Span(text),), width, hang)]


def test_line_that_fits_is_one_row() -> None:
    assert rows("to be or not", 12) == ["to be or not"]


def test_line_is_broken_between_words() -> None:
    assert rows("to be or not to be", 8) == ["to be or", "not to", "be"]


def test_rows_after_the_first_are_indented() -> None:
    assert rows("you    to be or not", 12, hang=7) == ["you    to be", "       or", "       not"]


def test_word_that_fits_nowhere_is_cut() -> None:
    assert rows("a abcdefgh b", 4) == ["a", "abcd", "efgh", "b"]


def test_ink_stays_with_its_words() -> None:
    line: Line = (Span("good ", Style.GOOD), Span("bad", Style.BAD))
    assert wrapped(line, 4, 0) == [(Span("good", Style.GOOD),), (Span(""), Span("bad", Style.BAD))]


@given(st.text(st.sampled_from("ab 店é"), max_size=60), st.integers(8, 30))
def test_no_row_is_wider_than_the_screen_and_no_word_is_lost(text: str, width: int) -> None:
    found = wrapped((Span(text),), width, 4)
    assert all(line_columns(row) <= width for row in found)
    letters = "".join("".join(without_colours(row).split()) for row in found)
    assert letters == "".join(text.split())


def test_lines_that_an_editor_broke_are_joined() -> None:
    long = "x" * 70
    assert reflowed(f"{long}\nand so on\n\n.py: 3\n.md: 4") == [
        *(f"{long} and so on", "", ".py: 3", ".md: 4")
    ]
