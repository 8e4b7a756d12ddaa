"""Budgets of the real agents: used up, the next prompt does not reach the model."""

from pathlib import Path

import pytest

from avatar_actors import Budget, CostSource, DiagnosticEvent, Outcome, Price
from tests.model_api.recorded import ModelRequest
from tests.model_api.script import Hang, Reply, Script, Shell, Text, Usage
from tests.real_agents.ability import Ability, Found
from tests.real_agents.conftest import Finds
from tests.real_agents.subject import Agent, RealSubject, open_subject

DEAR = Usage(input=50_000, output=1_000)
OF_A_CALL = DEAR.input + DEAR.output
TOO_FEW = 1_000
# For those who tell tokens alone; what an agent itself says of its cost goes before.
OWN_PRICE = Price(input=2.0, output=8.0, cached=0.2)
TELL_EACH_CALL = {"claude", "qwen"}
# opencode 1.18.33 tells of a turn what its last call used.
TELL_THE_LAST_CALL = {"opencode"}
MONEY = {
    CostSource.REPORTED: "money as it tells it",
    CostSource.COMPUTED: "money by the price of its model",
    CostSource.ESTIMATED: "money estimated by the price of its model",
}


def spending(after_the_tool: Reply) -> Script:
    """Each call of the model is dear; the turn `look around` has two."""

    def reply(request: ModelRequest) -> Reply:
        if "look around" not in request.prompt:
            return [Text("Spent."), DEAR]
        return [Shell("pwd"), DEAR] if request.round == 0 else after_the_tool

    return reply


def reached_the_model(subject: RealSubject, prompt: str) -> bool:
    return any(prompt.encode() in each.http.body for each in subject.api.requests)


async def is_refused(subject: RealSubject, prompt: str, limit: str) -> None:
    """The words say what to do, and nothing is sent."""
    refused = await subject.avatar.chat(prompt)
    assert (refused.outcome, refused.content) == (Outcome.OVER_BUDGET, ""), refused
    assert "the avatar's budget of" in refused.error
    assert f"raise it with avatar.raise_budget(Budget({limit}=…))" in refused.error
    assert not reached_the_model(subject, prompt)


async def runs(subject: RealSubject, prompt: str) -> None:
    answer = await subject.avatar.chat(prompt)
    assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "Spent."), answer.error
    assert reached_the_model(subject, prompt)


async def two_calls(subject: RealSubject) -> Outcome | None:
    """How the turn ends whose first call uses up the budget."""
    async with subject.avatar.turn("look around") as turn:
        await subject.allow_all(turn)
    return turn.outcome


async def tokens_stop_it_at_once(subject: RealSubject) -> None:
    # The model is silent after the first call: nothing else ends the turn.
    assert await two_calls(subject) is Outcome.OVER_BUDGET


async def tokens_stop_it_afterwards(subject: RealSubject) -> None:
    # They are told with the turn's end, so either may come first.
    assert await two_calls(subject) in {Outcome.COMPLETED, Outcome.OVER_BUDGET}
    assert len(subject.api.main_requests) == 2
    total = (await subject.avatar.health()).total
    calls = 1 if subject.agent.name in TELL_THE_LAST_CALL else 2
    assert total.input_tokens + total.output_tokens == calls * OF_A_CALL


async def the_next_needs_more(subject: RealSubject) -> CostSource:
    """First of tokens, then of money."""
    await is_refused(subject, "one too many", "tokens")
    await subject.avatar.raise_budget(Budget(tokens=100 * OF_A_CALL))
    await runs(subject, "one with more tokens")
    total = (await subject.avatar.health()).total
    assert total.cost_usd
    await subject.avatar.raise_budget(Budget(cost_usd=total.cost_usd))
    await is_refused(subject, "one too dear", "cost_usd")
    await subject.avatar.raise_budget(Budget(cost_usd=100 * total.cost_usd))
    await runs(subject, "one that is paid for")
    return total.cost_source


async def only_turns_stop_it(subject: RealSubject) -> None:
    for prompt in ("the first one", "the second one"):
        await runs(subject, prompt)
    blind = await subject.recorder.until(DiagnosticEvent, lambda event: event.source == "budget")
    assert f"{TOO_FEW} tokens cannot stop this agent: it tells no tokens" in blind.message
    await subject.avatar.raise_budget(Budget(turns=3))
    await runs(subject, "the third one")
    await is_refused(subject, "one too many", "turns")


@pytest.mark.ability(Ability.BUDGET)
async def test_a_budget_that_is_used_up_stops_the_next_prompt(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    is_at_once = agent.name in TELL_EACH_CALL
    script = spending([Hang()] if is_at_once else [Text("Spent."), DEAR])
    prices = {agent.model: OWN_PRICE}
    budget = Budget(tokens=TOO_FEW)
    async with open_subject(
        agent, tmp_path, script, model=agent.model, prices=prices, budget=budget
    ) as subject:
        if agent.name == "codex-zed":
            await only_turns_stop_it(subject)
            finds(Found.DIFFERS, "turns only: it tells neither tokens nor money")
        elif is_at_once:
            await tokens_stop_it_at_once(subject)
            money = MONEY[await the_next_needs_more(subject)]
            finds(note=f"ends a turn in its middle; {money}")
        else:
            await tokens_stop_it_afterwards(subject)
            money = MONEY[await the_next_needs_more(subject)]
            told = "its last call is told" if agent.name in TELL_THE_LAST_CALL else "told"
            finds(Found.DIFFERS, f"{told} at a turn's end, stops the next; {money}")
