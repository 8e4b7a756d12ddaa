"""Long lines of the REPL: broken at words, indented, never wider than the screen."""

import pytest
from rich.cells import cell_len
from rich.text import Text

from avatar_actors.cli.display import Style
from avatar_actors.cli.repl.view import quoted
from avatar_actors.cli.terminal.rendering import Renderer

RENDERER = Renderer(Style(colour=False))


def fitted(line: str, width: int) -> list[str]:
    return RENDERER.wrapped(Text(line), width, 2)


def test_a_line_that_fits_stays_as_it_is() -> None:
    assert fitted("  a  b", 6) == ["  a  b"]
    assert fitted("", 6) == [""]


def test_a_long_line_breaks_at_words_and_goes_on_further_to_the_right() -> None:
    line = "  /help          show all of this to me"
    assert fitted(line, 30) == ["  /help          show all of", "    this to me"]


@pytest.mark.parametrize("width", [2, 7, 21, 40])
def test_nothing_is_wider_than_the_screen_and_nothing_is_lost(width: int) -> None:
    line = "> Příliš žluťoučký 🐎🐎🐎 kůň " + "úpěl" * 20
    parts = fitted(line, width)
    assert all(cell_len(part) <= width for part in parts)
    assert "".join("".join(parts).split()) == "".join(line.split())


def test_a_cut_line_says_that_something_is_missing() -> None:
    assert RENDERER.cut(Text("short"), 5) == "short"
    assert RENDERER.cut(Text("too long"), 5) == "too …"
    assert cell_len(RENDERER.cut(Text("🐎🐎🐎"), 4)) <= 4


def test_a_word_that_is_too_long_is_cut_and_the_sign_of_the_prompt_is_not_left_alone() -> None:
    assert quoted("x" * 50, 30, RENDERER) == [f"> {'x' * 28}", f"  {'x' * 22}"]
    assert quoted("a\n  b\n", 30, RENDERER) == ["> a", "    b"]
