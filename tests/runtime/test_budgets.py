"""Budgets of whole avatars and of a runtime, with real agents that tell what they cost."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import trio

from avatar_actors import (
    PRICES,
    Avatar,
    BridgeResponse,
    Budget,
    CostEvent,
    CostSource,
    DiagnosticEvent,
    Outcome,
    Price,
    RateLimit,
    Runtime,
    TextEvent,
    open_runtime,
)
from tests.runtime.home import PATIENCE, Home, all_of, script, until


def spend(cost: float, *rest: dict[str, object]) -> str:
    return script({"usage": {"input": 10, "output": 10}, "cost": cost}, *rest)


@asynccontextmanager
async def three_avatars(home: Home, budget: Budget) -> AsyncGenerator[tuple[Runtime, list[Avatar]]]:
    with trio.fail_after(PATIENCE):
        async with open_runtime(budget=budget) as runtime:
            names = ("aria", "bela", "cleo")
            yield (
                runtime,
                [await runtime.start("embedded", name, **home.options()) for name in names],
            )


async def test_three_avatars_share_a_dollar_and_overspend_only_what_is_in_flight(
    home: Home,
) -> None:
    answers: list[BridgeResponse] = []
    async with three_avatars(home, Budget(cost_usd=1.0)) as (runtime, avatars):

        async def chat_on(avatar: Avatar) -> None:
            while True:
                answer = await avatar.chat(spend(0.15, {"say": "done"}))
                answers.append(answer)
                if answer.outcome is Outcome.OVER_BUDGET:
                    return

        async with trio.open_nursery() as nursery:
            for avatar in avatars:
                nursery.start_soon(chat_on, avatar)
        total = (await runtime.spent()).cost_usd or 0.0
        costs = [answer.cost_usd or 0.0 for answer in answers]
        assert total == pytest.approx(sum(costs))
        # Each avatar stops at its first refusal, so what the last ones left may stay unspent.
        assert 0.5 < total <= 1.0 + 3 * 0.15
        refused = await avatars[0].chat(spend(0.15))
        while refused.outcome is Outcome.COMPLETED:
            refused = await avatars[0].chat(spend(0.15))
        refused = await avatars[0].chat(spend(0.15))
        assert refused.outcome is Outcome.OVER_BUDGET
        assert "runtime.raise_budget(Budget(cost_usd=…))" in refused.error
        await runtime.raise_budget(Budget(cost_usd=100.0))
        assert (await avatars[0].chat(spend(0.15))).success


async def test_the_report_that_uses_up_the_runtimes_budget_ends_the_turns_of_others(
    home: Home,
) -> None:
    async with three_avatars(home, Budget(cost_usd=1.0)) as (_, (aria, bela, _)):
        async with aria.turn(spend(0.1, {"say": "I work"}, {"wait": 60})) as slow:
            await until(slow, CostEvent)
            assert (await bela.chat(spend(0.95, {"wait": 60}))).outcome is Outcome.OVER_BUDGET
            ended = await slow.wait()
        assert ended.outcome is Outcome.OVER_BUDGET
        assert "the runtime's budget of 1 USD is used up" in ended.error


async def test_an_avatar_stopped_or_killed_in_its_turn_gives_its_reserve_back(home: Home) -> None:
    async with three_avatars(home, Budget(cost_usd=1.0, reserve_usd=1.0)) as (_, avatars):
        aria, bela, cleo = avatars
        async with aria.turn(script({"say": "x"}, {"wait": 60})) as turn:
            await until(turn, TextEvent)
            refused = await bela.chat("2+2")
            assert refused.outcome is Outcome.OVER_BUDGET
            assert "reserved for 1 turn(s) in flight" in refused.error
            await aria.stop()
        assert (await bela.chat(script({"say": "x"}, {"kill": 9}))).outcome is Outcome.CRASHED
        assert (await cleo.chat("2+2")).success


async def test_an_avatars_own_budget_is_raised_by_its_handle(home: Home) -> None:
    async with home.avatar(budget=Budget(cost_usd=0.5)) as aria:
        assert (await aria.chat(spend(0.5))).outcome in {Outcome.OVER_BUDGET, Outcome.COMPLETED}
        refused = await aria.chat(spend(0.1))
        assert refused.outcome is Outcome.OVER_BUDGET
        assert "avatar.raise_budget(Budget(cost_usd=…))" in refused.error
        await aria.raise_budget(Budget(cost_usd=1.0))
        assert (await aria.chat(spend(0.1))).success


TOKENS = {"input": 1_000_000, "output": 500_000, "cached": 2_000_000}


async def test_tokens_alone_cost_what_the_hosts_prices_say(home: Home) -> None:
    prices = {"gpt-5.5": Price(input=1.0, output=2.0, cached=0.5)}
    async with home.avatar(prices=prices, agent="codex-acp") as aria:
        answer = await aria.chat(script({"usage": TOKENS}, {"say": "done"}))
        assert answer.cost_source is CostSource.COMPUTED
        assert answer.cost_usd == pytest.approx(1.0 + 1.0 + 1.0)
        assert answer.token_usage["input"] == 1_000_000
        total = (await aria.health()).total
        assert (total.cost_usd, total.cost_source) == (answer.cost_usd, CostSource.COMPUTED)


async def test_the_price_is_that_of_the_model_in_use_also_after_it_was_changed(home: Home) -> None:
    async with home.avatar(agent="codex-acp", model="gpt-6.1-sol[low]") as aria:
        answer = await aria.chat(script({"usage": TOKENS}))
        price = PRICES["gpt-6.1-sol"]
        assert answer.cost_usd == pytest.approx(price.input + price.output / 2 + 2 * price.cached)
        await aria.call("set_model", {"model": "gpt-5.5[low]"})
        assert (await aria.chat(script({"usage": TOKENS}))).cost_usd is None


async def test_gemini_tells_too_little_for_more_than_an_estimate(home: Home) -> None:
    async with home.avatar(agent="gemini", model="gemini-2.5-pro") as aria:
        answer = await aria.chat(script({"usage": {"input": 1000, "output": 10}}))
        assert answer.cost_usd is not None
        assert answer.cost_source is CostSource.ESTIMATED
        await aria.call("set_model", {"model": "auto"})
        assert (await aria.chat(script({"usage": {"input": 1000}}))).cost_usd is None


async def test_a_model_without_a_price_costs_nobody_knows_what(home: Home) -> None:
    async with home.avatar(budget=Budget(cost_usd=1), agent="codex-acp") as aria:
        async with aria.turn(script({"usage": {"input": 5, "output": 5}})) as turn:
            events = await all_of(turn)
        assert turn.response().cost_usd is None
        assert turn.response().cost_source is CostSource.UNKNOWN
        [note] = [event.message for event in events if isinstance(event, DiagnosticEvent)]
        assert "cannot stop this agent" in note


async def test_a_reported_cost_stays_what_the_agent_said(home: Home) -> None:
    prices = {"embedded": Price(input=1e6, output=1e6, cached=1e6)}
    async with home.avatar(model="embedded", prices=prices, agent="claude") as aria:
        answer = await aria.chat(spend(0.25))
        assert (answer.cost_usd, answer.cost_source) == (0.25, CostSource.REPORTED)


async def test_a_prompt_that_waits_for_the_rate_limit_says_so_in_its_turn(home: Home) -> None:
    async with home.avatar(rate_limit=RateLimit(per_minute=1)) as aria:
        await aria.chat("2+2")
        async with aria.turn("2+2") as turn:
            note = await until(turn, DiagnosticEvent)
        assert note.source == "rate limit"
        assert "for the rate limit" in note.message


async def test_a_prompt_that_the_budget_refuses_has_no_duration(home: Home) -> None:
    async with home.avatar(budget=Budget(turns=1)) as aria:
        assert (await aria.chat("2+2")).duration_ms > 0
        refused = await aria.chat("2+2")
        assert (refused.outcome, refused.duration_ms) == (Outcome.OVER_BUDGET, 0)


async def test_a_turn_that_overspends_has_its_duration(home: Home) -> None:
    async with home.avatar(budget=Budget(cost_usd=0.1)) as aria:
        ended = await aria.chat(spend(0.25, {"wait": 60}))
        assert ended.outcome is Outcome.OVER_BUDGET
        assert ended.duration_ms > 0
