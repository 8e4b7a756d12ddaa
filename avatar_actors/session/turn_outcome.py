"""The turn rules as a table: what a wire's fact means for the turn it falls into. Pure."""

from __future__ import annotations

from msgspec import Struct

from avatar_actors.avatar.messages import TurnEnding
from avatar_actors.model.values import Outcome
from avatar_actors.session.refusals import Refusal, refusal_in
from avatar_actors.wire.facts import TurnOver

# What the agent says at the end of a turn × what we had asked for → the outcome.
# Who finished before the interrupt arrived has finished; an error after it is its echo.
_OUTCOMES: dict[tuple[Outcome, bool], Outcome | None] = {
    (Outcome.COMPLETED, False): Outcome.COMPLETED,
    (Outcome.COMPLETED, True): Outcome.COMPLETED,
    (Outcome.REFUSED, False): Outcome.REFUSED,
    (Outcome.REFUSED, True): Outcome.REFUSED,
    (Outcome.CANCELLED, False): Outcome.CANCELLED,
    (Outcome.CANCELLED, True): None,
    (Outcome.FAILED, False): Outcome.FAILED,
    (Outcome.FAILED, True): None,
    (Outcome.CRASHED, False): Outcome.CRASHED,
    (Outcome.CRASHED, True): None,
    (Outcome.REJECTED, False): Outcome.REJECTED,
    (Outcome.REJECTED, True): Outcome.REJECTED,
}


class EndWish(Struct, frozen=True):
    """Why we asked the agent to end the turn: an interrupt, a timeout, the budget."""

    outcome: Outcome
    reason: str


def ending_of(over: TurnOver, wish: EndWish | None) -> TurnEnding:
    """How the turn ended, by what the agent said and what we had asked for."""
    outcome = _OUTCOMES[over.outcome, wish is not None]
    if outcome is None and wish is not None:
        return TurnEnding(
            outcome=wish.outcome,
            reason=wish.reason,
            stop_reason=over.stop_reason,
            usage=over.usage,
        )
    refusal = refusal_in(over.error) if outcome is Outcome.FAILED else Refusal()
    return TurnEnding(
        outcome=outcome or over.outcome,
        reason=over.error,
        stop_reason=over.stop_reason,
        usage=over.usage,
        is_recoverable=refusal.is_recoverable,
        retry_after=refusal.retry_after,
        data=over.data,
    )


def ending_unheard(wish: EndWish) -> TurnEnding:
    """The agent did not end the turn in the time it had."""
    return TurnEnding(
        outcome=wish.outcome,
        reason=f"{wish.reason}; the agent did not acknowledge it and is restarted",
    )


def ending_by_breach(why: str) -> TurnEnding:
    """The agent did what it may not do: it is not heard out."""
    return TurnEnding(outcome=Outcome.FAILED, reason=why)


def ending_by_death(how: str, wish: EndWish | None) -> TurnEnding:
    """The process ended in the middle of the turn."""
    if wish is not None:
        return TurnEnding(outcome=wish.outcome, reason=f"{wish.reason}; then {how}")
    return TurnEnding(outcome=Outcome.CRASHED, reason=how)
