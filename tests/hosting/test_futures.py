import asyncio
import threading
from concurrent.futures import Future

import pytest
import trio

from avatar_actors.hosting.futures import all_finished, finished, finished_though_cancelled
from tests.hosting.engines import PATIENCE


def finish_soon(future: Future[None]) -> None:
    threading.Thread(target=future.set_result, args=(None,)).start()


def fail_soon(future: Future[None]) -> None:
    threading.Thread(target=future.set_exception, args=(LookupError(),)).start()


def test_wait_in_an_asyncio_loop_ends_with_the_future() -> None:
    async def main() -> None:
        future: Future[None] = Future()
        finish_soon(future)
        await asyncio.wait_for(finished(future), PATIENCE)

    asyncio.run(main())


async def test_wait_in_a_trio_run_ends_with_the_future() -> None:
    future: Future[None] = Future()
    finish_soon(future)
    with trio.fail_after(PATIENCE):
        await finished(future)


async def test_wait_for_a_future_that_is_done_ends_at_once() -> None:
    future: Future[None] = Future()
    future.set_result(None)
    with trio.fail_after(PATIENCE):
        await finished(future)


def test_error_stays_in_the_future_and_asyncio_logs_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        future: Future[None] = Future()
        fail_soon(future)
        await asyncio.wait_for(finished(future), PATIENCE)
        assert isinstance(future.exception(), LookupError)

    asyncio.run(main())
    assert caplog.text == ""


async def test_cancelled_wait_of_trio_ends_at_once() -> None:
    with trio.move_on_after(0.01) as scope:
        await finished(Future())
    assert scope.cancelled_caught


async def test_wait_of_trio_that_outlasts_a_cancellation_ends_with_the_future() -> None:
    future: Future[None] = Future()
    with trio.CancelScope() as scope:
        scope.cancel()
        finish_soon(future)
        await finished_though_cancelled(future)
    assert future.done()


def test_wait_of_asyncio_that_outlasts_a_cancellation_raises_it_afterwards() -> None:
    async def main() -> None:
        future: Future[None] = Future()
        waiting = asyncio.create_task(finished_though_cancelled(future))
        for _ in range(3):
            await asyncio.sleep(0)
            waiting.cancel()
        assert not waiting.done()
        finish_soon(future)
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(main())


def test_future_for_a_loop_that_is_closed_is_set_without_harm(
    caplog: pytest.LogCaptureFixture,
) -> None:
    future: Future[None] = Future()

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(finished(future), 0.01)

    asyncio.run(main())
    future.set_result(None)
    assert caplog.text == ""


async def test_wait_for_several_says_whether_all_were_done_in_time() -> None:
    one, other = Future[None](), Future[None]()
    one.set_result(None)
    assert not await all_finished([one, other], 0.01)
    finish_soon(other)
    assert await all_finished([one, other], PATIENCE)
