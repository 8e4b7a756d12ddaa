"""The rate limiter: a token bucket with one queue, first come, first served."""

from __future__ import annotations

import math
from collections import deque

import trio

from avatar_actors.avatar.limit_messages import Acquire, GiveBack, LimiterMessage
from avatar_actors.avatar.messages import Happened, TrackerMessage
from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.settings import RateLimit
from supervisors import Address, Inbox, Reply


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
        """A token that was not used."""
        self._full_at -= self._every

    def wait(self, now: float, place: int) -> float:
        """How long who stands in this place of the queue, from 1, has to wait."""
        return max(0.0, self.next_at() + (place - 1) * self._every - now)

    def next_at(self) -> float:
        """When there is a token."""
        # A hair early rather than a hair late: sums of fractions are never exact.
        return self._full_at - (self._burst - 1) * self._every - 1e-9


def _waits(delay: float) -> DiagnosticEvent:
    message = f"the prompt waits {delay:.3g} s for the rate limit"
    return DiagnosticEvent(message=message, source="rate limit")


async def rate_limiter(
    inbox: Inbox[LimiterMessage], limit: RateLimit | None, tracker: Address[TrackerMessage]
) -> None:
    """Answers each Acquire when its turn has come; without a limit, at once.

    Who has to wait is told of it. The tracker passes that on: only it knows whether the turn that
    the ticket stands for is still to be spoken of.
    """
    bucket = TokenBucket(limit, trio.current_time()) if limit is not None else None
    waiting: deque[tuple[int, Reply[None]]] = deque()
    while True:
        while waiting and (bucket is None or bucket.take(trio.current_time())):
            waiting.popleft()[1].send(None)
        wake_at = bucket.next_at() if waiting and bucket is not None else math.inf
        with trio.move_on_at(wake_at):
            match message := await inbox.receive():
                case Acquire(ticket):
                    waiting.append((ticket, inbox.defer(message)))
                    delay = bucket.wait(trio.current_time(), len(waiting)) if bucket else 0.0
                    if delay > 0:
                        await tracker.tell(Happened(ticket, [_waits(delay)]))
                case GiveBack(ticket):
                    places = [place for place in waiting if place[0] != ticket]
                    if len(places) == len(waiting) and bucket is not None:
                        bucket.put_back()
                    waiting = deque(places)
