"""The decisions of supervision, pure: what happens to a child, to whom else, and when."""

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from supervisors.exits import Exit, ExitKind
from supervisors.specs import Backoff, Restart, Strategy

T = TypeVar("T")


def comes_back(restart: Restart, exit: Exit) -> bool:
    """OTP's table: whether a child that ended by itself is restarted.

    | restart   | returned, shut down | crashed, killed, stuck | ignored its start |
    |-----------|---------------------|------------------------|-------------------|
    | PERMANENT | yes                 | yes                    | no                |
    | TRANSIENT | no                  | yes                    | no                |
    | TEMPORARY | no                  | no                     | no                |
    """
    if restart is Restart.PERMANENT:
        return exit.kind is not ExitKind.IGNORED
    return restart is Restart.TRANSIENT and not exit.orderly


def affected(strategy: Strategy, children: Iterable[T], victim: T) -> list[T]:
    """Who is stopped and started together with the victim, in start order."""
    if strategy is Strategy.ONE_FOR_ALL:
        return list(children)
    if strategy is Strategy.REST_FOR_ONE:
        in_order = list(children)
        return in_order[in_order.index(victim) :]
    return [victim]


@dataclass(slots=True, repr=False, eq=False)
class RestartBudget:
    """At most `intensity` restarts within `period` seconds; one exactly that old still counts."""

    intensity: int
    period: float
    _spent: deque[float] = field(default_factory=deque[float])

    def spend(self, now: float) -> bool:
        """Count one restart before it is tried; False means: give up."""
        while self._spent and self._spent[0] < now - self.period:
            self._spent.popleft()
        if len(self._spent) >= self.intensity:
            return False
        self._spent.append(now)
        return True


def restart_delay(backoff: Backoff | None, failures: int, dice: float) -> float:
    """Seconds to wait before restart number `failures` in a row; `dice` is uniform in [0, 1)."""
    if backoff is None:
        return 0.0
    # Compared as logarithms: the power itself overflows a float after some hundred failures.
    is_full = failures * math.log(backoff.factor) >= math.log(backoff.maximum / backoff.minimum)
    delay = backoff.maximum if is_full else backoff.minimum * backoff.factor**failures
    return delay * (1 + dice * backoff.jitter)
