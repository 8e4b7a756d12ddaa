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
from tests.avatar.actor_tree import ActorTree, Recorder, open_tree


class AvatarStub:
    """An avatar, as the runtime budget knows it."""

    def __init__(self, name: str, budget: Address[RuntimeBudgetMessage]) -> None:
        self.name, self.budget = name, budget
        self.tracker, self.queue = Recorder[TrackerMessage](), Recorder[TurnMessage]()
        self.queue_at: Address[TurnMessage]

    async def open(self, tree: ActorTree) -> None:
        tracker = await tree.start(f"tracker of {self.name}", self.tracker)
        self.queue_at = await tree.start(f"queue of {self.name}", self.queue)
        await self.budget.ask(OpenAccount(self.queue_at, tracker))

    async def reserve(self, turn_id: int) -> str:
        return await self.budget.ask(Reserve(self.queue_at, turn_id))

    async def spend(self, turn_id: int, cost: float | None) -> None:
        await self.budget.tell(Charge(self.queue_at, turn_id, Usage(cost_usd=cost)))

    async def end(self, turn_id: int, outcome: Outcome = Outcome.COMPLETED) -> None:
        await self.budget.tell(Release(self.queue_at, turn_id, outcome))

    def interrupted(self) -> list[tuple[int, Outcome]]:
        told = [each for each in self.queue.heard if isinstance(each, Interrupt)]
        return [(each.turn_id, each.outcome) for each in told]

    def warnings(self) -> list[str]:
        told = [each for each in self.tracker.heard if isinstance(each, Publish)]
        events = [event for each in told for event in each.events]
        return [event.message for event in events if isinstance(event, DiagnosticEvent)]


class BudgetSetup:
    def __init__(self) -> None:
        self.at: Address[RuntimeBudgetMessage]
        self.aria: AvatarStub
        self.bela: AvatarStub

    async def open(self, tree: ActorTree, budget: Budget) -> None:
        self.at = await tree.start("runtime budget", partial(runtime_budget, books=Books(budget)))
        self.aria, self.bela = AvatarStub("aria", self.at), AvatarStub("bela", self.at)
        await self.aria.open(tree)
        await self.bela.open(tree)


@pytest.fixture
def budget() -> BudgetSetup:
    return BudgetSetup()


async def test_a_used_up_budget_ends_every_turn_in_flight_by_its_own_number(
    budget: BudgetSetup,
) -> None:
    async with open_tree() as tree:
        await budget.open(tree, Budget(cost_usd=1))
        assert await budget.aria.reserve(3) == ""
        assert await budget.bela.reserve(9) == ""
        await budget.aria.spend(3, 0.6)
        await tree.settle()
        assert budget.aria.interrupted() == []
        await budget.bela.spend(9, 0.5)
        await tree.settle()
        assert budget.aria.interrupted() == [(3, Outcome.OVER_BUDGET)]
        assert budget.bela.interrupted() == [(9, Outcome.OVER_BUDGET)]


async def test_a_turn_that_has_ended_is_not_interrupted(budget: BudgetSetup) -> None:
    async with open_tree() as tree:
        await budget.open(tree, Budget(cost_usd=1))
        await budget.aria.reserve(1)
        await budget.aria.end(1)
        await budget.bela.reserve(1)
        await budget.bela.spend(1, 1.0)
        await tree.settle()
        assert budget.aria.interrupted() == []
        refusal = await budget.aria.reserve(2)
        assert refusal.startswith("the runtime's budget of 1 USD is used up; raise it with runtime")


async def test_everybody_is_warned_once(budget: BudgetSetup) -> None:
    async with open_tree() as tree:
        await budget.open(tree, Budget(cost_usd=1))
        await budget.aria.reserve(1)
        await budget.bela.reserve(1)
        for cost in (0.5, 0.85, 0.9):
            await budget.aria.spend(1, cost)
        await tree.settle()
        for holder in (budget.aria, budget.bela):
            assert holder.warnings() == ["85% of the runtime's budget of 1 USD is used"]


@pytest.mark.parametrize("outcome", [Outcome.CANCELLED, Outcome.CRASHED, Outcome.COMPLETED])
async def test_the_reserve_is_free_however_the_turn_ends(
    budget: BudgetSetup, outcome: Outcome
) -> None:
    async with open_tree() as tree:
        await budget.open(tree, Budget(cost_usd=1, reserve_usd=1.0))
        await budget.aria.reserve(1)
        assert "reserved for 1 turn(s)" in await budget.bela.reserve(1)
        await budget.aria.end(1, outcome)
        assert await budget.bela.reserve(2) == ""


async def test_an_avatar_that_ends_in_the_middle_of_a_turn_leaves_no_reserve(
    budget: BudgetSetup,
) -> None:
    async with open_tree() as tree:
        await budget.open(tree, Budget(cost_usd=1, reserve_usd=1.0))
        await budget.aria.reserve(1)
        await budget.aria.spend(1, 0.25)
        await budget.at.tell(CloseAccount(budget.aria.queue_at))
        assert await budget.bela.reserve(1) == ""
        assert (await budget.at.ask(TotalSpent())).cost_usd == 0.25


async def test_a_raised_budget_lets_the_next_turn_through(budget: BudgetSetup) -> None:
    async with open_tree() as tree:
        await budget.open(tree, Budget(turns=1))
        await budget.aria.reserve(1)
        assert "Budget(turns=…)" in await budget.bela.reserve(1)
        await budget.at.ask(RaiseBudget(Budget(turns=2)))
        assert await budget.bela.reserve(2) == ""


async def test_an_agent_that_tells_no_money_is_named_in_its_own_avatars_stream(
    budget: BudgetSetup,
) -> None:
    async with open_tree() as tree:
        await budget.open(tree, Budget(cost_usd=1))
        for turn in (1, 2):
            await budget.aria.reserve(turn)
            await budget.aria.end(turn)
        await budget.bela.reserve(1)
        await budget.bela.spend(1, 0.1)
        await budget.bela.end(1)
        await tree.settle()
        assert [bool("cannot stop" in each) for each in budget.aria.warnings()] == [True]
        assert budget.bela.warnings() == []


async def test_queues_are_told_whether_to_ask_before_the_raise_is_answered(
    budget: BudgetSetup,
) -> None:
    async with open_tree() as tree:
        await budget.open(tree, Budget())
        for new in (Budget(turns=1), Budget()):
            await budget.at.ask(RaiseBudget(new))
        await tree.settle()
        for holder in (budget.aria, budget.bela):
            told = [each for each in holder.queue.heard if isinstance(each, RuntimeLimited)]
            assert [each.is_limited for each in told] == [True, False]


async def test_turns_that_began_without_a_limit_count_once_and_can_be_ended(
    budget: BudgetSetup,
) -> None:
    async with open_tree() as tree:
        await budget.open(tree, Budget())
        for cost in (0.25, 0.5):
            await budget.aria.spend(1, cost)
        assert (await budget.at.ask(TotalSpent())).cost_usd == 0.5
        await budget.at.ask(RaiseBudget(Budget(cost_usd=1)))
        await budget.aria.spend(1, 1.5)
        await tree.settle()
        assert budget.aria.interrupted() == [(1, Outcome.OVER_BUDGET)]


async def test_a_turn_without_a_report_counts_when_it_ends(budget: BudgetSetup) -> None:
    async with open_tree() as tree:
        await budget.open(tree, Budget())
        await budget.at.tell(Release(budget.aria.queue_at, 1, Outcome.COMPLETED, Usage()))
        await budget.at.ask(RaiseBudget(Budget(turns=1)))
        assert "1 turn(s)" in await budget.bela.reserve(1)
