"""The limits of the turn queue, alone, beside recorders of what its neighbours are told."""

import pytest

from avatar_actors.avatar.actors.turn_limits import TurnLimits
from avatar_actors.avatar.messages import (
    Charge,
    CloseAccount,
    LimiterMessage,
    OpenAccount,
    Release,
    Reserve,
    RuntimeBudgetMessage,
    TrackerMessage,
    TurnMessage,
)
from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.settings import Budget
from avatar_actors.model.values import Outcome, Usage
from avatar_actors.session.messages import Publish, Spent
from tests.avatar.actor_tree import ActorTree, Recorder, open_tree


class Limits:
    """TurnLimits, with recorders around it; the runtime has a budget if `is_limited`."""

    def __init__(self) -> None:
        self.tracker = Recorder[TrackerMessage]()
        self.limiter = Recorder[LimiterMessage]()
        self.runtime = Recorder[RuntimeBudgetMessage](Reserve="", OpenAccount=False)
        self.at: TurnLimits

    async def open(self, tree: ActorTree, budget: Budget) -> None:
        account = await tree.start("queue", Recorder[TurnMessage]())
        tracker = await tree.start("tracker", self.tracker)
        runtime = await tree.start("runtime budget", self.runtime)
        self.at = TurnLimits(budget, account, tracker, runtime, None)
        await self.at.open_account()

    async def admit(self, turn_id: int) -> str:
        ending = await self.at.admit(turn_id)
        assert ending is None or ending.outcome is Outcome.OVER_BUDGET
        return ending.reason if ending is not None else ""

    async def spend(self, turn_id: int, cost: float) -> str:
        return await self.at.spent(Spent(turn_id, Usage(cost_usd=cost)))

    def warnings(self) -> list[str]:
        told = [each for each in self.tracker.heard if isinstance(each, Publish)]
        events = [event for each in told for event in each.events]
        return [event.message for event in events if isinstance(event, DiagnosticEvent)]

    def charged(self) -> list[float | None]:
        told = [each for each in self.runtime.heard if isinstance(each, Charge)]
        return [each.usage.cost_usd for each in told]


@pytest.fixture
def limits() -> Limits:
    return Limits()


async def test_a_turn_that_overspends_must_end(limits: Limits) -> None:
    async with open_tree() as tree:
        await limits.open(tree, Budget(cost_usd=1))
        assert await limits.admit(7) == ""
        assert "1 USD" in await limits.spend(7, 1.5)
        assert "1 USD" in await limits.admit(8)


async def test_it_warns_once_at_four_fifths(limits: Limits) -> None:
    async with open_tree() as tree:
        await limits.open(tree, Budget(cost_usd=1))
        await limits.admit(1)
        assert [await limits.spend(1, cost) for cost in (0.5, 0.79, 0.8, 0.85, 0.9)] == [""] * 5
        await tree.settle()
        [warning] = limits.warnings()
        assert "80%" in warning


async def test_what_is_spent_outside_of_a_turn_counts_and_ends_no_turn(limits: Limits) -> None:
    async with open_tree() as tree:
        await limits.open(tree, Budget(cost_usd=1))
        await limits.admit(1)
        assert await limits.spend(0, 0.75) == ""
        assert await limits.spend(0, 0.75) == ""
        assert limits.at.ledger.total().cost_usd == 1.5
        assert await limits.admit(2) != ""


async def test_turns_are_counted_when_they_may_run(limits: Limits) -> None:
    async with open_tree() as tree:
        await limits.open(tree, Budget(turns=2))
        assert [bool(await limits.admit(turn)) for turn in range(1, 5)] == [0, 0, 1, 1]


async def test_a_runtime_without_a_budget_is_told_and_never_asked(limits: Limits) -> None:
    async with open_tree() as tree:
        await limits.open(tree, Budget())
        await limits.admit(1)
        await limits.spend(1, 0.25)
        await limits.at.settle(1, Outcome.COMPLETED)
        await limits.at.close_account()
        await tree.settle()
    assert [type(each) for each in limits.runtime.heard] == [
        OpenAccount,
        Charge,
        Release,
        CloseAccount,
    ]


async def test_a_runtime_that_gets_a_budget_is_told_what_runs_and_asked_from_then_on(
    limits: Limits,
) -> None:
    async with open_tree() as tree:
        await limits.open(tree, Budget())
        await limits.admit(1)
        await limits.at.set_runtime_limited(True)
        await limits.admit(2)
        await tree.settle()
        kinds = [type(each) for each in limits.runtime.heard]
        assert kinds == [OpenAccount, Charge, Reserve]


async def test_another_attempt_at_a_turn_counts_by_itself(limits: Limits) -> None:
    async with open_tree() as tree:
        await limits.open(tree, Budget())
        await limits.admit(1)
        limits.at.count(1, Usage(cost_usd=0.25))
        await limits.admit(1)
        limits.at.count(1, Usage(cost_usd=0.5))
        await limits.at.settle(1, Outcome.COMPLETED)
        await tree.settle()
        assert limits.charged() == [0.25]
        assert [type(each) for each in limits.runtime.heard][1:3] == [Charge, Reserve]
        assert limits.at.ledger.total().cost_usd == 0.75


async def test_a_report_that_is_read_after_the_end_replaces_nothing(limits: Limits) -> None:
    async with open_tree() as tree:
        await limits.open(tree, Budget())
        await limits.admit(1)
        limits.at.count(1, Usage(cost_usd=0.5))
        await limits.spend(1, 0.25)
        assert limits.at.ledger.total().cost_usd == 0.5


async def test_a_refusal_of_the_runtime_is_passed_on_and_the_turn_does_not_count() -> None:
    limits = Limits()
    limits.runtime = Recorder[RuntimeBudgetMessage](Reserve="nothing is left", OpenAccount=True)
    async with open_tree() as tree:
        await limits.open(tree, Budget(turns=1))
        assert await limits.admit(1) == "nothing is left"
        assert await limits.admit(2) == "nothing is left"


async def test_a_raised_budget_holds_from_then_on(limits: Limits) -> None:
    async with open_tree() as tree:
        await limits.open(tree, Budget(turns=0))
        assert "avatar.raise_budget(Budget(turns=…))" in await limits.admit(1)
        limits.at.ledger.raise_to(Budget(turns=1))
        assert await limits.admit(2) == ""


async def test_a_money_budget_that_cannot_stop_the_agent_says_so_once(limits: Limits) -> None:
    async with open_tree() as tree:
        await limits.open(tree, Budget(cost_usd=1))
        for turn in (1, 2):
            await limits.admit(turn)
            await limits.at.spent(Spent(turn, Usage(input_tokens=1000)))
            await limits.at.settle(turn, Outcome.COMPLETED)
        await tree.settle()
        [warning] = limits.warnings()
        assert "cannot stop this agent" in warning
        assert "`prices`" in warning


async def test_an_interrupted_turn_without_a_cost_is_no_reason_to_complain(limits: Limits) -> None:
    async with open_tree() as tree:
        await limits.open(tree, Budget(cost_usd=1))
        await limits.admit(1)
        await limits.at.settle(1, Outcome.CANCELLED)
        await tree.settle()
        assert limits.warnings() == []
