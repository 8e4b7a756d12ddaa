"""What was said, in whole pairs."""

from sys import getsizeof

from hypothesis import given
from hypothesis import strategies as st

from avatar_actors.avatar.state.session_state import History


@given(st.integers(0, 20), st.integers(0, 40))
def test_it_holds_whole_pairs_and_never_more_than_the_limit(limit: int, turns: int) -> None:
    history = History(limit, 100_000)
    for turn in range(turns):
        history.add(turn, f"q{turn}", f"a{turn}", 1.0)
    said = history.messages()
    assert len(said) == len(history) <= limit
    assert [message.role for message in said] == ["user", "assistant"] * (len(said) // 2)
    kept = range(turns)[max(0, turns - limit // 2) :] if limit > 1 else range(0)
    assert [message.turn_id for message in said] == [turn for turn in kept for _ in "qa"]


def test_what_is_cleared_is_gone() -> None:
    history = History(10, 1000)
    history.add(1, "q", "a", 1.0)
    history.clear()
    assert history.messages() == ()


@given(st.lists(st.text(max_size=40), max_size=20), st.integers(0, 600))
def test_its_texts_take_no_more_memory_than_the_limit_but_for_the_latest_pair(
    answers: list[str], most: int
) -> None:
    history = History(200, most)
    for turn, answer in enumerate(answers):
        history.add(turn, "q", answer, 1.0)
    kept = [message.content for message in history.messages()]
    assert kept[1::2] == answers[len(answers) - len(kept) // 2 :]
    assert sum(map(getsizeof, kept)) <= most or kept == ["q", answers[-1]]
    # And no pair is given up that had room.
    more = answers[: len(answers) - len(kept) // 2][-1:]
    assert not more or sum(map(getsizeof, [*kept, "q", *more])) > most
