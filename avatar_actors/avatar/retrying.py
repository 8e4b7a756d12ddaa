"""The retry policy: how long to pause before what failed is tried again, and when not to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

from avatar_actors.avatar.ending import start_error
from avatar_actors.avatar.messages import HubMessage, Publish, TurnEnding
from avatar_actors.model.errors import AgentNotReady
from avatar_actors.model.events import RetryEvent
from avatar_actors.model.settings import Retry
from supervisors import Address, StartFailed

T = TypeVar("T")

# Doubled so often, any pause is over the longest.
_DOUBLINGS = 40


def next_attempt(
    retry: Retry, attempt: int, reason: str, asked_for: float = 0.0
) -> RetryEvent | None:
    """The next attempt after this one, or None: it was the last, or the pause would be too long."""
    if attempt >= retry.max_attempts or asked_for > retry.max_delay:
        return None
    grown = retry.backoff_base * 2 ** min(attempt - 1, _DOUBLINGS)
    delay = max(min(grown, retry.max_delay), asked_for)
    return RetryEvent(attempt=attempt + 1, of=retry.max_attempts, delay=delay, reason=reason)


def retry_of(retry: Retry, attempt: int, ending: TurnEnding) -> RetryEvent | None:
    """The next attempt at a prompt that was refused for now; None for any other ending."""
    if not ending.is_recoverable:
        return None
    return next_attempt(retry, attempt, ending.reason, ending.retry_after)


def patience(retry: Retry, each: float) -> float:
    """How long all attempts may take together, if each may take so long."""
    return retry.max_attempts * each + (retry.max_attempts - 1) * retry.max_delay


async def start_patiently(
    start: Callable[[], Awaitable[T]], retry: Retry, hub: Address[HubMessage]
) -> T:
    """Start it; an agent that was not ready is tried again by the policy, each time with an event.

    Only that: what is not installed, not logged in or set wrongly will be so the next time.
    """
    attempt = 1
    while True:
        try:
            return await start()
        except StartFailed as failed:
            error = start_error(failed)
            event = None
            if isinstance(error, AgentNotReady):
                event = next_attempt(retry, attempt, error.message)
            if event is None:
                raise
        await hub.tell(Publish(0, [event]))
        await trio.sleep(event.delay)
        attempt += 1
