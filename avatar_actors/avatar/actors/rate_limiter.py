"""The rate limiter: one queue at a token bucket, first come, first served."""

from __future__ import annotations

import math

import trio

from avatar_actors.avatar.messages import Acquire, GiveBack, LimiterMessage, TrackerMessage
from avatar_actors.avatar.state.limits import TokenBucket
from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.settings import RateLimit
from avatar_actors.session.messages import Publish
from supervisors import Address, Inbox, Reply


def _waits(delay: float) -> DiagnosticEvent:
    message = f"the prompt waits {delay:.3g} s for the rate limit"
    return DiagnosticEvent(message=message, source="rate limit")


async def rate_limiter(
    inbox: Inbox[LimiterMessage], limit: RateLimit | None, tracker: Address[TrackerMessage]
) -> None:
    """Answers each Acquire when it has a token; without a limit, at once.

    A turn that has to wait gets an event, by way of the tracker, which knows whether the turn of
    that ticket still runs.
    """
    bucket = TokenBucket(limit, trio.current_time()) if limit is not None else None
    waiting: list[tuple[int, Reply[None]]] = []
    while True:
        while waiting and (bucket is None or bucket.take(trio.current_time())):
            waiting.pop(0)[1].send(None)
        wake_at = bucket.next_at() if waiting and bucket is not None else math.inf
        with trio.move_on_at(wake_at):
            match message := await inbox.receive():
                case Acquire(ticket):
                    waiting.append((ticket, inbox.defer(message)))
                    delay = bucket.wait(trio.current_time(), len(waiting)) if bucket else 0.0
                    if delay > 0:
                        await tracker.tell(Publish(ticket, [_waits(delay)]))
                case GiveBack(ticket):
                    places = [place for place in waiting if place[0] != ticket]
                    if len(places) == len(waiting) and bucket is not None:
                        bucket.put_back()
                    waiting = places
