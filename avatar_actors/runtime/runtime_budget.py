"""The runtime budget: the one actor that all avatars ask, where limits are set, and report to."""

from __future__ import annotations

from contextlib import suppress
from typing import TypeAlias

import trio
from msgspec import Struct

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
from avatar_actors.avatar.state.limits import Ledger
from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.settings import Budget
from avatar_actors.model.values import Level, Outcome, Usage
from avatar_actors.session.messages import Publish
from supervisors import Address, Inbox, MailboxFull, Reply

# The avatar, by its turn queue, and the turn; turn 0 is what was used outside of any.
Call: TypeAlias = tuple[Address[TurnMessage], int]


async def runtime_budget(inbox: Inbox[RuntimeBudgetMessage], books: Books) -> None:
    """Refuses a turn that the runtime's budget does not cover; used up, it ends those in flight.

    The books are this actor's alone and outlive a crash: what was spent is never forgotten.
    """
    async with trio.open_nursery() as nursery:
        async for message in inbox:
            match message:
                case OpenAccount():
                    books.open(message)
                    inbox.reply(message, books.ledger.has_limits)
                case Reserve():
                    inbox.reply(message, books.refusal_of(message))
                case Charge():
                    await books.charge(message)
                case Release():
                    await books.release(message)
                case CloseAccount(account):
                    books.close(account)
                case RaiseBudget(new):
                    books.ledger.raise_to(new)
                    nursery.start_soon(books.tell_limits, inbox.defer(message))
                case TotalSpent():
                    inbox.reply(message, books.ledger.total())


class _Account(Struct):
    tracker: Address[TrackerMessage]
    is_blind: bool = False
    """Whether it is known that this agent reports no money."""


class Books:
    """What all avatars have spent, and which of their turns are in flight."""

    def __init__(self, budget: Budget) -> None:
        self.ledger = Ledger[Call](budget, "runtime")
        self._accounts: dict[Address[TurnMessage], _Account] = {}

    def open(self, opened: OpenAccount) -> None:
        """An avatar has started."""
        self._accounts[opened.account] = _Account(opened.tracker)

    async def tell_limits(self, reply: Reply[None]) -> None:
        """Tell every turn queue whether to ask; in its own task, since a mailbox may be full."""
        limited = RuntimeLimited(self.ledger.has_limits)
        for account in tuple(self._accounts):
            await account.tell(limited)
        reply.send(None)

    def refusal_of(self, ask: Reserve) -> str:
        """The reason against this turn, or nothing: then it is in flight."""
        # One turn at a time: the end of an earlier one was lost in a crash.
        self._settle_all(ask.account)
        refusal = self.ledger.refusal()
        if not refusal:
            self.ledger.open((ask.account, ask.turn_id))
        return refusal

    async def charge(self, charge: Charge) -> None:
        """Count it; used up, the budget ends all turns in flight."""
        self._report(charge.account, charge.turn_id, charge.usage)
        await self._warn(self.ledger.warnings())
        overrun = self.ledger.overrun()
        for account, turn_id in self.ledger.in_flight() if overrun else ():
            # Never wait for a queue, which may be waiting for us: the next report says it again.
            with suppress(MailboxFull):
                account.tell_nowait(Interrupt(turn_id, Outcome.OVER_BUDGET, overrun))

    async def release(self, release: Release) -> None:
        """The turn is over: its reserve is free."""
        call = release.account, release.turn_id
        if release.usage is not None:
            # Told again: a report may have been lost in a crash.
            self._report(*call, release.usage)
        used = self.ledger.settle(call)
        await self._warn(self.ledger.warnings())
        account = self._accounts.get(release.account)
        if used is None or account is None or account.is_blind:
            return
        blind_spot = self.ledger.blind_spot(used)
        if blind_spot and release.outcome is Outcome.COMPLETED:
            account.is_blind = True
            await account.tracker.tell(Publish(0, [_warning(blind_spot)]))

    def close(self, account: Address[TurnMessage]) -> None:
        """The avatar is gone."""
        self._settle_all(account)
        self._accounts.pop(account, None)
        # The books outlive the avatar; its address must not, for all of the avatar hangs on it.
        self.ledger.forget(lambda call: call[0] == account)

    def _report(self, account: Address[TurnMessage], turn_id: int, usage: Usage) -> None:
        call = account, turn_id
        # A turn that began while no limit was set has not asked.
        if turn_id and account in self._accounts and not self.ledger.is_known(call):
            self.ledger.open(call)
        self.ledger.report(call, usage)

    def _settle_all(self, account: Address[TurnMessage]) -> None:
        for call in self.ledger.in_flight():
            if call[0] == account:
                self.ledger.settle(call)

    async def _warn(self, notes: list[str]) -> None:
        if notes:
            for account in tuple(self._accounts.values()):
                # Of no turn: it may be over for that avatar before this is read.
                await account.tracker.tell(Publish(0, [_warning(note) for note in notes]))


def _warning(note: str) -> DiagnosticEvent:
    return DiagnosticEvent(message=note, level=Level.WARNING, source="budget")
