"""The oracle: each rule that it watches over, broken once."""

from collections.abc import Iterable

import pytest

from avatar_actors import (
    AvatarEvent,
    EventsLostEvent,
    Outcome,
    TextEvent,
    ToolEvent,
    TurnEndedEvent,
    TurnStartedEvent,
)
from avatar_actors.chaos.ledger import Breach, Breaches, Ledger
from avatar_actors.chaos.question import Question

QUESTION = Question(avatar="a1", number=7, prompt="", pieces=3)
PIECES = ("<a1.7.0>", "<a1.7.1>", "<a1.7.2>")


def turn(
    *pieces: str, outcome: Outcome = Outcome.COMPLETED, text: str | None = None
) -> list[AvatarEvent]:
    """A whole turn, as the hub would number it."""
    said = "".join(pieces) if text is None else text
    return [
        TurnStartedEvent(seq=1, turn_id=1),
        *(TextEvent(seq=2 + i, turn_id=1, text=piece) for i, piece in enumerate(pieces)),
        TurnEndedEvent(seq=2 + len(pieces), turn_id=1, outcome=outcome, text=said),
    ]


def judged(events: Iterable[AvatarEvent], question: Question = QUESTION) -> dict[Breach, int]:
    breaches = Breaches()
    ledger = Ledger("a1", breaches)
    ledger.asked(1, question)
    for event in events:
        ledger.heard(event)
    ledger.close()
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
    question = Question(avatar="a1", number=7, prompt="", pieces=3, flood=5)
    flood = "<a1.7.f>"
    assert judged(turn(*PIECES, *[flood] * 5), question) == {}
    assert Breach.EVENT_LOST in judged(turn(*PIECES, *[flood] * 4), question)
    assert Breach.EVENT_DOUBLED in judged(turn(*PIECES, *[flood] * 6), question)


def test_who_asked_must_get_an_outcome_and_the_same_text() -> None:
    breaches = Breaches()
    ledger = Ledger("a1", breaches)
    ledger.answered(1, "text", TurnEndedEvent(seq=5, text="text"))
    assert breaches.total == 0
    ledger.answered(1, "tex", TurnEndedEvent(seq=5, text="text"))
    ledger.answered(1, "text", None)
    assert breaches.counts == {Breach.EVENT_LOST: 1, Breach.PROMPT_LOST: 1}


def test_who_left_had_the_beginning_and_gets_an_outcome_too() -> None:
    breaches = Breaches()
    ledger = Ledger("a1", breaches)
    ledger.left(1, "te", TurnEndedEvent(seq=5, text="text"))
    assert breaches.total == 0
    ledger.left(1, "xt", TurnEndedEvent(seq=5, text="text"))
    ledger.left(1, "te", None)
    assert breaches.counts == {Breach.EVENT_LOST: 1, Breach.PROMPT_LOST: 1}


def test_a_model_may_say_what_it_likes_but_nothing_of_others() -> None:
    free = Question(avatar="a1", number=7, prompt="", is_exact=False)
    assert judged(turn("Certainly! <a1.7.0>"), free) == {}
    assert Breach.MIXED in judged(turn("Certainly! <a1.6.0>"), free)
