"""The outcome, cost and retry advice of a turn, from the wire's facts. Pure."""

from __future__ import annotations

import re
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from avatar_actors.model.events import CostEvent, SessionInfoEvent
from avatar_actors.model.prices import PriceList
from avatar_actors.model.values import Outcome
from avatar_actors.session.messages import TurnEnding
from avatar_actors.wire.facts import Opened, TurnOver

_STATUS: Final = r"(?:HTTP|status|code|error|rejected)\W{0,6}(?:429|503|529)\b"
_WORDS: Final = (
    r"overloaded|too many requests|rate.?limit|resource_exhausted|\bunavailable\b|high demand"
)
FOR_NOW: Final = re.compile(rf"{_STATUS}|{_WORDS}", re.IGNORECASE)
# These come with the same statuses, and waiting does not help.
FOR_GOOD: Final = re.compile(r"insufficient.quota|billing|credit balance", re.IGNORECASE)
# As in: please retry in 34.07s; try again in 500ms; Retry-After: 5.
PAUSE: Final = re.compile(
    r"(?:retry|try again)[- ](?:after|in)\W{0,3}(\d+(?:\.\d+)?) ?(ms|s|min)?", re.IGNORECASE
)
# codex-acp 2.6.0, whose configuration may name any variable for a key.
MISSING_VARIABLE: Final = re.compile(r"Missing environment variable: `?(\w{1,200})")
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "min": 60.0, "": 1.0}


class Refusal(Struct, frozen=True):
    """Whether trying again may help, and how many seconds the agent asks to wait."""

    is_recoverable: bool = False
    retry_after: float = 0.0


def refusal_in(words: str) -> Refusal:
    """Whether the error text of a failed turn says that trying again may help."""
    if not FOR_NOW.search(words) or FOR_GOOD.search(words):
        return Refusal()
    pause = PAUSE.search(words)
    if pause is None:
        return Refusal(is_recoverable=True)
    return Refusal(
        is_recoverable=True, retry_after=float(pause[1]) * _SECONDS[(pause[2] or "").lower()]
    )


# What the agent says at the end of a turn × what we had asked for → the outcome.
# An agent that finished before the interrupt arrived has finished; an error after it is its echo.
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


class EndRequest(Struct, frozen=True):
    """Why we asked the agent to end the turn: an interrupt, a timeout, the budget."""

    outcome: Outcome
    reason: str


def ending_of(over: TurnOver, request: EndRequest | None) -> TurnEnding:
    """How the turn ended, by what the agent said and what we had asked for."""
    outcome = _OUTCOMES[over.outcome, request is not None]
    if outcome is None and request is not None:
        return TurnEnding(
            outcome=request.outcome,
            reason=request.reason,
            stop_reason=over.stop_reason,
            usage=over.usage,
        )
    refusal = refusal_in(over.error) if outcome is Outcome.FAILED else Refusal()
    return TurnEnding(
        outcome=outcome or over.outcome,
        reason=_reason(over),
        stop_reason=over.stop_reason,
        usage=over.usage,
        is_recoverable=refusal.is_recoverable,
        retry_after=refusal.retry_after,
        data=over.data,
        needs_login=over.needs_login,
    )


def _reason(over: TurnOver) -> str:
    if over.outcome is Outcome.CANCELLED:  # codex does so when a tool is denied
        return over.error or "the agent ended the turn by itself"
    if missing := MISSING_VARIABLE.search(over.error):
        way = f"agents get few of the host's variables: give {missing[1]} in `env`"
        return f"{over.error.rstrip('.')}; {way}"
    return over.error


def ending_unheard(request: EndRequest) -> TurnEnding:
    """The agent did not end the turn in the time it had."""
    return TurnEnding(
        outcome=request.outcome,
        reason=f"{request.reason}; the agent did not acknowledge it and is restarted",
    )


def ending_by_breach(why: str) -> TurnEnding:
    """The agent did what it may not do, and is cut off."""
    return TurnEnding(outcome=Outcome.FAILED, reason=why)


def ending_by_death(how: str, request: EndRequest | None) -> TurnEnding:
    """The process ended in the middle of the turn."""
    if request is not None:
        return TurnEnding(outcome=request.outcome, reason=f"{request.reason}; then {how}")
    return TurnEnding(outcome=Outcome.CRASHED, reason=how)


F = TypeVar("F")


class Tariff:
    """Adds costs to the facts of one session, in their order."""

    def __init__(self, prices: PriceList) -> None:
        self._prices = prices
        self._model = ""

    def applied(self, fact: F) -> F:
        """The same fact; if it tells of usage, with its cost and where that comes from."""
        if isinstance(fact, CostEvent):
            usage = self._prices.labelled(fact.usage, self._model)
            return replace(fact, cost_usd=usage.cost_usd, source=usage.cost_source)
        if isinstance(fact, TurnOver):
            return replace(fact, usage=self._prices.labelled(fact.usage, self._model))
        if isinstance(fact, Opened | SessionInfoEvent):
            self._model = fact.model or self._model
        return fact
