"""What was said, in whole pairs."""

from sys import getsizeof

from hypothesis import given
from hypothesis import strategies as st

from avatar_actors.avatar.state.session_state import History
from avatar_actors.model.events import TurnEndedEvent
from avatar_actors.model.values import ToolCall


@given(st.integers(0, 20), st.integers(0, 40))
def test_it_holds_whole_pairs_and_never_more_than_the_limit(limit: int, turns: int) -> None:
    history = History(limit, 100_000)
    for turn in range(turns):
        history.add(f"q{turn}", TurnEndedEvent(turn_id=turn, text=f"a{turn}"), 1.0)
    said = history.messages()
    assert len(said) == len(history) <= limit
    assert [message.role for message in said] == ["user", "assistant"] * (len(said) // 2)
    kept = range(turns)[max(0, turns - limit // 2) :] if limit > 1 else range(0)
    assert [message.turn_id for message in said] == [turn for turn in kept for _ in "qa"]


def test_what_is_cleared_is_gone() -> None:
    history = History(10, 1000)
    history.add("q", TurnEndedEvent(turn_id=1, text="a"), 1.0)
    history.clear()
    assert history.messages() == ()


@given(st.lists(st.text(max_size=40), max_size=20), st.integers(0, 600))
def test_its_texts_take_no_more_memory_than_the_limit_but_for_the_latest_pair(
    answers: list[str], most: int
) -> None:
    history = History(200, most)
    for turn, answer in enumerate(answers):
        history.add("q", TurnEndedEvent(turn_id=turn, text=answer), 1.0)
    kept = [message.content for message in history.messages()]
    assert kept[1::2] == answers[len(answers) - len(kept) // 2 :]
    assert sum(map(getsizeof, kept)) <= most or kept == ["q", answers[-1]]
    # And no pair is given up that had room.
    more = answers[: len(answers) - len(kept) // 2][-1:]
    assert not more or sum(map(getsizeof, [*kept, "q", *more])) > most


def test_what_the_agent_said_unasked_stands_there_without_a_prompt() -> None:
    history = History(3, 1000)
    history.add("q", TurnEndedEvent(turn_id=1, text="a"), 1.0)
    history.add("a build has ended", TurnEndedEvent(turn_id=-1, text="It is green."), 2.0)
    said = [(each.role, each.content, each.unasked) for each in history.messages()]
    assert said[:2] == [("user", "q", False), ("assistant", "a", False)]
    assert said[2:] == [("assistant", "It is green.", True)]
    history.add("b build has ended", TurnEndedEvent(turn_id=-2, text="So is b."), 3.0)
    assert [each.content for each in history.messages()] == ["It is green.", "So is b."]


def test_an_answer_has_its_tool_calls_and_they_count_for_the_memory() -> None:
    call = ToolCall(tool_id="t", tool_name="Write", parameters={"content": ["x" * 2000]})
    history = History(10, 1000)
    history.add("q", TurnEndedEvent(turn_id=1, text="a", tool_calls=(call,)), 1.0)
    assert [each.tool_calls for each in history.messages()] == [(), (call,)]
    history.add("q", TurnEndedEvent(turn_id=2, text="b"), 2.0)
    assert [each.content for each in history.messages()] == ["q", "b"]
