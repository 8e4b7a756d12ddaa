import asyncio
import threading

import pytest
import trio

from avatar_actors import AvatarDown, Runtime, RuntimeThread, Usage
from avatar_actors.hosting.runtime_thread import CallCancelled, RuntimeContext
from tests.conformance.remains import leaving_nothing
from tests.hosting.engines import PATIENCE


async def where(_: RuntimeContext) -> str:
    return threading.current_thread().name


async def for_ever(_: RuntimeContext) -> None:
    await trio.sleep_forever()


async def fail(_: RuntimeContext) -> None:
    raise LookupError("not here")


def test_call_is_done_in_the_runtime_thread_and_its_result_comes_back() -> None:
    with leaving_nothing(), RuntimeThread() as runtime:
        assert runtime.send(where).wait_sync() == "avatar-runtime"


def test_error_of_a_call_is_raised_as_itself() -> None:
    with (
        leaving_nothing(),
        RuntimeThread() as runtime,
        pytest.raises(LookupError, match="not here"),
    ):
        runtime.send(fail).wait_sync()


def test_the_tree_and_the_runtime_itself_are_in_reach_from_a_thread_and_from_asyncio() -> None:
    with leaving_nothing(), RuntimeThread() as runtime:
        assert [child.name for child in runtime.tree_sync().children][:2] == [
            "warden",
            "runtime budget",
        ]
        assert str(asyncio.run(runtime.tree())).startswith("runtime  running")
        assert asyncio.run(runtime.run(Runtime.spent)) == runtime.run_sync(Runtime.spent) == Usage()


def test_cancelled_call_ends() -> None:
    with leaving_nothing(), RuntimeThread() as runtime:
        call = runtime.send(for_ever)
        call.cancel()
        with pytest.raises(CallCancelled):
            call.wait_sync()


def test_call_that_is_cancelled_before_the_runtime_is_up_ends_too() -> None:
    with leaving_nothing():
        runtime = RuntimeThread()
        call = runtime.send(for_ever)
        call.cancel()
        with pytest.raises(CallCancelled):
            call.wait_sync()
        assert runtime.stop_sync(PATIENCE)


def test_calls_under_way_hear_of_the_stop() -> None:
    with leaving_nothing():
        runtime = RuntimeThread()
        call = runtime.send(for_ever)
        assert runtime.stop_sync(PATIENCE)
        with pytest.raises(AvatarDown):
            call.wait_sync()


def test_call_for_a_stopped_runtime_is_refused() -> None:
    runtime = RuntimeThread()
    runtime.stop_sync()
    with pytest.raises(AvatarDown):
        runtime.send(where).wait_sync()


def test_stop_twice_is_once() -> None:
    with leaving_nothing():
        runtime = RuntimeThread().start_sync()
        assert runtime.stop_sync(PATIENCE)
        assert runtime.stop_sync(PATIENCE)


def test_waiting_in_the_runtime_thread_is_refused() -> None:
    async def wait_here(_: RuntimeContext) -> None:
        runtime.send(where).wait_sync()

    with (
        leaving_nothing(),
        RuntimeThread() as runtime,
        pytest.raises(RuntimeError, match="own thread"),
    ):
        runtime.send(wait_here).wait_sync()


def test_wrong_option_is_told_at_the_start() -> None:
    with leaving_nothing(), pytest.raises((TypeError, ValueError)):
        RuntimeThread(max_avatars="many").start_sync()  # type: ignore[arg-type]
