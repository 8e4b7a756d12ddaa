"""What may hold a prompt back: the avatar's budget, the runtime's, and the rate limit.

A part of the turn queue. The ledger is its own; the two other actors are asked only where a limit
is set.
"""

from __future__ import annotations

import trio

from avatar_actors.avatar.actor_client import ask_runtime_budget
from avatar_actors.avatar.messages import (
    Acquire,
    Charge,
    CloseAccount,
    GiveBack,
    LimiterMessage,
    OpenAccount,
    Release,
    Reserve,
    RuntimeBudgetMessage,
    TrackerMessage,
    TurnMessage,
)
from avatar_actors.avatar.state.limits import Ledger
from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.settings import Budget
from avatar_actors.model.values import Level, Outcome, Usage
from avatar_actors.session.messages import Publish, Spent, TurnEnding
from supervisors import ActorRestarting, Address

_LIMITER_IS_BACK = 0.01


class TurnLimits:
    """Admits turns, counts what they use, and settles them when they end."""

    def __init__(
        self,
        budget: Budget,
        account: Address[TurnMessage],
        tracker: Address[TrackerMessage],
        runtime_budget: Address[RuntimeBudgetMessage],
        limiter: Address[LimiterMessage] | None,
    ) -> None:
        self.ledger = Ledger[int](budget, "avatar")
        self._account, self._tracker = account, tracker
        self._runtime, self._limiter = runtime_budget, limiter
        self._is_runtime_limited = True
        self._is_blind = False
        # The turn whose last report has been counted: an earlier one may still be in the mailbox.
        self._counted = 0

    async def open_account(self) -> None:
        """Before the first turn."""
        account = OpenAccount(self._account, self._tracker)
        await self.set_runtime_limited(await ask_runtime_budget(self._runtime, account))

    async def close_account(self) -> None:
        """The avatar ends."""
        await self._runtime.tell(CloseAccount(self._account))

    async def set_runtime_limited(self, is_limited: bool) -> None:  # noqa: FBT001 - a fact, not a choice
        """Whether the runtime has a budget; of a new one it is told what runs already."""
        self._is_runtime_limited = is_limited
        if is_limited:
            for turn_id, used in self.ledger.in_flight().items():
                await self._runtime.tell(Charge(self._account, turn_id, used))

    async def admit(self, turn_id: int) -> TurnEnding | None:
        """Wait until the turn may run, and count it; its ending if no budget covers it."""
        refusal = self.ledger.refusal() or await self._refusal_of_runtime(turn_id)
        if refusal:
            return TurnEnding(outcome=Outcome.OVER_BUDGET, reason=refusal)
        self.ledger.open(turn_id)
        self._counted = 0
        if self._limiter is not None:
            await self._wait_for_rate(self._limiter, turn_id)
        return None

    def begin_unasked(self, turn_id: int) -> None:
        """Count a turn that the agent began by itself: no budget was asked, but it uses them up."""
        self.ledger.open(turn_id)

    async def spent(self, spent: Spent) -> str:
        """Count a report; the reason why the turn must end now, or nothing."""
        if spent.turn_id and spent.turn_id == self._counted:
            return ""
        self.ledger.report(spent.turn_id, spent.usage)
        await self._runtime.tell(Charge(self._account, spent.turn_id, spent.usage))
        is_running = spent.turn_id in self.ledger.in_flight()
        await self._warn(spent.turn_id if is_running else 0, self.ledger.warnings())
        return self.ledger.overrun() if is_running else ""

    def count(self, turn_id: int, last_report: Usage | None) -> None:
        """The agent has ended the turn; no report comes after this one."""
        if last_report is not None:
            self.ledger.report(turn_id, last_report)
            self._counted = turn_id

    async def settle(self, turn_id: int, outcome: Outcome) -> None:
        """The turn is over: its reserve is free, and what the budget has to say of it is said."""
        used = self.ledger.settle(turn_id)
        await self._runtime.tell(Release(self._account, turn_id, outcome, used))
        warnings = self.ledger.warnings()
        if used is not None and outcome is Outcome.COMPLETED and not self._is_blind:
            blind_spot = self.ledger.blind_spot(used)
            self._is_blind = bool(blind_spot)
            warnings += [blind_spot] if blind_spot else []
        await self._warn(turn_id, warnings)

    async def _refusal_of_runtime(self, turn_id: int) -> str:
        used = self.ledger.in_flight().get(turn_id)
        if used is not None:
            # Another attempt, which counts by itself: what the first one used must not be replaced.
            await self._runtime.tell(Charge(self._account, turn_id, used))
        elif not self._is_runtime_limited:
            return ""
        return await ask_runtime_budget(self._runtime, Reserve(self._account, turn_id))

    async def _wait_for_rate(self, limiter: Address[LimiterMessage], turn_id: int) -> None:
        while True:
            try:
                await limiter.ask(Acquire(turn_id))
            except ActorRestarting:  # it has forgotten who waited
                await trio.sleep(_LIMITER_IS_BACK)
            except trio.Cancelled:
                limiter.tell_nowait(GiveBack(turn_id))
                raise
            else:
                return

    async def _warn(self, turn_id: int, notes: list[str]) -> None:
        if notes:
            events = [
                DiagnosticEvent(message=note, level=Level.WARNING, source="budget")
                for note in notes
            ]
            await self._tracker.tell(Publish(turn_id, events))
