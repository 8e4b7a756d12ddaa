"""The budget keeper: asked before each prompt, told after each usage report."""

from __future__ import annotations

from avatar_actors.events import DiagnosticEvent
from avatar_actors.messages import (
    BudgetMessage,
    HubMessage,
    Interrupt,
    MayRun,
    Publish,
    Spent,
    TotalSpent,
    TurnMessage,
)
from avatar_actors.settings import Budget
from avatar_actors.types import Level, Outcome, Usage
from supervisors import Address, Inbox


class Ledger:
    """What was spent, turn by turn. Pure."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._closed = Usage()
        self._turn_id: int | None = None
        self._open = Usage()
        self._turns = 0

    def begin(self, turn_id: int) -> None:
        """A turn may run: it counts."""
        self._closed, self._open = self.total(), Usage()
        self._turn_id = turn_id
        self._turns += 1

    def report(self, turn_id: int, usage: Usage) -> None:
        """What the turn has used up to now; reports of a turn replace each other."""
        if turn_id != self._turn_id:
            self._closed = _sum(self._closed, usage)
        else:
            self._open = usage

    def total(self) -> Usage:
        """Everything."""
        return _sum(self._closed, self._open)

    def fill(self) -> tuple[float, str]:
        """How full the fullest limit is, 1.0 being used up, and its words."""
        total, budget = self.total(), self._budget
        tokens = total.input_tokens + total.output_tokens
        shares = [
            (_share(total.cost_usd or 0.0, budget.cost_usd), f"{budget.cost_usd} USD"),
            (_share(tokens, budget.tokens), f"{budget.tokens} tokens"),
        ]
        return max(shares)

    def refusal(self) -> str:
        """Why another turn may not run, or nothing."""
        fill, words = self.fill()
        if fill >= 1:
            return f"the budget of {words} is used up"
        limit = self._budget.turns
        if limit is not None and self._turns >= limit:
            return f"the budget of {limit} turn(s) is used up"
        return ""


async def budget_keeper(
    inbox: Inbox[BudgetMessage], budget: Budget, hub: Address[HubMessage]
) -> None:
    """Refuses a turn that the budget does not cover, and ends one that overspends."""
    ledger = Ledger(budget)
    queue: Address[TurnMessage] | None = None
    has_warned = False
    async for message in inbox:
        match message:
            case MayRun(turn_id, turn_queue):
                queue = turn_queue
                refusal = ledger.refusal()
                if not refusal:
                    ledger.begin(turn_id)
                inbox.reply(message, refusal)
            case Spent(turn_id, usage):
                ledger.report(turn_id, usage)
                fill, words = ledger.fill()
                if fill >= budget.warn_at and not has_warned:
                    has_warned = True
                    await hub.tell(Publish(turn_id, [_warning(fill, words)]))
                if fill >= 1 and queue is not None and turn_id:
                    reason = f"the budget of {words} is used up"
                    queue.tell_nowait(Interrupt(turn_id, Outcome.OVER_BUDGET, reason))
            case TotalSpent():
                inbox.reply(message, ledger.total())


def _warning(fill: float, words: str) -> DiagnosticEvent:
    note = f"{fill:.0%} of the budget of {words} is used"
    return DiagnosticEvent(message=note, level=Level.WARNING, source="budget")


def _share(spent: float, limit: float | None) -> float:
    return 0.0 if limit is None else spent / limit if limit > 0 else 1.0


def _sum(a: Usage, b: Usage) -> Usage:
    known = [cost for cost in (a.cost_usd, b.cost_usd) if cost is not None]
    return Usage(
        cost_usd=sum(known) if known else None,
        input_tokens=a.input_tokens + b.input_tokens,
        output_tokens=a.output_tokens + b.output_tokens,
        cached_tokens=a.cached_tokens + b.cached_tokens,
        reasoning_tokens=a.reasoning_tokens + b.reasoning_tokens,
    )
