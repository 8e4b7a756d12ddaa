"""RC-13: a subscriber that leaves, brings another or stops the avatar while it is being told."""

import threading
from pathlib import Path

import pytest
import trio

from avatar_actors import Avatar, AvatarEvent, EventEmitter, Outcome, TextEvent, TurnEndedEvent
from tests.conformance.dialects import Dialect, every_dialect
from tests.conformance.subject import Step, open_subject, script
from tests.hosting.engines import Engines, RecordingHandler

PULSE: Step = {"pulse": {"every": 0.005, "count": 40, "text": "{i} "}}


async def leave_after_one(avatar: Avatar, left: list[AvatarEvent]) -> None:
    async with avatar.events(TextEvent) as events:
        async for event in events:
            left.append(event)
            break


async def bring_another(avatar: Avatar, first: list[str], second: list[str]) -> None:
    """The second begins in the middle of the first's reading."""
    async with avatar.events(TextEvent, TurnEndedEvent) as events, trio.open_nursery() as nursery:
        async for event in events:
            if isinstance(event, TurnEndedEvent):
                return
            assert isinstance(event, TextEvent)
            first.append(event.text)
            if len(first) == 5:
                await nursery.start(read_to_the_end, avatar, second)


async def read_to_the_end(
    avatar: Avatar, texts: list[str], task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    async with avatar.events(TextEvent, TurnEndedEvent) as events:
        task_status.started()
        async for event in events:
            if isinstance(event, TurnEndedEvent):
                return
            assert isinstance(event, TextEvent)
            texts.append(event.text)


@every_dialect()
async def test_rc_13_who_leaves_hears_no_more_and_who_comes_hears_only_what_follows(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        left: list[AvatarEvent] = []
        first: list[str] = []
        second: list[str] = []
        while not second:  # on a busy machine the whole answer may come at once
            left, first = [], []
            async with trio.open_nursery() as nursery:
                nursery.start_soon(leave_after_one, subject.avatar, left)
                nursery.start_soon(bring_another, subject.avatar, first, second)
                await trio.testing.wait_all_tasks_blocked()
                answer = await subject.play(PULSE)
            assert "".join(first) == answer.content == "".join(f"{i} " for i in range(40))
        assert len(left) == 1
        assert len(second) <= 36
        assert "".join(first).endswith("".join(second))


@every_dialect()
async def test_rc_13_subscriber_that_stops_the_avatar_hears_the_end(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path) as subject, trio.open_nursery() as nursery:
        nursery.start_soon(subject.avatar.chat, script(PULSE, {"wait": 1000}))
        heard: list[AvatarEvent] = []
        async with subject.avatar.events(TextEvent, TurnEndedEvent) as events:
            async for event in events:
                heard.append(event)
                if len(heard) == 3:
                    await subject.avatar.stop()
        ended = heard[-1]
        assert isinstance(ended, TurnEndedEvent)
        assert ended.outcome is Outcome.CANCELLED
        assert subject.avatar.is_down


def test_rc_13_handler_that_removes_itself_is_called_once() -> None:
    emitter, heard = EventEmitter(), list[str]()

    @emitter.on(TextEvent)
    def once(event: TextEvent) -> None:
        heard.append(event.text)
        emitter.remove_handler(TextEvent, once)

    for number in range(100):
        emitter.emit(TextEvent(text=str(number)))
    assert emitter.flush_sync(60)
    assert heard == ["0"]


def test_rc_13_handler_that_adds_another_brings_it_for_what_follows() -> None:
    emitter = EventEmitter()
    first: list[str] = []
    second: list[str] = []

    @emitter.on(TextEvent)
    def add(event: TextEvent) -> None:
        if not first:
            emitter.on(TextEvent, lambda event: second.append(event.text))
        first.append(event.text)

    emitter.emit(TextEvent(text="a"))
    assert emitter.flush_sync(60)
    emitter.emit(TextEvent(text="b"))
    assert emitter.flush_sync(60)
    assert (first, second) == (["a", "b"], ["b"])


@pytest.mark.parametrize("kind", ["plain", "coroutine"])
def test_rc_13_handler_that_stops_the_engine_hears_the_end(tmp_path: Path, kind: str) -> None:
    engines, recorder = Engines(tmp_path), RecordingHandler()
    engine = engines.make()
    stopped = threading.Event()

    def stop(_: TextEvent) -> None:
        engine.stop_sync()
        stopped.set()

    async def stop_in_a_coroutine(_: TextEvent) -> None:
        stop(_)

    engine.on(TurnEndedEvent, recorder)
    if kind == "plain":
        engine.on(TextEvent, stop)
    else:
        engine.on(TextEvent, stop_in_a_coroutine)
    answer = engine.chat_sync(script({"say": "here"}, {"wait": 1000}))
    assert answer.outcome is Outcome.CANCELLED
    assert stopped.wait(60)
    recorder.until(bool)
    assert [type(event) for event in recorder.heard] == [TurnEndedEvent]
    # The handler could not wait for the end of its own loop; who stops again does.
    engine.stop_sync()
