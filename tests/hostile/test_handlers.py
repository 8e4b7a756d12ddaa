"""Handlers that raise what ends threads and tasks elsewhere (M5), and two threads at one slot."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

import pytest
import trio

from avatar_actors import AvatarEvent, EventEmitter, TextEvent
from avatar_actors.hosting.streams import BatchSlot
from tests.hosting.engines import PATIENCE, Engines, RecordingHandler

if TYPE_CHECKING:
    from _typeshed import TraceFunction

TEXTS = ["a", "b", "c"]
RAISED = [
    SystemExit(3),
    KeyboardInterrupt(),
    asyncio.CancelledError(),
    GeneratorExit(),
    BaseException("of its own kind"),
]
every_kind = pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)


def emit_all(emitter: EventEmitter) -> None:
    for text in TEXTS:
        emitter.emit(TextEvent(text=text))


def texts(heard: list[AvatarEvent]) -> list[str]:
    return [event.text for event in heard if isinstance(event, TextEvent) and event.text]


@every_kind
def test_m5_plain_handler_gets_the_next_event_whatever_it_raised(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    emitter, heard, recorder = EventEmitter(), list[AvatarEvent](), RecordingHandler()

    @emitter.on(TextEvent)
    def fail(event: TextEvent) -> None:
        heard.append(event)
        raise error

    emitter.on(TextEvent, recorder)
    emit_all(emitter)
    assert emitter.flush_sync(PATIENCE)
    assert texts(heard) == texts(recorder.heard) == TEXTS
    assert caplog.text.count("a handler of TextEvent failed") == 3


@every_kind
def test_m5_coroutine_handler_on_the_made_loop_silences_nobody(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    emitter, heard, others = EventEmitter(), list[AvatarEvent](), list[AvatarEvent]()

    @emitter.on(TextEvent)
    async def fail(event: TextEvent) -> None:
        await asyncio.sleep(0)
        heard.append(event)
        raise error

    @emitter.on(TextEvent)
    async def listen(event: TextEvent) -> None:
        await asyncio.sleep(0)
        others.append(event)

    emit_all(emitter)
    assert emitter.flush_sync(PATIENCE)
    assert texts(heard) == texts(others) == TEXTS
    assert caplog.text.count("a handler of TextEvent failed") == 3
    emitter.end_handler_loop().result(PATIENCE)


@every_kind
def test_m5_coroutine_handler_on_the_host_loop_of_a_thread_gets_the_next_event(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[AvatarEvent] = []

    async def main() -> None:
        emitter = EventEmitter()

        @emitter.on(TextEvent)
        async def fail(event: TextEvent) -> None:
            await asyncio.sleep(0)
            heard.append(event)
            raise error

        emit_all(emitter)
        assert await emitter.flush(PATIENCE)

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    thread.join(PATIENCE)
    assert texts(heard) == TEXTS
    assert caplog.text.count("a handler of TextEvent failed") == 3


def test_m5_awaiting_a_cancelled_task_is_no_end_of_the_handler(engines: Engines) -> None:
    engine, heard = engines.make(), list[AvatarEvent]()

    async def wait_for_nothing(event: TextEvent) -> None:
        heard.append(event)
        task = asyncio.ensure_future(asyncio.sleep(PATIENCE))
        task.cancel()
        await task

    async def main() -> None:
        engine.on(TextEvent, wait_for_nothing)
        for _ in TEXTS:
            await engine.chat("1+1")
        await engine.stop()

    asyncio.run(main())
    assert texts(heard) == ["2", "2", "2"]


async def test_m5_engine_in_a_trio_program_stops_at_once_after_such_a_handler(
    engines: Engines,
) -> None:
    engine, heard = engines.make(), list[AvatarEvent]()

    @engine.on(TextEvent)
    def leave(event: TextEvent) -> None:
        heard.append(event)
        sys.exit()

    @engine.on(TextEvent)
    async def leave_too(event: TextEvent) -> None:
        heard.append(event)
        sys.exit()

    with trio.fail_after(PATIENCE):
        await engine.chat("1+1")
        await engine.chat("1+1")
        assert await engine.flush(PATIENCE)
        await engine.stop()
    assert texts(heard) == ["2"] * 4


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_m5_what_a_signal_raises_in_the_main_thread_reaches_it_and_the_rest_comes_later(
    error: type[BaseException],
) -> None:
    heard: list[AvatarEvent] = []
    loop = asyncio.new_event_loop()
    calls: list[Callable[[], None]] = []
    emitter = EventEmitter()

    async def interrupted(event: AvatarEvent) -> None:
        in_between(event)

    def in_between(event: AvatarEvent) -> None:
        heard.append(event)
        if texts([event]) == ["a"]:
            raise error

    async def register() -> None:
        emitter.on_any(interrupted)

    loop.run_until_complete(register())
    emitter.on_any(in_between, dispatcher=calls.append)
    emit_all(emitter)
    with pytest.raises(error):
        calls.pop()()
    calls.pop()()
    assert texts(heard) == TEXTS
    with pytest.raises(error):
        loop.run_until_complete(emitter.flush(PATIENCE))
    loop.run_until_complete(emitter.flush(PATIENCE))
    loop.close()
    assert texts(heard) == TEXTS * 2


def test_callback_that_leaves_costs_no_other_callback(
    engines: Engines, caplog: pytest.LogCaptureFixture
) -> None:
    engine, answered = engines.make(), threading.Event()
    engine.chat_async("1+1", lambda _: sys.exit()).result(PATIENCE)
    engine.chat_async("1+1", lambda _: answered.set()).result(PATIENCE)
    assert answered.wait(PATIENCE)
    assert "a callback of chat_async failed" in caplog.text


class WatchedSlot(BatchSlot[int]):
    @property
    def is_about_to_be_waited_for(self) -> bool:
        return self._emptied is not None and not self._lock.locked()


async def test_bug_1_reader_may_come_when_the_writer_is_just_about_to_wait() -> None:
    slot, taken = WatchedSlot(), list[int]()

    def come_between(frame: FrameType, event: str, _: object) -> TraceFunction | None:
        if frame.f_code.co_name != "put":
            return None
        if event == "line" and slot.is_about_to_be_waited_for:
            taken.extend(slot.take() or [])
        return come_between

    before = sys.gettrace()
    sys.settrace(come_between)
    try:
        with trio.fail_after(PATIENCE):
            for number in range(5):
                await slot.put([number])
    finally:
        sys.settrace(before)
    assert [*taken, *(slot.take() or [])] == list(range(5))
