import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import wait

import pytest

from avatar_actors import (
    AvatarEvent,
    EventEmitter,
    EventsLostEvent,
    SettingsError,
    StateEvent,
    TextEvent,
    ToolEvent,
)
from avatar_actors.hosting.executors import HandlerQueue, OwnLoop
from tests.hosting.engines import PATIENCE, RecordingHandler


def texts(recorder: RecordingHandler) -> list[str]:
    return [event.text for event in recorder.heard if isinstance(event, TextEvent)]


def test_handler_gets_events_of_its_type_and_of_its_children() -> None:
    emitter, text, everything = EventEmitter(), RecordingHandler(), RecordingHandler()
    emitter.on(TextEvent, text)
    emitter.on(AvatarEvent, everything)
    emitter.emit(TextEvent(text="a"))
    emitter.emit(ToolEvent(tool_name="b"))
    assert emitter.flush_sync(PATIENCE)
    assert texts(text) == ["a"]
    assert len(text.heard) == 1
    assert len(everything.heard) == 2


def test_decorator_registers_and_gives_the_function_back() -> None:
    emitter, heard = EventEmitter(), list[str]()

    @emitter.on(TextEvent)
    def on_text(event: TextEvent) -> None:
        heard.append(event.text)

    emitter.emit_threadsafe(TextEvent(text="a"))
    emitter.flush_sync(PATIENCE)
    on_text(TextEvent(text="b"))
    assert heard == ["a", "b"]


def test_removed_handlers_are_called_no_more() -> None:
    emitter, one, other, every = (
        EventEmitter(),
        RecordingHandler(),
        RecordingHandler(),
        RecordingHandler(),
    )
    emitter.on(TextEvent, one)
    emitter.on(ToolEvent, other)
    emitter.on_any(every)
    emitter.remove_handler(TextEvent, one)
    emitter.remove_handler(TextEvent, one)
    emitter.emit(TextEvent(text="a"))
    emitter.clear_handlers(ToolEvent)
    emitter.emit(ToolEvent())
    emitter.flush_sync(PATIENCE)
    emitter.clear_handlers()
    emitter.emit(TextEvent(text="b"))
    emitter.flush_sync(PATIENCE)
    assert (len(one.heard), len(other.heard), len(every.heard)) == (0, 0, 2)


def test_handlers_are_called_off_the_emitting_thread() -> None:
    emitter, recorder = EventEmitter(), RecordingHandler()
    emitter.on_any(recorder)
    emitter.emit(TextEvent(text="a"))
    emitter.flush_sync(PATIENCE)
    assert threading.current_thread().name not in recorder.threads


def test_handler_that_fails_gets_the_next_event_too(caplog: pytest.LogCaptureFixture) -> None:
    emitter, heard = EventEmitter(), list[AvatarEvent]()

    @emitter.on_any
    def fail(event: AvatarEvent) -> None:
        heard.append(event)
        raise LookupError("in the handler")

    emitter.emit(TextEvent(text="a"))
    emitter.emit(TextEvent(text="b"))
    emitter.flush_sync(PATIENCE)
    assert len(heard) == 2
    assert "in the handler" in caplog.text


def test_slow_handler_holds_up_no_other_and_loses_no_text() -> None:
    emitter, recorder = EventEmitter(), RecordingHandler()
    slow: list[str] = []
    go_on = threading.Event()

    @emitter.on(TextEvent)
    def wait(event: TextEvent) -> None:
        go_on.wait(PATIENCE)
        slow.append(event.text)

    emitter.on(TextEvent, recorder)
    for number in range(100):
        emitter.deliver([TextEvent(text=f"{number * 1000 + k} ") for k in range(1000)])
    recorder.until(
        lambda heard: sum(len(t.text) for t in heard if isinstance(t, TextEvent)) > 580_000
    )
    assert slow == []
    go_on.set()
    assert emitter.flush_sync(PATIENCE)
    assert "".join(slow) == "".join(f"{n} " for n in range(100_000))
    # Merged, since it did not keep up: that is what bounds the memory.
    assert len(slow) < 10_000


def test_handler_that_is_far_behind_is_told_how_much_it_missed() -> None:
    emitter, heard = EventEmitter(), list[AvatarEvent]()
    go_on = threading.Event()

    @emitter.on_any
    def wait(event: AvatarEvent) -> None:
        go_on.wait(PATIENCE)
        heard.append(event)

    for _ in range(20):
        emitter.deliver([ToolEvent(tool_name=f"{n}") for n in range(1000)])
    go_on.set()
    assert emitter.flush_sync(PATIENCE)
    lost = sum(event.count for event in heard if isinstance(event, EventsLostEvent))
    tools = sum(1 for event in heard if isinstance(event, ToolEvent))
    assert lost + tools == 20_000
    assert lost > 0


def test_flush_says_when_a_handler_is_not_done_in_time() -> None:
    emitter, go_on = EventEmitter(), threading.Event()
    emitter.on_any(lambda _: go_on.wait(PATIENCE))
    emitter.emit(TextEvent())
    assert not emitter.flush_sync(0.01)
    go_on.set()
    assert emitter.flush_sync(PATIENCE)


class Window:
    """A GUI's main loop in the smallest form: calls that other threads have put in."""

    def __init__(self) -> None:
        self._calls: deque[Callable[[], None]] = deque()
        self._news = threading.Condition()

    def call_soon(self, call: Callable[[], None]) -> None:
        with self._news:
            self._calls.append(call)
            self._news.notify()

    def run_one(self) -> None:
        with self._news:
            assert self._news.wait_for(lambda: self._calls, PATIENCE)
            call = self._calls.popleft()
        call()


def test_dispatcher_brings_handlers_into_the_host_thread_in_order() -> None:
    window, recorder = Window(), RecordingHandler()
    emitter = EventEmitter(window.call_soon)
    emitter.on(TextEvent, recorder)
    for number in range(1000):
        emitter.emit(TextEvent(text=f"{number} "))
    while len(texts(recorder)) < 1000:
        window.run_one()
    assert "".join(texts(recorder)) == "".join(f"{n} " for n in range(1000))
    assert recorder.threads == {threading.current_thread().name}


def test_dispatcher_of_one_handler_is_for_it_alone() -> None:
    window, here, there = Window(), RecordingHandler(), RecordingHandler()
    emitter = EventEmitter()
    emitter.on(TextEvent, here, dispatcher=window.call_soon)
    emitter.on(TextEvent, there)
    emitter.emit(TextEvent(text="a"))
    window.run_one()
    emitter.flush_sync(PATIENCE)
    assert here.threads == {threading.current_thread().name}
    assert threading.current_thread().name not in there.threads


def test_host_thread_is_not_held_for_long_by_a_flood() -> None:
    window = Window()
    emitter = EventEmitter(window.call_soon)
    seen: list[int] = []

    @emitter.on(TextEvent)
    def busy(_: TextEvent) -> None:
        until = time.monotonic() + 0.0005
        while time.monotonic() < until:
            pass
        seen.append(1)

    for _ in range(2000):
        emitter.emit(TextEvent(text="x"))
    window.run_one()
    assert 0 < len(seen) < 2000
    while len(seen) < 2000:
        window.run_one()


def test_dispatcher_that_fails_is_asked_no_more(caplog: pytest.LogCaptureFixture) -> None:
    emitter, recorder = EventEmitter(), RecordingHandler()

    def closed(_: Callable[[], None]) -> None:
        raise RuntimeError("the window is gone")

    emitter.on_any(recorder, dispatcher=closed)
    emitter.emit(TextEvent(text="a"))
    emitter.emit(TextEvent(text="b"))
    assert emitter.flush_sync(PATIENCE)
    assert caplog.text.count("RuntimeError: the window is gone") == 1


def test_dispatcher_that_says_no_is_asked_no_more() -> None:
    asked: list[object] = []

    def refuse(call: Callable[[], None]) -> bool:
        asked.append(call)
        return False

    emitter, recorder = EventEmitter(refuse), RecordingHandler()
    emitter.on_any(recorder)
    emitter.emit(TextEvent(text="a"))
    emitter.emit(TextEvent(text="b"))
    assert emitter.flush_sync(PATIENCE)
    assert len(asked) == 1


def test_coroutine_handler_with_a_dispatcher_is_refused() -> None:
    async def handler(_: AvatarEvent) -> None: ...

    with pytest.raises(SettingsError, match="async"):
        EventEmitter().on_any(handler, dispatcher=lambda call: call())


def test_state_events_are_not_text() -> None:
    emitter, recorder = EventEmitter(), RecordingHandler()
    emitter.on(TextEvent, recorder)
    emitter.emit(StateEvent())
    emitter.flush_sync(PATIENCE)
    assert recorder.heard == []


def test_handler_whose_loop_has_ended_is_waited_for_no_more() -> None:
    loop, heard = OwnLoop(), list[AvatarEvent]()

    async def listen(event: AvatarEvent) -> None:
        heard.append(event)

    first, late = (HandlerQueue(AvatarEvent, listen, loop) for _ in range(2))
    first.append(TextEvent(text="a"))
    assert not wait([first.idle()], PATIENCE).not_done
    loop.stop()
    assert not wait([loop.down], PATIENCE).not_done
    late.append(TextEvent(text="b"))
    assert not wait([late.idle()], PATIENCE).not_done
    assert len(heard) == 1


def test_flood_leaves_the_host_loop_time_for_others() -> None:
    emitter, ticks, seen = EventEmitter(), 0, set[int]()

    async def listen(_: AvatarEvent) -> None:
        seen.add(ticks)

    async def main() -> None:
        nonlocal ticks
        emitter.on_any(listen)
        for number in range(2000):
            emitter.emit(TextEvent(text=f"{number}"))
        flushed = asyncio.ensure_future(emitter.flush(PATIENCE))
        while not flushed.done():
            ticks += 1
            await asyncio.sleep(0)

    asyncio.run(main())
    assert len(seen) > 2


def test_handlers_that_are_called_one_after_the_other_share_a_thread() -> None:
    emitter, ear = EventEmitter(), RecordingHandler()
    emitter.on(TextEvent, ear)
    for number in range(20):
        emitter.emit(TextEvent(text=str(number)))
        assert emitter.flush_sync(PATIENCE)
    assert len(ear.threads) < 10


async def test_where_nothing_waits_a_flush_is_done_at_once() -> None:
    assert await EventEmitter().flush(PATIENCE) is True


def test_handlers_get_a_new_loop_when_one_of_them_has_stopped_theirs() -> None:
    emitter, heard = EventEmitter(), list[AvatarEvent]()

    @emitter.on(ToolEvent)
    async def stop(_: ToolEvent) -> None:
        asyncio.get_running_loop().stop()

    @emitter.on(TextEvent)
    async def listen(event: TextEvent) -> None:
        heard.append(event)

    emitter.emit(ToolEvent())
    assert emitter.flush_sync(PATIENCE)
    while any(each.name == "avatar-handler-loop" for each in threading.enumerate()):
        emitter.flush_sync(PATIENCE)
    emitter.emit(TextEvent(text="a"))
    assert emitter.flush_sync(PATIENCE)
    assert len(heard) == 1
    emitter.end_handler_loop().result(PATIENCE)
