"""Any text of an agent, in any pieces: nothing in it that a terminal would obey."""

import itertools
import sys
import unicodedata
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from avatar_actors.cli.terminal.text import (
    HIDDEN,
    PlainText,
    plain,
    terminal_safe,
    without_controls,
)

TEXTS = st.text(
    st.sampled_from("ab;31m[]P\\ \n\t\r\x07\x1b\x9b\x9c\x00ž\u202e\U0001f600"), max_size=60
)


TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def in_pieces(text: str, cuts: list[int], clean: Callable[[str], str]) -> str:
    ends = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    stream = PlainText(clean)
    said = [stream.add(text[a:b]) for a, b in itertools.pairwise(ends)]
    return "".join([*said, stream.end()])


@given(TEXTS, st.lists(st.integers(0, 60), max_size=6))
def test_pieces_show_no_control_and_the_same_as_the_whole(text: str, cuts: list[int]) -> None:
    for clean in (plain, without_controls):
        shown = in_pieces(text, cuts, clean)
        assert shown == clean(text)
        assert {each for each in shown if unicodedata.category(each) == "Cc"} <= {"\n", "\t"}


def test_low_08_people_see_no_text_that_another_character_turns_or_hides() -> None:
    hiding = "".join(map(chr, HIDDEN))
    every = map(chr, range(sys.maxunicode))
    turning = {each for each in every if unicodedata.bidirectional(each) in TURNING}
    assert turning <= set(hiding)
    assert plain(f"rm {hiding}x\u2028y") == "rm x y"
    assert terminal_safe(f"rm {hiding}x\u2028y") == "rm x y"
    assert without_controls(f"rm {hiding}x") == f"rm {hiding}x"


def test_codes_without_an_end_cost_no_time() -> None:
    assert plain("\x1b]" * 1_000_000 + "end") == "end"
    assert plain("\x1b[" + "0" * 1_000_000) == "0" * 1_000_000


def test_what_is_no_code_stays() -> None:
    assert (
        plain("\x1b[1;31mred\x1b[0m [31m \x1b]8;;http://x\x07link\x1b\\ \ud800")
        == "red [31m link ?"
    )
