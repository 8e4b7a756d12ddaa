import pytest
from rich.cells import cell_len

from avatar_actors.cli.repl.view import cut, fitted


def test_a_line_that_fits_stays_as_it_is() -> None:
    assert fitted("  a  b", 6) == ["  a  b"]
    assert fitted("", 6) == [""]


def test_a_long_line_breaks_at_words_and_goes_on_further_to_the_right() -> None:
    line = "  /help          show all of this to me"
    assert fitted(line, 30) == ["  /help          show all of", "    this to me"]


def test_a_word_that_is_too_long_is_cut_and_the_sign_of_the_prompt_is_not_left_alone() -> None:
    assert fitted(f"> {'x' * 50}", 30) == [f"> {'x' * 28}", f"  {'x' * 22}"]


@pytest.mark.parametrize("width", [1, 2, 7, 21, 40])
def test_nothing_is_wider_than_the_screen_and_nothing_is_lost(width: int) -> None:
    line = "> Příliš žluťoučký 🐎🐎🐎 kůň " + "úpěl" * 20
    parts = fitted(line, max(2, width))
    assert all(cell_len(part) <= max(2, width) for part in parts)
    assert "".join("".join(parts).split()) == "".join(line.split())


def test_a_cut_line_says_that_something_is_missing() -> None:
    assert cut("short", 5) == "short"
    assert cut("too long", 5) == "too …"
    assert cell_len(cut("🐎🐎🐎", 4)) <= 4
