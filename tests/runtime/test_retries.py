"""Sending again and starting again: only by choice, each time with an event, always one outcome."""

from typing import Any

import pytest
import trio

from avatar_actors import (
    AgentNeedsLogin,
    AgentNotReady,
    AvatarEvent,
    Budget,
    Outcome,
    Retry,
    RetryEvent,
    Timeouts,
    Turn,
    TurnEndedEvent,
)
from tests.runtime.home import PATIENCE, Home, all_of, script, until
from tests.thorough import for_conformance

REFUSED = {"error": {"code": 429, "message": "slow down: rate limit"}}
QUICK = Retry(max_attempts=3, backoff_base=0.01)
AGENTS = [
    "acp",
    *(pytest.param(name, marks=for_conformance) for name in ("claude", "gemini-headless")),
]


def refused_first(home: Home, times: int, *then: dict[str, Any]) -> str:
    """A prompt that is refused so many times, and then plays the rest."""
    counter = str(home.work.parent / "counter")
    return script({"times": times, "file": counter, "steps": [REFUSED]}, *then)


def sendings(home: Home) -> int:
    """How often the agent got that prompt."""
    return int((home.work.parent / "counter").read_text())


async def told_by(turn: Turn) -> tuple[list[RetryEvent], TurnEndedEvent]:
    events: list[AvatarEvent] = await all_of(turn)
    assert [event for event in events if isinstance(event, TurnEndedEvent)] == [turn.ended]
    assert turn.ended is not None
    return [event for event in events if isinstance(event, RetryEvent)], turn.ended


@pytest.mark.parametrize("agent", AGENTS)
async def test_a_prompt_refused_for_now_is_sent_again_and_answered(home: Home, agent: str) -> None:
    async with home.avatar(retry=QUICK, agent=agent) as aria:
        async with aria.turn(refused_first(home, 2, {"say": "at last"})) as turn:
            retries, ended = await told_by(turn)
        assert [(event.attempt, event.of) for event in retries] == [(2, 3), (3, 3)]
        assert "slow down" in retries[0].reason
        assert (ended.outcome, ended.text) == (Outcome.COMPLETED, "at last")
        assert sendings(home) == 3
        [asked, answered] = await aria.history()
        assert (asked.content[:7], answered.content) == ("SCRIPT:", "at last")


@pytest.mark.parametrize("agent", AGENTS)
async def test_after_the_last_attempt_the_refusal_is_the_outcome(home: Home, agent: str) -> None:
    async with home.avatar(retry=QUICK, agent=agent) as aria:
        async with aria.turn(refused_first(home, 99)) as turn:
            retries, ended = await told_by(turn)
        assert len(retries) == 2
        assert (ended.outcome, ended.can_retry) == (Outcome.FAILED, True)
        assert sendings(home) == 3


async def test_by_default_it_is_sent_once_and_the_caller_may_choose(home: Home) -> None:
    async with home.avatar() as aria:
        answer = await aria.chat(refused_first(home, 99))
        assert (answer.outcome, answer.can_retry) == (Outcome.FAILED, True)
        assert not answer
        assert sendings(home) == 1


@pytest.mark.parametrize(
    "step", [{"say": "Well, "}, {"tool": "Bash", "input": {"command": "deploy"}}]
)
async def test_nothing_is_sent_again_once_something_was_said_or_done(
    home: Home, step: dict[str, Any]
) -> None:
    file = str(home.work.parent / "counter")
    counter: dict[str, Any] = {"times": 0, "file": file, "steps": []}
    async with home.avatar(retry=QUICK) as aria:
        async with aria.turn(script(counter, step, REFUSED)) as turn:
            retries, ended = await told_by(turn)
        assert retries == []
        assert ended.outcome is Outcome.FAILED
        assert ended.can_retry is ("say" in step)
        assert sendings(home) == 1


async def test_an_error_that_waiting_does_not_help_is_not_tried_again(home: Home) -> None:
    async with home.avatar(retry=QUICK) as aria:
        async with aria.turn(script({"error": {"code": 400, "message": "bad"}})) as turn:
            retries, ended = await told_by(turn)
        assert (retries, ended.outcome, ended.can_retry) == ([], Outcome.FAILED, False)


PATIENT = Retry(max_attempts=2, backoff_base=60.0)


async def test_an_interrupt_in_the_pause_ends_the_turn_at_once(home: Home) -> None:
    async with home.avatar(retry=PATIENT) as aria:
        async with aria.turn(refused_first(home, 99)) as turn:
            await until(turn, RetryEvent)
            assert await turn.interrupt()
            assert (await turn.wait()).outcome is Outcome.CANCELLED
        assert sendings(home) == 1


async def test_a_timeout_in_the_pause_ends_the_turn_at_once(home: Home) -> None:
    async with home.avatar(retry=PATIENT) as aria:
        answer = await aria.chat(refused_first(home, 99), timeout=0.5)
        assert answer.outcome is Outcome.TIMED_OUT
        assert answer.duration_ms < 30_000
        assert sendings(home) == 1


async def test_stopping_the_avatar_in_the_pause_ends_the_turn_at_once(home: Home) -> None:
    async with home.avatar(retry=PATIENT) as aria, aria.turn(refused_first(home, 99)) as turn:
        await until(turn, RetryEvent)
        await aria.stop()
        assert (await turn.wait()).outcome is Outcome.CANCELLED


async def test_the_budget_is_asked_before_each_sending(home: Home) -> None:
    async with home.avatar(retry=QUICK, budget=Budget(turns=2)) as aria:
        async with aria.turn(refused_first(home, 99)) as turn:
            retries, ended = await told_by(turn)
        assert len(retries) == 2
        assert ended.outcome is Outcome.OVER_BUDGET
        assert sendings(home) == 2


async def test_what_refused_attempts_used_is_part_of_the_turn(home: Home) -> None:
    counter = str(home.work.parent / "counter")
    spend = {"usage": {"input": 5}, "cost": 0.25}
    again = {"times": 1, "file": counter, "steps": [REFUSED]}
    async with home.avatar(retry=QUICK) as aria:
        answer = await aria.chat(script(spend, again, {"say": "done"}))
        assert (answer.content, answer.cost_usd) == ("done", 0.5)
        assert (await aria.health()).total == answer.usage


async def test_an_agent_that_dies_in_the_pause_gets_the_prompt_in_its_next_life(
    home: Home,
) -> None:
    async with home.avatar(retry=Retry(max_attempts=2, backoff_base=1.0)) as aria:
        async with aria.turn(refused_first(home, 1, {"say": "here"})) as turn:
            await until(turn, RetryEvent)
            await home.kill(aria)
            answer = await turn.wait()
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "here")
        assert sendings(home) == 2


def failing_start(home: Home, times: int, *steps: dict[str, Any]) -> dict[str, Any]:
    return {"times": times, "file": str(home.work.parent / "starts"), "steps": [*steps]}


def starts(home: Home) -> int:
    return int((home.work.parent / "starts").read_text())


@pytest.mark.parametrize("fault", [{"exit": 3}, {"mute": True}], ids=["dies", "says nothing"])
async def test_a_start_that_was_not_ready_is_tried_again(home: Home, fault: dict[str, Any]) -> None:
    # On a busy machine a healthy start may be late, too: it is one more attempt then.
    limits = Timeouts(start=1.5 if "mute" in fault else 60)
    retry = Retry(max_attempts=30, backoff_base=0.01)
    async with home.avatar(failing_start(home, 2, fault), retry=retry, timeouts=limits) as aria:
        assert (await aria.chat("2+2")).content == "4"
        assert starts(home) >= 3


async def test_a_start_is_tried_once_by_default(home: Home) -> None:
    with pytest.raises(AgentNotReady, match="code 3"):
        async with home.avatar(failing_start(home, 9, {"exit": 3})):
            pass
    assert starts(home) == 1


async def test_a_start_that_needs_a_person_is_not_tried_again(home: Home) -> None:
    with pytest.raises(AgentNeedsLogin):
        async with home.avatar(failing_start(home, 9, {"auth": True}), retry=QUICK):
            pass
    assert starts(home) == 1


async def test_a_cancelled_start_ends_in_its_pause(home: Home) -> None:
    with trio.fail_after(PATIENCE):
        async with home.runtime() as runtime:
            options = home.options(failing_start(home, 9, {"exit": 3}), retry=PATIENT)
            with trio.move_on_after(3) as scope:
                await runtime.start("embedded", "aria", **options)
            assert scope.cancelled_caught
            assert runtime.avatars() == []
            assert (await runtime.start("embedded", "aria", **home.options())).name == "aria"
