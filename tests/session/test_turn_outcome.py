"""The table of endings: what the agent says, and what we had asked for."""

import pytest

from avatar_actors.model.values import Outcome, Usage
from avatar_actors.session.turn_outcome import (
    EndRequest,
    ending_by_death,
    ending_of,
    ending_unheard,
)
from avatar_actors.wire.facts import TurnOver

WISH = EndRequest(Outcome.TIMED_OUT, "no end within 5 s")
SAID = [
    Outcome.COMPLETED,
    Outcome.REFUSED,
    Outcome.CANCELLED,
    Outcome.FAILED,
    Outcome.REJECTED,
]


@pytest.mark.parametrize("said", SAID)
def test_an_agent_that_was_asked_nothing_is_believed(said: Outcome) -> None:
    over = TurnOver(turn_id=1, outcome=said, stop_reason="why", error="e", usage=Usage())
    ending = ending_of(over, None)
    assert (ending.outcome, ending.reason, ending.stop_reason) == (said, "e", "why")


@pytest.mark.parametrize("said", [Outcome.COMPLETED, Outcome.REFUSED, Outcome.REJECTED])
def test_who_ended_before_the_interrupt_has_ended_so(said: Outcome) -> None:
    assert ending_of(TurnOver(turn_id=1, outcome=said), WISH).outcome is said


@pytest.mark.parametrize("said", [Outcome.CANCELLED, Outcome.FAILED])
def test_the_echo_of_an_interrupt_has_the_outcome_of_the_wish(said: Outcome) -> None:
    usage = Usage(output_tokens=3)
    ending = ending_of(TurnOver(turn_id=1, outcome=said, error="aborted", usage=usage), WISH)
    assert (ending.outcome, ending.reason, ending.usage) == (WISH.outcome, WISH.reason, usage)


def test_an_agent_that_did_not_acknowledge_is_said_to_be_restarted() -> None:
    ending = ending_unheard(WISH)
    assert ending.outcome is Outcome.TIMED_OUT
    assert "restarted" in ending.reason


def test_a_death_is_a_crash_unless_an_end_was_wished() -> None:
    assert ending_by_death("killed", None).outcome is Outcome.CRASHED
    wished = ending_by_death("killed", WISH)
    assert (wished.outcome, "killed" in wished.reason) == (Outcome.TIMED_OUT, True)


def test_a_turn_that_the_agent_ends_by_itself_says_so() -> None:
    ending = ending_of(TurnOver(turn_id=1, outcome=Outcome.CANCELLED), None)
    assert (ending.outcome, ending.reason) == (
        Outcome.CANCELLED,
        "the agent ended the turn by itself",
    )


def test_a_variable_that_the_agent_misses_is_told_with_the_way_to_give_it() -> None:
    over = TurnOver(
        turn_id=1,
        outcome=Outcome.FAILED,
        error="Missing environment variable: `MY_LLM_KEY`.",
    )
    assert ending_of(over, None).reason == (
        "Missing environment variable: `MY_LLM_KEY`; "
        "agents get few of the host's variables: give MY_LLM_KEY in `env`"
    )
