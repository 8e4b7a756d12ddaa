import asyncio
import threading

import pytest
import trio

from avatar_actors.hosting.portal import ThreadEvent
from tests.hosting.engines import PATIENCE


def ring_soon(bell: ThreadEvent) -> None:
    threading.Thread(target=bell.ring).start()


def test_bell_is_heard_in_a_thread() -> None:
    bell = ThreadEvent()
    ring_soon(bell)
    assert bell.hear_sync(PATIENCE)


def test_bell_that_is_not_rung_in_time_is_not_heard() -> None:
    assert not ThreadEvent().hear_sync(0.01)


def test_bell_is_heard_in_an_asyncio_loop() -> None:
    async def main() -> None:
        bell = ThreadEvent()
        ring_soon(bell)
        await asyncio.wait_for(bell.hear(), PATIENCE)

    asyncio.run(main())


async def test_bell_is_heard_in_a_trio_run() -> None:
    bell = ThreadEvent()
    ring_soon(bell)
    with trio.fail_after(PATIENCE):
        await bell.hear()


def test_who_comes_late_hears_it_too() -> None:
    bell = ThreadEvent()
    bell.ring()
    bell.ring()
    heard: list[int] = []
    bell.when_rung(lambda: heard.append(1))
    assert bell.hear_sync()
    assert heard == [1]


async def test_cancelled_waiter_of_trio_leaves_at_once() -> None:
    bell = ThreadEvent()
    with trio.move_on_after(0.01) as scope:
        await bell.hear()
    assert scope.cancelled_caught


async def test_waiter_of_trio_that_hears_it_out_stays_though_it_is_cancelled() -> None:
    bell = ThreadEvent()
    with trio.CancelScope() as scope:
        scope.cancel()
        ring_soon(bell)
        await bell.hear_out()
    assert bell.is_rung


def test_waiter_of_asyncio_that_hears_it_out_stays_though_it_is_cancelled() -> None:
    async def main() -> None:
        bell = ThreadEvent()
        waiting = asyncio.create_task(bell.hear_out())
        for _ in range(3):
            await asyncio.sleep(0)
            waiting.cancel()
        assert not waiting.done()
        ring_soon(bell)
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(main())


def test_bell_for_a_loop_that_is_closed_rings_without_harm() -> None:
    bell = ThreadEvent()

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(bell.hear(), 0.01)

    asyncio.run(main())
    bell.ring()
    assert bell.is_rung
