"""An answer without end is bounded in memory, and the bound is told; a deaf agent is named."""

from pathlib import Path

import pytest

from avatar_actors import (
    DiagnosticEvent,
    EventsLostEvent,
    EventStream,
    Outcome,
    SettingsError,
    TextEvent,
    ThinkingEvent,
    TurnEndedEvent,
)
from avatar_actors.avatar.state.session_state import History
from avatar_actors.avatar.state.turn_account import AnswerText
from tests.hostile.lines import END, one_avatar, orders, text, write

PIECE = "x" * 1000
ROUND = write(text(PIECE), times=50)


async def test_m8_the_text_of_a_turn_is_kept_up_to_its_bound_and_the_events_go_on(
    tmp_path: Path,
) -> None:
    async with one_avatar(tmp_path, max_answer=10_500, max_history_bytes=1_000) as avatar:
        async with avatar.turn(orders(ROUND, END)) as turn:
            events = [event async for event in turn]
        told = "".join(event.text for event in events if isinstance(event, TextEvent))
        assert told == PIECE * 50
        assert (turn.outcome, turn.text, turn.is_cut) == (Outcome.COMPLETED, "x" * 10_500, True)
        words = [event.message for event in events if isinstance(event, DiagnosticEvent)]
        assert ["max_answer (10500 characters)" in each for each in words] == [True]
        assert (await avatar.history())[-1].content == "x" * 10_500
        short = await avatar.chat(orders(write(text("hi")), END))
        assert (short.content, short.is_cut) == ("hi", False)
        assert [message.content for message in await avatar.history()][1:] == ["hi"]


async def test_m8_what_a_crash_leaves_and_a_schema_asks_for_keep_to_the_bound(
    tmp_path: Path,
) -> None:
    async with one_avatar(tmp_path, max_answer=1500) as avatar:
        answer = await avatar.chat(orders(ROUND, END), schema={})
        assert (answer.outcome, answer.is_cut) == (Outcome.FAILED, True)
        assert "max_answer" in answer.error
        crashed = await avatar.chat(orders(ROUND, {"die": True}))
        assert (crashed.outcome, crashed.content) == (Outcome.CRASHED, "x" * 1500)
        assert crashed.is_cut


@pytest.mark.parametrize("kind", ["text", "thoughts"])
def test_m8_what_waits_for_a_slow_reader_is_bounded(kind: str) -> None:
    stream = EventStream(capacity=10)
    big = "y" * 2**20
    for number in range(50):
        piece = TextEvent(text=big) if kind == "text" else ThinkingEvent(thought=big, block_id="b")
        stream.push([piece, DiagnosticEvent(message=str(number))] if number % 2 else [piece])
    stream.push([TurnEndedEvent()])
    events = stream.take_nowait()
    said = "".join(event.text for event in events if isinstance(event, TextEvent))
    said += "".join(event.thought for event in events if isinstance(event, ThinkingEvent))
    assert 0 < len(said) <= 17 * 2**20
    assert [event.count for event in events if isinstance(event, EventsLostEvent)] == [stream.lost]
    assert isinstance(events[-1], TurnEndedEvent)


def test_m8_an_answer_of_exactly_its_bound_is_whole() -> None:
    said = AnswerText(4)
    assert not said.add("abcd")
    assert (said.whole(), said.is_cut) == ("abcd", False)
    assert said.add("e")
    assert not said.add("f")
    assert (said.whole(), said.is_cut) == ("abcd", True)


def test_m8_the_history_lets_go_of_its_oldest_pairs_and_keeps_the_latest() -> None:
    history = History(100, 10)
    for turn, answer in enumerate(["aaaa", "bbbb", "c" * 50]):
        history.add("q", TurnEndedEvent(turn_id=turn, text=answer), 1.0)
    assert [message.content for message in history.messages()] == ["q", "c" * 50]


async def test_low12_an_agent_that_closed_its_input_is_named_as_such(tmp_path: Path) -> None:
    ask = '{"id":5,"method":"terminal/create","params":{}}'
    async with one_avatar(tmp_path) as avatar:
        answer = await avatar.chat(orders({"deaf": True}, write(ask, times=2), {"wait": True}))
        assert answer.outcome is Outcome.CRASHED
        assert answer.error.startswith("the agent closed its input")


async def test_low11_half_a_sign_in_the_context_is_an_error_at_the_call(tmp_path: Path) -> None:
    async with one_avatar(tmp_path) as avatar:
        with pytest.raises(SettingsError, match="context must be a dict; got one that JSON"):
            await avatar.chat("hello", context={"note": "\ud83d"})
