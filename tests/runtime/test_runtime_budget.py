"""The runtime budget, alone, with the turn queues and trackers of two avatars."""

from functools import partial

import pytest

from avatar_actors.avatar.messages import (
    Charge,
    CloseAccount,
    Interrupt,
    OpenAccount,
    RaiseBudget,
    Release,
    Reserve,
    RuntimeBudgetMessage,
    RuntimeLimited,
    TotalSpent,
    TrackerMessage,
    TurnMessage,
)
from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.settings import Budget
from avatar_actors.model.values import Outcome, Usage
from avatar_actors.runtime.runtime_budget import Books, runtime_budget
from avatar_actors.session.messages import Publish
from supervisors import Address
from tests.avatar.stage import Ear, Stage, open_stage


class Holder:
    """An avatar, as the runtime budget knows it."""

    def __init__(self, name: str, bank: Address[RuntimeBudgetMessage]) -> None:
        self.name, self.bank = name, bank
        self.tracker, self.queue = Ear[TrackerMessage](), Ear[TurnMessage]()
        self.queue_at: Address[TurnMessage]

    async def play(self, stage: Stage) -> None:
        tracker = await stage.play(f"tracker of {self.name}", self.tracker)
        self.queue_at = await stage.play(f"queue of {self.name}", self.queue)
        await self.bank.ask(OpenAccount(self.queue_at, tracker))

    async def reserve(self, turn_id: int) -> str:
        return await self.bank.ask(Reserve(self.queue_at, turn_id))

    async def spend(self, turn_id: int, cost: float | None) -> None:
        await self.bank.tell(Charge(self.queue_at, turn_id, Usage(cost_usd=cost)))

    async def end(self, turn_id: int, outcome: Outcome = Outcome.COMPLETED) -> None:
        await self.bank.tell(Release(self.queue_at, turn_id, outcome))

    def interrupted(self) -> list[tuple[int, Outcome]]:
        told = [each for each in self.queue.heard if isinstance(each, Interrupt)]
        return [(each.turn_id, each.outcome) for each in told]

    def warnings(self) -> list[str]:
        told = [each for each in self.tracker.heard if isinstance(each, Publish)]
        events = [event for each in told for event in each.events]
        return [event.message for event in events if isinstance(event, DiagnosticEvent)]


class Bank:
    def __init__(self) -> None:
        self.at: Address[RuntimeBudgetMessage]
        self.aria: Holder
        self.bela: Holder

    async def play(self, stage: Stage, budget: Budget) -> None:
        self.at = await stage.play("runtime budget", partial(runtime_budget, books=Books(budget)))
        self.aria, self.bela = Holder("aria", self.at), Holder("bela", self.at)
        await self.aria.play(stage)
        await self.bela.play(stage)


@pytest.fixture
def bank() -> Bank:
    return Bank()


async def test_a_used_up_budget_ends_every_turn_in_flight_by_its_own_number(bank: Bank) -> None:
    async with open_stage() as stage:
        await bank.play(stage, Budget(cost_usd=1))
        assert await bank.aria.reserve(3) == ""
        assert await bank.bela.reserve(9) == ""
        await bank.aria.spend(3, 0.6)
        await stage.rest()
        assert bank.aria.interrupted() == []
        await bank.bela.spend(9, 0.5)
        await stage.rest()
        assert bank.aria.interrupted() == [(3, Outcome.OVER_BUDGET)]
        assert bank.bela.interrupted() == [(9, Outcome.OVER_BUDGET)]


async def test_a_turn_that_has_ended_is_not_interrupted(bank: Bank) -> None:
    async with open_stage() as stage:
        await bank.play(stage, Budget(cost_usd=1))
        await bank.aria.reserve(1)
        await bank.aria.end(1)
        await bank.bela.reserve(1)
        await bank.bela.spend(1, 1.0)
        await stage.rest()
        assert bank.aria.interrupted() == []
        refusal = await bank.aria.reserve(2)
        assert refusal.startswith("the runtime's budget of 1 USD is used up; raise it with runtime")


async def test_everybody_is_warned_once(bank: Bank) -> None:
    async with open_stage() as stage:
        await bank.play(stage, Budget(cost_usd=1))
        await bank.aria.reserve(1)
        await bank.bela.reserve(1)
        for cost in (0.5, 0.85, 0.9):
            await bank.aria.spend(1, cost)
        await stage.rest()
        for holder in (bank.aria, bank.bela):
            assert holder.warnings() == ["85% of the runtime's budget of 1 USD is used"]


@pytest.mark.parametrize("outcome", [Outcome.CANCELLED, Outcome.CRASHED, Outcome.COMPLETED])
async def test_the_reserve_is_free_however_the_turn_ends(bank: Bank, outcome: Outcome) -> None:
    async with open_stage() as stage:
        await bank.play(stage, Budget(cost_usd=1, reserve_usd=1.0))
        await bank.aria.reserve(1)
        assert "reserved for 1 turn(s)" in await bank.bela.reserve(1)
        await bank.aria.end(1, outcome)
        assert await bank.bela.reserve(2) == ""


async def test_an_avatar_that_ends_in_the_middle_of_a_turn_leaves_no_reserve(bank: Bank) -> None:
    async with open_stage() as stage:
        await bank.play(stage, Budget(cost_usd=1, reserve_usd=1.0))
        await bank.aria.reserve(1)
        await bank.aria.spend(1, 0.25)
        await bank.at.tell(CloseAccount(bank.aria.queue_at))
        assert await bank.bela.reserve(1) == ""
        assert (await bank.at.ask(TotalSpent())).cost_usd == 0.25


async def test_a_raised_budget_lets_the_next_turn_through(bank: Bank) -> None:
    async with open_stage() as stage:
        await bank.play(stage, Budget(turns=1))
        await bank.aria.reserve(1)
        assert "Budget(turns=…)" in await bank.bela.reserve(1)
        await bank.at.ask(RaiseBudget(Budget(turns=2)))
        assert await bank.bela.reserve(2) == ""


async def test_an_agent_that_tells_no_money_is_named_in_its_own_avatars_stream(bank: Bank) -> None:
    async with open_stage() as stage:
        await bank.play(stage, Budget(cost_usd=1))
        for turn in (1, 2):
            await bank.aria.reserve(turn)
            await bank.aria.end(turn)
        await bank.bela.reserve(1)
        await bank.bela.spend(1, 0.1)
        await bank.bela.end(1)
        await stage.rest()
        assert [bool("cannot stop" in each) for each in bank.aria.warnings()] == [True]
        assert bank.bela.warnings() == []


async def test_queues_are_told_whether_to_ask_before_the_raise_is_answered(bank: Bank) -> None:
    async with open_stage() as stage:
        await bank.play(stage, Budget())
        for budget in (Budget(turns=1), Budget()):
            await bank.at.ask(RaiseBudget(budget))
        await stage.rest()
        for holder in (bank.aria, bank.bela):
            told = [each for each in holder.queue.heard if isinstance(each, RuntimeLimited)]
            assert [each.is_limited for each in told] == [True, False]


async def test_turns_that_began_without_a_limit_count_once_and_can_be_ended(bank: Bank) -> None:
    async with open_stage() as stage:
        await bank.play(stage, Budget())
        for cost in (0.25, 0.5):
            await bank.aria.spend(1, cost)
        assert (await bank.at.ask(TotalSpent())).cost_usd == 0.5
        await bank.at.ask(RaiseBudget(Budget(cost_usd=1)))
        await bank.aria.spend(1, 1.5)
        await stage.rest()
        assert bank.aria.interrupted() == [(1, Outcome.OVER_BUDGET)]


async def test_a_turn_without_a_report_counts_when_it_ends(bank: Bank) -> None:
    async with open_stage() as stage:
        await bank.play(stage, Budget())
        await bank.at.tell(Release(bank.aria.queue_at, 1, Outcome.COMPLETED, Usage()))
        await bank.at.ask(RaiseBudget(Budget(turns=1)))
        assert "1 turn(s)" in await bank.bela.reserve(1)
