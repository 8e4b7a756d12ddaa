"""The budget keeper: asked before each prompt, told after each usage report."""

from __future__ import annotations

from contextlib import suppress

from avatar_actors.avatar.limits import Ledger
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
    ask_treasurer,
)
from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.settings import Budget
from avatar_actors.model.values import Level, Outcome
from avatar_actors.session.messages import Publish, Spent
from supervisors import Address, Inbox, MailboxFull


async def budget_keeper(
    inbox: Inbox[BudgetMessage],
    budget: Budget,
    hub: Address[HubMessage],
    treasurer: Address[RuntimeBudgetMessage],
) -> None:
    """Refuses a turn that the budget does not cover, and ends one that overspends."""
    keeper = _Keeper(budget, hub, treasurer)
    try:
        async for message in inbox:
            match message:
                case MayRun():
                    inbox.reply(message, await keeper.why_not(message))
                case Spent():
                    await keeper.spent(message)
                case Settle():
                    await keeper.settle(message)
                    inbox.reply(message, None)
                case RaiseBudget(new):
                    keeper.ledger.raise_to(new)
                    inbox.reply(message, None)
                case TotalSpent():
                    inbox.reply(message, keeper.ledger.total())
    finally:
        with inbox.grace():
            await treasurer.tell(CloseAccount(hub))


class _Keeper:
    def __init__(
        self, budget: Budget, hub: Address[HubMessage], treasurer: Address[RuntimeBudgetMessage]
    ) -> None:
        self.ledger = Ledger[int](budget, "avatar")
        self._hub, self._treasurer = hub, treasurer
        self._queue: Address[TurnMessage] | None = None
        self._is_blind = False

    async def why_not(self, ask: MayRun) -> str:
        self._queue = ask.turn_queue
        refusal = self.ledger.refusal()
        if not refusal:
            reserve = Reserve(self._hub, ask.turn_id, ask.turn_queue)
            refusal = await ask_treasurer(self._treasurer, reserve)
        if not refusal:
            self.ledger.open(ask.turn_id)
        return refusal

    async def spent(self, spent: Spent) -> None:
        self.ledger.report(spent.turn_id, spent.usage)
        await self._treasurer.tell(Charge(self._hub, spent.turn_id, spent.usage))
        await self._warn(spent.turn_id, self.ledger.warnings())
        overrun = self.ledger.overrun()
        if overrun and spent.turn_id and self._queue is not None:
            interrupt = Interrupt(spent.turn_id, Outcome.OVER_BUDGET, overrun)
            # The queue may be asking us: waiting for room there could be for ever. The next report
            # says it again, and the next prompt is refused in any case.
            with suppress(MailboxFull):
                self._queue.tell_nowait(interrupt)

    async def settle(self, settle: Settle) -> None:
        used = self.ledger.settle(settle.turn_id)
        await self._treasurer.tell(Release(self._hub, settle.turn_id, settle.outcome, used))
        await self._warn(settle.turn_id, self.ledger.warnings())
        if used is not None and settle.outcome is Outcome.COMPLETED and not self._is_blind:
            blind_spot = self.ledger.blind_spot(used)
            self._is_blind = bool(blind_spot)
            await self._warn(settle.turn_id, [blind_spot] if blind_spot else [])

    async def _warn(self, turn_id: int, notes: list[str]) -> None:
        if notes:
            events = [
                DiagnosticEvent(message=note, level=Level.WARNING, source="budget")
                for note in notes
            ]
            await self._hub.tell(Publish(turn_id, events))
