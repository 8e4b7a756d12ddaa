"""The budget keeper, alone."""

from functools import partial

import pytest

from avatar_actors.avatar.budget_keeper import budget_keeper
from avatar_actors.avatar.messages import (
    BudgetMessage,
    Charge,
    CloseAccount,
    HubMessage,
    Interrupt,
    MayRun,
    RaiseBudget,
    Release,
    Reserve,
    RuntimeBudgetMessage,
    Settle,
    TotalSpent,
    TurnMessage,
)
from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.settings import Budget
from avatar_actors.model.values import Outcome, Usage
from avatar_actors.session.messages import Publish, Spent
from supervisors import Address
from tests.avatar.stage import Ear, Stage, open_stage


class Purse:
    def __init__(self) -> None:
        self.hub = Ear[HubMessage]()
        self.queue = Ear[TurnMessage]()
        self.treasurer = Ear[RuntimeBudgetMessage](Reserve="")
        self.queue_at: Address[TurnMessage]
        self.at: Address[BudgetMessage]

    async def play(self, stage: Stage, budget: Budget) -> None:
        hub = await stage.play("hub", self.hub)
        self.queue_at = await stage.play("queue", self.queue)
        treasurer = await stage.play("treasurer", self.treasurer)
        keeping = partial(budget_keeper, budget=budget, hub=hub, treasurer=treasurer)
        self.at = await stage.play("budget", keeping)

    async def may_run(self, turn_id: int) -> str:
        return await self.at.ask(MayRun(turn_id, self.queue_at))

    async def spend(self, turn_id: int, cost: float) -> None:
        await self.at.tell(Spent(turn_id, Usage(cost_usd=cost)))

    def warnings(self) -> list[str]:
        told = [each for each in self.hub.heard if isinstance(each, Publish)]
        events = [event for each in told for event in each.events]
        return [event.message for event in events if isinstance(event, DiagnosticEvent)]


@pytest.fixture
def purse() -> Purse:
    return Purse()


async def test_a_turn_that_overspends_is_ended_by_its_name(purse: Purse) -> None:
    async with open_stage() as stage:
        await purse.play(stage, Budget(cost_usd=1))
        assert await purse.may_run(7) == ""
        await purse.spend(7, 1.5)
        await stage.rest()
        [interrupt] = purse.queue.heard
        assert isinstance(interrupt, Interrupt)
        assert (interrupt.turn_id, interrupt.outcome) == (7, Outcome.OVER_BUDGET)
        assert "1 USD" in await purse.may_run(8)


async def test_it_warns_once_at_four_fifths(purse: Purse) -> None:
    async with open_stage() as stage:
        await purse.play(stage, Budget(cost_usd=1))
        await purse.may_run(1)
        for cost in (0.5, 0.79, 0.8, 0.85, 0.9):
            await purse.spend(1, cost)
        await stage.rest()
        [warning] = purse.warnings()
        assert "80%" in warning
        assert purse.queue.heard == []


async def test_what_is_spent_outside_of_a_turn_counts_and_interrupts_nobody(purse: Purse) -> None:
    async with open_stage() as stage:
        await purse.play(stage, Budget(cost_usd=1))
        await purse.may_run(1)
        await purse.spend(0, 0.75)
        await purse.spend(0, 0.75)
        await stage.rest()
        assert purse.queue.heard == []
        assert (await purse.at.ask(TotalSpent())).cost_usd == 1.5
        assert await purse.may_run(2) != ""


async def test_turns_are_counted_when_they_may_run(purse: Purse) -> None:
    async with open_stage() as stage:
        await purse.play(stage, Budget(turns=2))
        assert [bool(await purse.may_run(turn)) for turn in range(1, 5)] == [0, 0, 1, 1]


async def test_what_happens_is_passed_on_to_the_treasurer(purse: Purse) -> None:
    async with open_stage() as stage:
        await purse.play(stage, Budget())
        await purse.may_run(1)
        await purse.spend(1, 0.25)
        await purse.at.ask(Settle(1, Outcome.COMPLETED))
        await stage.rest()
    kinds = [type(each) for each in purse.treasurer.heard]
    assert kinds == [Reserve, Charge, Release, CloseAccount]


async def test_a_refusal_of_the_treasurer_is_the_keepers_and_the_turn_does_not_count() -> None:
    purse = Purse()
    purse.treasurer = Ear[RuntimeBudgetMessage](Reserve="the runtime has none left")
    async with open_stage() as stage:
        await purse.play(stage, Budget(turns=1))
        assert await purse.may_run(1) == "the runtime has none left"
        assert await purse.may_run(2) == "the runtime has none left"


async def test_a_raised_budget_holds_from_then_on(purse: Purse) -> None:
    async with open_stage() as stage:
        await purse.play(stage, Budget(turns=0))
        assert "avatar.raise_budget(Budget(turns=…))" in await purse.may_run(1)
        await purse.at.ask(RaiseBudget(Budget(turns=1)))
        assert await purse.may_run(2) == ""


async def test_a_money_budget_that_cannot_stop_the_agent_says_so_once(purse: Purse) -> None:
    async with open_stage() as stage:
        await purse.play(stage, Budget(cost_usd=1))
        for turn in (1, 2):
            await purse.may_run(turn)
            await purse.at.tell(Spent(turn, Usage(input_tokens=1000)))
            await purse.at.ask(Settle(turn, Outcome.COMPLETED))
        [warning] = purse.warnings()
        assert "cannot stop this agent" in warning
        assert "`prices`" in warning


async def test_an_interrupted_turn_without_a_cost_is_no_reason_to_complain(purse: Purse) -> None:
    async with open_stage() as stage:
        await purse.play(stage, Budget(cost_usd=1))
        await purse.may_run(1)
        await purse.at.ask(Settle(1, Outcome.CANCELLED))
        assert purse.warnings() == []
