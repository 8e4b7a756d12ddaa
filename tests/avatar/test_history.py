"""What was said, in whole pairs."""

from hypothesis import given
from hypothesis import strategies as st

from avatar_actors.avatar.state.session_state import History


@given(st.integers(0, 20), st.integers(0, 40))
def test_it_holds_whole_pairs_and_never_more_than_the_limit(limit: int, turns: int) -> None:
    history = History(limit, 1000)
    for turn in range(turns):
        history.add(turn, f"q{turn}", f"a{turn}", 1.0)
    said = history.messages()
    assert len(said) <= limit
    assert [message.role for message in said] == ["user", "assistant"] * (len(said) // 2)
    kept = range(turns)[max(0, turns - limit // 2) :] if limit > 1 else range(0)
    assert [message.turn_id for message in said] == [turn for turn in kept for _ in "qa"]


def test_what_is_cleared_is_gone() -> None:
    history = History(10, 1000)
    history.add(1, "q", "a", 1.0)
    history.clear()
    assert history.messages() == ()
