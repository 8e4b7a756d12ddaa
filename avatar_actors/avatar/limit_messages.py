"""What is said about limits: to the rate limiter, the budget keeper and the runtime's treasurer.

prompt   turn queue ─▶ budget keeper: MayRun ─▶ treasurer: Reserve; then ─▶ rate limiter: Acquire
usage    bridge     ─▶ budget keeper: Spent  ─▶ treasurer: Charge
end      turn queue ─▶ budget keeper: Settle ─▶ treasurer: Release
"""

from __future__ import annotations

from typing import TypeAlias, TypeVar

import trio
from msgspec import Struct

from avatar_actors.avatar.messages import HubMessage, TurnMessage
from avatar_actors.model.settings import Budget
from avatar_actors.model.values import Outcome, Usage
from supervisors import ActorRestarting, Address, Request

R = TypeVar("R")

_TREASURER_IS_BACK = 0.01

# To the rate limiter.


class Acquire(Struct, Request[None], frozen=True):
    """Answered when this ticket's turn has come."""

    ticket: int


class GiveBack(Struct, frozen=True):
    """The owner of this ticket left: its place, or its token, is free again."""

    ticket: int


LimiterMessage: TypeAlias = Acquire | GiveBack

# To the budget keeper, and to the treasurer.


class TotalSpent(Struct, Request[Usage], frozen=True):
    """What was used in the life of the avatar, or of the runtime."""


class RaiseBudget(Struct, Request[None], frozen=True):
    """From now on this budget holds; what was spent is spent."""

    budget: Budget


class MayRun(Struct, Request[str], frozen=True):
    """Answered with the reason why not, or with nothing: then the turn counts, and reserves."""

    turn_id: int
    turn_queue: Address[TurnMessage]


class Spent(Struct, frozen=True):
    """What a turn has used up to now; turn 0: what was used outside of any."""

    turn_id: int
    usage: Usage


class Settle(Struct, Request[None], frozen=True):
    """The turn is over, however: its reserve is free. Answered when all of it is counted."""

    turn_id: int
    outcome: Outcome


BudgetMessage: TypeAlias = MayRun | Spent | Settle | TotalSpent | RaiseBudget

# To the treasurer. The hub stands for the avatar: it is where its warnings go.


class Reserve(Struct, Request[str], frozen=True):
    """The same question as MayRun, for the whole runtime."""

    hub: Address[HubMessage]
    turn_id: int
    turn_queue: Address[TurnMessage]


class Charge(Struct, frozen=True):
    """What a turn has used up to now."""

    hub: Address[HubMessage]
    turn_id: int
    usage: Usage


class Release(Struct, frozen=True):
    """The turn is over; `usage` is all that it used, None if it never ran."""

    hub: Address[HubMessage]
    turn_id: int
    outcome: Outcome
    usage: Usage | None = None


class CloseAccount(Struct, frozen=True):
    """The avatar has ended, perhaps in the middle of a turn."""

    hub: Address[HubMessage]


TreasurerMessage: TypeAlias = Reserve | Charge | Release | CloseAccount | TotalSpent | RaiseBudget


async def ask_treasurer(treasurer: Address[TreasurerMessage], request: Request[R]) -> R:
    """The treasurer's answer; one that has crashed is back in a moment, with its books."""
    while True:
        try:
            return await treasurer.ask(request)
        except ActorRestarting:
            await trio.sleep(_TREASURER_IS_BACK)
