"""The tail of stderr: bounded, whole lines, without secrets."""

from hypothesis import given
from hypothesis import strategies as st

from avatar_actors.model.redaction import Redactor
from avatar_actors.session.stdio import LastLines

SECRET = "sk-0a1b2c3d4e5f6g7h"
# Any six letters of it would be a hint.
HINTS = [SECRET[start : start + 6] for start in range(len(SECRET) - 5)]


@given(st.lists(st.binary(max_size=20)))
def test_any_slicing_gives_the_same_lines(slices: list[bytes]) -> None:
    sliced, whole = LastLines(Redactor([])), LastLines(Redactor([]))
    for part in slices:
        sliced.feed(part)
    whole.feed(b"".join(slices))
    assert list(sliced.lines) == list(whole.lines)
    assert sliced.count == whole.count == b"".join(slices).count(b"\n")


def test_it_keeps_the_last_lines_and_counts_all() -> None:
    tail = LastLines(Redactor([]))
    tail.feed(b"".join(b"line %d\n" % number for number in range(100_000)))
    assert tail.count == 100_000
    assert len(tail.lines) == 200
    assert tail.lines[-1] == "line 99999"


def test_an_endless_line_takes_little_memory() -> None:
    tail = LastLines(Redactor([]))
    for _ in range(1000):
        tail.feed(b"x" * 65536)
    tail.feed(b"\nnext\n")
    assert tail.lines[-1] == "next"
    assert max(map(len, tail.lines)) <= 4000


def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    tail = LastLines(Redactor([]))
    assert tail.feed(b"\xff\xfe\x00\r\n") == ["��\x00"]


def test_a_secret_is_hidden_wherever_the_pipe_was_cut() -> None:
    for cut in range(len(SECRET) + 2):
        tail, line = LastLines(Redactor([SECRET])), f"k={SECRET}.\n".encode()
        tail.feed(line[:cut])
        tail.feed(line[cut:])
        assert tail.lines[-1] == "k=[secret]."


def test_no_beginning_of_a_secret_is_left_where_a_long_line_is_cut() -> None:
    for before in range(1975, 2005):
        tail = LastLines(Redactor([SECRET]))
        tail.feed(b"-" * before + SECRET.encode())
        tail.feed(b" and more\n")
        assert not [hint for hint in HINTS if hint in tail.lines[-1]], before


def test_no_beginning_of_a_secret_is_left_where_a_line_of_secrets_is_cut() -> None:
    for before in range(len(SECRET)):
        tail = LastLines(Redactor([SECRET]))
        tail.feed(b"-" * before + SECRET.encode() * 300 + b"\n")
        assert not [hint for hint in HINTS if hint in tail.lines[-1]], before


def test_a_secret_of_several_lines_is_hidden_line_by_line() -> None:
    tail = LastLines(Redactor(["-----BEGIN KEY-----\nabcdefghijkl\n-----END KEY-----"]))
    tail.feed(b"loaded:\n-----BEGIN KEY-----\nabcdefghijkl\n-----END KEY-----\n")
    assert "abcdefghijkl" not in " ".join(tail.lines)


def test_a_short_line_of_a_secret_is_a_word_and_not_hidden() -> None:
    assert Redactor(["abcdefghijkl\nA\n=="]).hide("A == abcdefghijkl") == "A == [secret]"
