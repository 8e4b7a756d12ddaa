"""The ledger of a budget and the token bucket of the rate limiter. Pure, handed the time."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

from msgspec import Struct

from avatar_actors.model.settings import Budget, RateLimit
from avatar_actors.model.values import Usage

K = TypeVar("K", bound=Hashable)

# So many ended calls are remembered, so that a late report replaces what it repeats.
_REMEMBERED = 64


class Limit(Struct, frozen=True, kw_only=True):
    """One limit of a budget. `reserved` is what the calls in flight may yet spend."""

    name: str
    words: str
    most: float
    spent: float
    reserved: float = 0.0

    @property
    def fill(self) -> float:
        """How full it is; 1.0 is used up."""
        try:
            return self.spent / self.most if self.most > 0 else 1.0
        except OverflowError:
            return math.inf


class _OpenCall(Struct):
    reserve: Usage
    used: Usage = Usage()


class Ledger(Generic[K]):
    """Adds up what calls cost: each is opened, reported on and settled.

    An open call holds a reserve: as much as the dearest call so far, or `budget.reserve_usd`. A new
    call is refused when what was spent and what is reserved fill a limit, so that those who come
    together do not all start on the last cent.
    """

    def __init__(self, budget: Budget, holder: str) -> None:
        self.budget = budget
        self._holder = holder
        self._open: dict[K, _OpenCall] = {}
        self._settled: dict[K, Usage] = {}
        self._closed = Usage()
        self._dearest = Usage()
        self._turns = 0
        self._warned: set[str] = set()

    def open(self, call: K) -> None:
        """A call may run: it counts, and reserves. The same call again is another attempt."""
        self.settle(call)
        self._forget(call)
        self._turns += 1
        money = self.budget.reserve_usd
        cost = self._dearest.cost_usd if money is None else money
        self._open[call] = _OpenCall(Usage(cost_usd=cost, output_tokens=self._dearest.tokens))

    def report(self, call: K, usage: Usage) -> None:
        """Record what the call has used so far; each report replaces the one before."""
        # A figure that cannot be added up must not get in: every later sum would fail.
        usage = Usage() + usage
        if call in self._open:
            self._open[call].used = usage
        elif call in self._settled:
            self._settled[call] = usage
        else:
            self._closed += usage

    def settle(self, call: K) -> Usage | None:
        """End the call and free its reserve; returns what it used, None if it was not open."""
        ended = self._open.pop(call, None)
        if ended is None:
            return None
        used = self._settled[call] = ended.used
        self._dearest = Usage(
            cost_usd=max(used.cost_usd or 0.0, self._dearest.cost_usd or 0.0),
            output_tokens=max(used.tokens, self._dearest.tokens),
        )
        while len(self._settled) > _REMEMBERED:
            self._forget(next(iter(self._settled)))
        return used

    def forget(self, is_gone: Callable[[K], bool]) -> None:
        """Forget ended calls; what they used stays in the total."""
        for call in [each for each in self._settled if is_gone(each)]:
            self._forget(call)

    @property
    def has_limits(self) -> bool:
        """Whether anything is limited."""
        budget = self.budget
        return not budget.cost_usd is budget.tokens is budget.turns is None

    def in_flight(self) -> dict[K, Usage]:
        """The open calls, and what each has used so far."""
        return {call: entry.used for call, entry in self._open.items()}

    def is_known(self, call: K) -> bool:
        """Whether the call is open, or ended not long ago."""
        return call in self._open or call in self._settled

    def total(self) -> Usage:
        """Everything that was used."""
        running = [call.used for call in self._open.values()]
        return Usage.sum_of([self._closed, *self._settled.values(), *running])

    def refusal(self) -> str:
        """The reason why another call may not run, with advice; or nothing."""
        for limit in self._limits():
            if limit.spent >= limit.most:
                return self._used_up(limit)
            if limit.spent + limit.reserved >= limit.most:
                return (
                    f"what is left of {self._name(limit)} is reserved for {len(self._open)} turn(s)"
                    f" in flight; {self._advice(limit)}, or try again when they have ended"
                )
        return ""

    def overrun(self) -> str:
        """The reason why the calls in flight must end, or nothing; a limit of turns ends none."""
        for limit in self._limits():
            if limit.name != "turns" and limit.spent >= limit.most:
                return self._used_up(limit)
        return ""

    def warnings(self) -> list[str]:
        """Warnings for limits that have reached `warn_at`, each once."""
        full = [limit for limit in self._limits() if limit.fill >= self.budget.warn_at]
        new = [limit for limit in full if limit.name not in self._warned]
        self._warned.update(limit.name for limit in new)
        return [f"{limit.fill:.0%} of {self._name(limit)} is used" for limit in new]

    def blind_spot(self, used: Usage) -> str:
        """A warning if a whole call used nothing that a limit can see; or nothing."""
        for limit in self._limits():
            if why := _unseen(limit.name, used):
                return f"{self._name(limit)} cannot stop this agent: {why}"
        return ""

    def raise_to(self, budget: Budget) -> None:
        """Replace the budget; what was spent stays spent."""
        self.budget = budget
        self._warned.clear()

    def _limits(self) -> Iterator[Limit]:
        if not self.has_limits:
            return  # the total is a sum over all calls in flight
        budget, total = self.budget, self.total()
        if budget.cost_usd is not None:
            spent = total.cost_usd or 0.0
            reserved = sum(
                max((call.reserve.cost_usd or 0.0) - (call.used.cost_usd or 0.0), 0.0)
                for call in self._open.values()
            )
            yield Limit(
                name="cost_usd",
                words=f"{budget.cost_usd:g} USD",
                most=budget.cost_usd,
                spent=spent,
                reserved=reserved,
            )
        if budget.tokens is not None:
            reserved = sum(
                max(call.reserve.tokens - call.used.tokens, 0) for call in self._open.values()
            )
            yield Limit(
                name="tokens",
                words=f"{budget.tokens} tokens",
                most=budget.tokens,
                spent=total.tokens,
                reserved=reserved,
            )
        if budget.turns is not None:
            words = f"{budget.turns} turn(s)"
            yield Limit(name="turns", words=words, most=budget.turns, spent=self._turns)

    def _forget(self, call: K) -> None:
        used = self._settled.pop(call, None)
        if used is not None:
            self._closed += used

    def _used_up(self, limit: Limit) -> str:
        return f"{self._name(limit)} is used up; {self._advice(limit)}"

    def _name(self, limit: Limit) -> str:
        return f"the {self._holder}'s budget of {limit.words}"

    def _advice(self, limit: Limit) -> str:
        raising = f"{self._holder}.raise_budget(Budget({limit.name}=…))"
        owner = "an AvatarEngine" if self._holder == "avatar" else "a RuntimeThread"
        return f"raise it with {raising} (of {owner}: in its run_sync)"


def _unseen(limit: str, used: Usage) -> str:
    """Why the limit does not see this usage, and what to limit instead; or nothing."""
    has_tokens = used.tokens > 0
    match limit:
        case "cost_usd" if used.cost_usd is None and has_tokens:
            return (
                "nobody tells what its turns cost. Set `prices` for its model, "
                "or limit tokens or turns"
            )
        case "cost_usd" if used.cost_usd is None:
            return "it tells neither money nor tokens. Limit turns"
        # What is free may well have used no tokens: a command that the agent itself answers.
        case "tokens" if not has_tokens and used.cost_usd != 0:
            return "it tells no tokens. Limit turns"
        case _:
            return ""


class TokenBucket:
    """Tokens come at a steady rate up to a burst. Pure: it is handed the time."""

    def __init__(self, limit: RateLimit, now: float) -> None:
        self._every = 60.0 / limit.per_minute
        self._burst = limit.burst
        # The time at which the bucket would be full; a token is its price in time.
        self._full_at = now

    def take(self, now: float) -> bool:
        """Take a token, if there is one."""
        if self.next_at() > now:
            return False
        self._full_at = max(self._full_at, now) + self._every
        return True

    def put_back(self) -> None:
        """Return a token that was not used."""
        self._full_at -= self._every

    def wait(self, now: float, place: int) -> float:
        """Seconds until the n-th waiter (1-based) gets a token."""
        return max(0.0, self.next_at() + (place - 1) * self._every - now)

    def next_at(self) -> float:
        """The time of the next token."""
        # A hair early rather than a hair late: sums of fractions are never exact.
        return self._full_at - (self._burst - 1) * self._every - 1e-9
