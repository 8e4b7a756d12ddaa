"""The runtime's budget: one actor that all avatars of a runtime ask and report to."""

from __future__ import annotations

from contextlib import suppress
from typing import TypeAlias

from avatar_actors.avatar.limits import Ledger
from avatar_actors.avatar.messages import (
    Charge,
    CloseAccount,
    HubMessage,
    Interrupt,
    RaiseBudget,
    Release,
    Reserve,
    RuntimeBudgetMessage,
    TotalSpent,
    TurnMessage,
)
from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.settings import Budget
from avatar_actors.model.values import Level, Outcome, Usage
from avatar_actors.session.messages import Publish
from supervisors import Address, Inbox, MailboxFull

# The avatar, by its hub, and the turn; turn 0 is what was used outside of any.
Call: TypeAlias = tuple[Address[HubMessage], int]


async def runtime_budget(inbox: Inbox[RuntimeBudgetMessage], books: Books) -> None:
    """Refuses a turn that the runtime's budget does not cover; used up, it ends those in flight.

    The books are this actor's alone and outlive a crash: what was spent is never forgotten.
    """
    async for message in inbox:
        match message:
            case Reserve():
                inbox.reply(message, books.why_not(message))
            case Charge():
                await books.charge(message)
            case Release():
                await books.release(message)
            case CloseAccount(hub):
                books.close(hub)
            case RaiseBudget(new):
                books.ledger.raise_to(new)
                inbox.reply(message, None)
            case TotalSpent():
                inbox.reply(message, books.ledger.total())


class Books:
    """What all avatars have spent, and which of their turns are in flight."""

    def __init__(self, budget: Budget) -> None:
        self.ledger = Ledger[Call](budget, "runtime")
        self._in_flight: dict[Call, Address[TurnMessage]] = {}
        # Whose agent is known to tell no money.
        self._accounts: dict[Address[HubMessage], bool] = {}

    def why_not(self, ask: Reserve) -> str:
        """The reason against this turn, or nothing: then it is in flight."""
        self._accounts.setdefault(ask.hub, False)
        # One turn at a time: the end of an earlier one was lost in a crash.
        self._settle_all(ask.hub)
        refusal = self.ledger.refusal()
        if not refusal:
            call = ask.hub, ask.turn_id
            self.ledger.open(call)
            self._in_flight[call] = ask.turn_queue
        return refusal

    async def charge(self, charge: Charge) -> None:
        """Count it; used up, the budget ends all turns in flight."""
        self.ledger.report((charge.hub, charge.turn_id), charge.usage)
        await self._warn(self.ledger.warnings())
        overrun = self.ledger.overrun()
        for (_, turn_id), queue in self._in_flight.items() if overrun else ():
            # As the budget keeper: never wait for a queue, the next report says it again.
            with suppress(MailboxFull):
                queue.tell_nowait(Interrupt(turn_id, Outcome.OVER_BUDGET, overrun))

    async def release(self, release: Release) -> None:
        """The turn is over: its reserve is free."""
        if release.usage is not None:
            # Told again: a report may have been lost in a crash.
            self.ledger.report((release.hub, release.turn_id), release.usage)
        used = self._settle(release.hub, release.turn_id)
        await self._warn(self.ledger.warnings())
        is_new = self._accounts.get(release.hub) is False
        if used is not None and is_new and release.outcome is Outcome.COMPLETED:
            blind_spot = self.ledger.blind_spot(used)
            self._accounts[release.hub] = bool(blind_spot)
            if blind_spot:
                await release.hub.tell(Publish(0, [_warning(blind_spot)]))

    def close(self, hub: Address[HubMessage]) -> None:
        """The avatar is gone."""
        self._settle_all(hub)
        self._accounts.pop(hub, None)
        # The books outlive the avatar; its address must not, for all of the avatar hangs on it.
        self.ledger.forget(lambda call: call[0] == hub)

    def _settle_all(self, hub: Address[HubMessage]) -> None:
        for owner, turn_id in list(self._in_flight):
            if owner == hub:
                self._settle(hub, turn_id)

    def _settle(self, hub: Address[HubMessage], turn_id: int) -> Usage | None:
        self._in_flight.pop((hub, turn_id), None)
        return self.ledger.settle((hub, turn_id))

    async def _warn(self, notes: list[str]) -> None:
        if notes:
            for hub in self._accounts:
                # Of no turn: it may be over for that avatar before this is heard.
                await hub.tell(Publish(0, [_warning(note) for note in notes]))


def _warning(note: str) -> DiagnosticEvent:
    return DiagnosticEvent(message=note, level=Level.WARNING, source="budget")
