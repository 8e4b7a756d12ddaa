"""RC-12: the limiter wakes one waiter at a time, in order, and a place that is left is free."""

from functools import partial

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from avatar_actors.avatar.actors.rate_limiter import rate_limiter
from avatar_actors.avatar.messages import Acquire, GiveBack, LimiterMessage, TrackerMessage
from avatar_actors.model.settings import RateLimit
from supervisors import Address, ChildSpec, open_supervisor
from tests.avatar.actor_tree import Recorder

A_SECOND_EACH = RateLimit(per_minute=60, burst=1)


async def acquire(
    limiter: Address[LimiterMessage], ticket: int, scope: trio.CancelScope, served: list[int]
) -> None:
    """As the turn queue does it: who leaves the queue gives its place back."""
    with scope:
        try:
            await limiter.ask(Acquire(ticket))
        except trio.Cancelled:
            limiter.tell_nowait(GiveBack(ticket))
            raise
        served.append(ticket)


async def serve_ten(cancelled: set[int], after: float) -> tuple[list[int], float]:
    """Who was served, in which order, and how long that took."""
    served: list[int] = []
    async with open_supervisor("test") as supervisor:
        tracker = await supervisor.start(ChildSpec("tracker", Recorder[TrackerMessage]()))
        limiting = partial(rate_limiter, limit=A_SECOND_EACH, tracker=tracker)
        limiter = await supervisor.start(ChildSpec("limiter", limiting))
        start = trio.current_time()
        scopes = [trio.CancelScope() for _ in range(10)]
        async with trio.open_nursery() as nursery:
            for ticket, scope in enumerate(scopes):
                nursery.start_soon(acquire, limiter, ticket, scope, served)
                await wait_all_tasks_blocked()
            await trio.sleep(after)
            for ticket in cancelled:
                scopes[ticket].cancel()
        return served, trio.current_time() - start


async def test_rc_12_ten_acquires_take_nine_seconds_in_order(autojump_clock: MockClock) -> None:
    served, took = await serve_ten(cancelled=set(), after=0)
    assert served == list(range(10))
    assert took == pytest.approx(9)


async def test_rc_12_cancelled_waiter_gives_its_place_back(autojump_clock: MockClock) -> None:
    served, took = await serve_ten(cancelled={2, 5, 9}, after=0)
    assert served == [0, 1, 3, 4, 6, 7, 8]
    assert took == pytest.approx(6)


async def test_rc_12_waiter_cancelled_at_the_moment_of_its_turn_loses_no_token(
    autojump_clock: MockClock,
) -> None:
    served, took = await serve_ten(cancelled={3}, after=3)
    assert [ticket for ticket in served if ticket != 3] == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    assert took == pytest.approx(9 if 3 in served else 8)
