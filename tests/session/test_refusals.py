"""Which refusals are for now, by the words of the agents; and how long the policy waits."""

import math

import pytest

from avatar_actors.avatar.state.submission import next_attempt, retry_of, time_for_attempts
from avatar_actors.model.settings import Retry
from avatar_actors.model.values import Outcome
from avatar_actors.session.messages import TurnEnding
from avatar_actors.session.turn_outcome import refusal_in


@pytest.mark.parametrize(
    "words",
    [
        "API Error: Request rejected (429) · slow down",
        "API Error: 529 Overloaded",
        'API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}',
        "fake error 429 (HTTP 429)",
        "slow down (HTTP 503)",
        "exceeded retry limit, last status: 429 Too Many Requests",
        "We are currently experiencing high demand, which may cause temporary errors.",
        '[API Error: {"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}]',
        "The model is overloaded. Please try again later.",
    ],
)
def test_a_refusal_for_now_is_recognised(words: str) -> None:
    assert refusal_in(words).is_recoverable


@pytest.mark.parametrize(
    "words",
    [
        "",
        "fake error 400 (HTTP 400)",
        "API Error: 401 Unauthorized",
        "API Error: 500 internal error",
        "line 429 of notes.txt is too long",
        "prompt is too long: 503 messages",
        "429 insufficient_quota: You exceeded your current quota, check your plan and billing",
        "Your credit balance is too low (HTTP 429)",
    ],
)
def test_what_waiting_does_not_help_is_not(words: str) -> None:
    assert not refusal_in(words).is_recoverable


@pytest.mark.parametrize(
    ("words", "pause"),
    [
        ("rate limit (HTTP 429). Please retry in 34.07s", 34.07),
        ("too many requests, try again in 500ms", 0.5),
        ("overloaded; Retry-After: 5", 5.0),
        ("rate limited, try again in 2 min", 120.0),
        ("overloaded", 0.0),
    ],
)
def test_the_pause_that_the_agent_asks_for_is_read(words: str, pause: float) -> None:
    assert refusal_in(words).retry_after == pytest.approx(pause)


def test_pauses_double_up_to_the_longest_and_end_with_the_attempts() -> None:
    retry = Retry(max_attempts=5, backoff_base=1.0, max_delay=5.0)
    events = [next_attempt(retry, attempt, "why") for attempt in range(1, 6)]
    assert [event and (event.attempt, event.of, event.delay) for event in events] == [
        (2, 5, 1.0),
        (3, 5, 2.0),
        (4, 5, 4.0),
        (5, 5, 5.0),
        None,
    ]


def test_an_agent_that_asks_for_more_time_gets_it_or_is_left_alone() -> None:
    retry = Retry(max_attempts=2, backoff_base=1.0, max_delay=10.0)
    event = next_attempt(retry, 1, "why", asked_for=7.0)
    assert event is not None
    assert event.delay == 7.0
    assert next_attempt(retry, 1, "why", asked_for=11.0) is None


def test_by_default_nothing_is_sent_again() -> None:
    ending = TurnEnding(outcome=Outcome.FAILED, is_recoverable=True)
    assert retry_of(Retry(), 1, ending) is None
    assert retry_of(Retry(max_attempts=2), 1, TurnEnding(outcome=Outcome.FAILED)) is None
    assert retry_of(Retry(max_attempts=2), 1, ending) is not None


def test_very_many_attempts_do_not_overflow() -> None:
    event = next_attempt(Retry(max_attempts=10_000), 9_000, "why")
    assert event is not None
    assert event.delay == 60.0
    assert time_for_attempts(Retry(max_attempts=3, max_delay=10), 5.0) == 35.0


@pytest.mark.parametrize(
    "wrong", [{"max_attempts": 0}, {"max_delay": -1}, {"backoff_base": math.inf}]
)
def test_a_policy_that_cannot_work_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"retry|max_attempts|max_delay"):
        Retry(**wrong)  # type: ignore[arg-type]
