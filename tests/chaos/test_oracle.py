"""The oracle: each rule that it watches over, broken once."""

from collections.abc import Iterable, Sequence

import pytest
from msgspec.structs import replace

from avatar_actors import (
    AvatarEvent,
    EventsLostEvent,
    Outcome,
    TextEvent,
    ToolCall,
    ToolEvent,
    ToolStatus,
    TurnEndedEvent,
    TurnStartedEvent,
)
from avatar_actors.chaos.oracle import Breach, Breaches, Oracle
from avatar_actors.chaos.questions import NumberedPrompt

QUESTION = NumberedPrompt(avatar="a1", number=7, prompt="", pieces=3)
PIECES = ("<a1.7.0>", "<a1.7.1>", "<a1.7.2>")


def turn(
    *pieces: str, outcome: Outcome = Outcome.COMPLETED, text: str | None = None
) -> list[AvatarEvent]:
    """A whole turn, as the tracker would number it."""
    said = "".join(pieces) if text is None else text
    return [
        TurnStartedEvent(seq=1, turn_id=1),
        *(TextEvent(seq=2 + i, turn_id=1, text=piece) for i, piece in enumerate(pieces)),
        TurnEndedEvent(seq=2 + len(pieces), turn_id=1, outcome=outcome, text=said),
    ]


def judged(events: Iterable[AvatarEvent], question: NumberedPrompt = QUESTION) -> dict[Breach, int]:
    breaches = Breaches()
    oracle = Oracle("a1", breaches)
    oracle.asked(1, question)
    for event in events:
        oracle.heard(event)
    oracle.close()
    return dict(breaches.counts)


def test_a_whole_answer_breaks_nothing() -> None:
    assert judged(turn(*PIECES)) == {}


def test_pieces_may_come_in_any_slices() -> None:
    whole = "".join(PIECES)
    assert judged(turn(whole[:5], whole[5:9], whole[9:])) == {}


def test_what_a_crash_left_unsaid_is_no_loss() -> None:
    assert judged(turn(PIECES[0], outcome=Outcome.CRASHED)) == {}


def test_the_moment_of_a_fault_is_no_piece() -> None:
    assert judged(turn(PIECES[0], "[t=12345]", *PIECES[1:])) == {}


@pytest.mark.parametrize(
    ("events", "breach"),
    [
        (turn(*PIECES[:2]), Breach.EVENT_LOST),
        (turn(PIECES[0], PIECES[2]), Breach.EVENT_LOST),
        (turn(*PIECES, text="other words"), Breach.EVENT_LOST),
        (turn(*PIECES)[:1] + turn(*PIECES)[2:], Breach.EVENT_LOST),
        (turn(*PIECES)[:-1], Breach.EVENT_LOST),
        ([EventsLostEvent(count=1), *turn(*PIECES)], Breach.EVENT_LOST),
        (turn(PIECES[0], *PIECES), Breach.EVENT_DOUBLED),
        (turn(*PIECES)[:2] + turn(*PIECES)[1:], Breach.EVENT_DOUBLED),
        (turn("<a1.6.0>", *PIECES), Breach.MIXED),
        (turn("<a2.7.0>", *PIECES), Breach.MIXED),
        (turn("words of nobody", *PIECES), Breach.MIXED),
        ([TextEvent(seq=1, turn_id=9, text=PIECES[0])], Breach.MIXED),
        ([TurnStartedEvent(seq=1, turn_id=9)], Breach.MIXED),
        ([*turn(*PIECES), TurnEndedEvent(seq=6, turn_id=1)], Breach.ANSWERED_TWICE),
        ([*turn(*PIECES), ToolEvent(seq=6, turn_id=1)], Breach.AFTER_END),
        (
            [*turn(*PIECES, outcome=Outcome.CANCELLED), TextEvent(seq=6, turn_id=1, text="x")],
            Breach.AFTER_CANCEL,
        ),
    ],
)
def test_each_rule_is_watched_over(events: list[AvatarEvent], breach: Breach) -> None:
    assert breach in judged(events)


def test_events_out_of_order_are_noticed() -> None:
    first, second, third, fourth, end = turn(*PIECES)
    assert Breach.EVENT_REORDERED in judged([first, third, fourth, second, end])


def test_a_flood_is_counted() -> None:
    question = NumberedPrompt(avatar="a1", number=7, prompt="", pieces=3, flood=5)
    flood = "<a1.7.f>"
    assert judged(turn(*PIECES, *[flood] * 5), question) == {}
    assert Breach.EVENT_LOST in judged(turn(*PIECES, *[flood] * 4), question)
    assert Breach.EVENT_DOUBLED in judged(turn(*PIECES, *[flood] * 6), question)


def test_who_asked_must_get_an_outcome_and_the_same_text() -> None:
    breaches = Breaches()
    oracle = Oracle("a1", breaches)
    oracle.answered(1, "text", TurnEndedEvent(seq=5, text="text"))
    assert breaches.total == 0
    oracle.answered(1, "tex", TurnEndedEvent(seq=5, text="text"))
    oracle.answered(1, "text", None)
    assert breaches.counts == {Breach.EVENT_LOST: 1, Breach.PROMPT_LOST: 1}


def test_who_left_had_the_beginning_and_gets_an_outcome_too() -> None:
    breaches = Breaches()
    oracle = Oracle("a1", breaches)
    oracle.left(1, "te", TurnEndedEvent(seq=5, text="text"))
    assert breaches.total == 0
    oracle.left(1, "xt", TurnEndedEvent(seq=5, text="text"))
    oracle.left(1, "te", None)
    assert breaches.counts == {Breach.EVENT_LOST: 1, Breach.PROMPT_LOST: 1}


def test_a_model_may_say_what_it_likes_but_nothing_of_others() -> None:
    free = NumberedPrompt(avatar="a1", number=7, prompt="", is_exact=False)
    assert judged(turn("Certainly! <a1.7.0>"), free) == {}
    assert Breach.MIXED in judged(turn("Certainly! <a1.6.0>"), free)


WITH_A_TOOL = [
    TurnStartedEvent(seq=1, turn_id=1),
    *(TextEvent(seq=2 + i, turn_id=1, text=piece) for i, piece in enumerate(PIECES)),
    ToolEvent(seq=5, turn_id=1),
    TurnEndedEvent(seq=6, turn_id=1, text="".join(PIECES)),
]


def handed_over(given: Sequence[AvatarEvent]) -> dict[Breach, int]:
    """A turn with a tool, of which the caller was given these."""
    breaches = Breaches()
    oracle = Oracle("a1", breaches)
    oracle.asked(1, QUESTION)
    for event in WITH_A_TOOL:
        oracle.heard(event)
    for event in given:
        oracle.handed(1, event)
    text = "".join(event.text for event in given if isinstance(event, TextEvent))
    ended = WITH_A_TOOL[-1]
    assert isinstance(ended, TurnEndedEvent)
    oracle.answered(1, text, ended)
    return dict(breaches.counts)


def test_the_caller_is_handed_what_is_told_and_text_may_be_merged() -> None:
    started, *_, tool, end = WITH_A_TOOL
    merged = TextEvent(seq=2, turn_id=1, text="".join(PIECES))
    assert handed_over(WITH_A_TOOL) == {}
    assert handed_over([started, merged, tool, end]) == {}


def test_what_the_caller_is_not_handed_or_twice_or_out_of_order_is_noticed() -> None:
    started, first, second, third, tool, end = WITH_A_TOOL
    assert handed_over([started, first, second, third, end]) == {Breach.EVENT_LOST: 1}
    twice = [started, first, first, second, third, tool, end]
    assert Breach.EVENT_DOUBLED in handed_over(twice)
    assert Breach.EVENT_LOST not in handed_over(twice)
    assert Breach.EVENT_REORDERED in handed_over([started, second, first, third, tool, end])


def test_a_caller_that_was_told_of_a_loss_has_lost_nothing_in_silence() -> None:
    started, *pieces, _, end = WITH_A_TOOL
    assert handed_over([started, EventsLostEvent(count=1), *pieces, end]) == {}


def test_a_completed_turn_knows_how_its_tools_ended() -> None:
    question = NumberedPrompt(avatar="a1", number=7, prompt="", pieces=3, tools=1)
    *before, end = turn(*PIECES)
    for status, breach in (
        (ToolStatus.COMPLETED, {}),
        (ToolStatus.FAILED, {}),
        (ToolStatus.UNKNOWN, {Breach.EVENT_LOST: 1}),
    ):
        call = ToolCall(tool_id="read", tool_name="Read", status=status)
        assert judged([*before, replace(end, tool_calls=(call,))], question) == breach
    assert judged([*before, end], question) == {Breach.EVENT_LOST: 1}
