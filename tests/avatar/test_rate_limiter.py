"""The rate limiter, alone, on virtual time."""

from functools import partial

import trio
from trio.testing import MockClock

from avatar_actors.avatar.actors.rate_limiter import rate_limiter
from avatar_actors.avatar.messages import Acquire, GiveBack, LimiterMessage, TrackerMessage
from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.settings import RateLimit
from avatar_actors.session.messages import Publish
from supervisors import Address
from tests.avatar.actor_tree import ActorTree, Recorder, open_tree


async def play_limiter(
    tree: ActorTree, limit: RateLimit | None, recorder: Recorder[TrackerMessage] | None = None
) -> Address[LimiterMessage]:
    tracker = await tree.start("tracker", recorder or Recorder[TrackerMessage]())
    return await tree.start("limiter", partial(rate_limiter, limit=limit, tracker=tracker))


class Waiters:
    """Who got through, and when."""

    def __init__(self, limiter: Address[LimiterMessage]) -> None:
        self.through: list[tuple[int, float]] = []
        self.limiter = limiter
        self.began = trio.current_time()

    async def wait(self, ticket: int) -> None:
        try:
            await self.limiter.ask(Acquire(ticket))
        except trio.Cancelled:
            self.limiter.tell_nowait(GiveBack(ticket))
            raise
        self.through.append((ticket, round(trio.current_time() - self.began, 3)))


async def test_rc_12_ten_acquires_at_sixty_a_minute_take_nine_seconds_in_order(
    autojump_clock: MockClock,
) -> None:
    async with open_tree() as tree:
        waiters = Waiters(await play_limiter(tree, RateLimit(60, burst=1)))
        async with trio.open_nursery() as nursery:
            for ticket in range(10):
                nursery.start_soon(waiters.wait, ticket)
                await tree.settle()
        assert waiters.through == [(ticket, float(ticket)) for ticket in range(10)]


async def test_rc_12_a_cancelled_waiter_gives_its_place_back(autojump_clock: MockClock) -> None:
    async with open_tree() as tree:
        waiters = Waiters(await play_limiter(tree, RateLimit(60, burst=1)))
        async with trio.open_nursery() as nursery:
            scopes = [trio.CancelScope() for _ in range(5)]

            async def wait_in(ticket: int) -> None:
                with scopes[ticket]:
                    await waiters.wait(ticket)

            for ticket in range(5):
                nursery.start_soon(wait_in, ticket)
                await tree.settle()
            scopes[1].cancel()
            scopes[3].cancel()
        assert waiters.through == [(0, 0.0), (2, 1.0), (4, 2.0)]


async def test_a_token_that_came_too_late_is_given_back(autojump_clock: MockClock) -> None:
    async with open_tree() as tree:
        waiters = Waiters(await play_limiter(tree, RateLimit(1)))
        with trio.CancelScope() as scope:
            scope.cancel()
            await waiters.wait(1)
        await waiters.wait(2)
        assert waiters.through == [(2, 0.0)]


async def test_a_burst_goes_through_at_once_and_comes_back_with_time(
    autojump_clock: MockClock,
) -> None:
    async with open_tree() as tree:
        waiters = Waiters(await play_limiter(tree, RateLimit(60, burst=3)))
        for ticket in range(4):
            await waiters.wait(ticket)
        await trio.sleep(100)
        for ticket in range(4, 8):
            await waiters.wait(ticket)
        assert [when for _, when in waiters.through] == [0, 0, 0, 1, 101, 101, 101, 102]


async def test_without_a_limit_nobody_waits(autojump_clock: MockClock) -> None:
    async with open_tree() as tree:
        waiters = Waiters(await play_limiter(tree, None))
        for ticket in range(1000):
            await waiters.wait(ticket)
        assert {when for _, when in waiters.through} == {0.0}


async def test_who_has_to_wait_is_told_how_long_and_nobody_else(autojump_clock: MockClock) -> None:
    tracker = Recorder[TrackerMessage]()
    async with open_tree() as tree:
        waiters = Waiters(await play_limiter(tree, RateLimit(60, burst=1), tracker))
        async with trio.open_nursery() as nursery:
            for ticket in (7, 8, 9):
                nursery.start_soon(waiters.wait, ticket)
                await tree.settle()
    told = [
        (each.turn_id, event.message)
        for each in tracker.heard
        if isinstance(each, Publish)
        for event in each.events
        if isinstance(event, DiagnosticEvent)
    ]
    assert told == [
        (8, "the prompt waits 1 s for the rate limit"),
        (9, "the prompt waits 2 s for the rate limit"),
    ]
