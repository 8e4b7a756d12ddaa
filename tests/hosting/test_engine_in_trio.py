import asyncio
import threading

import pytest
import trio

from avatar_actors import AgentNotFound, AvatarEvent, Outcome, TextEvent, TurnEndedEvent
from tests.hosting.engines import PATIENCE, Engines, RecordingHandler
from tests.runtime.home import script

LONG = script({"say": "here"}, {"wait": 1000})


def has_all(heard: list[AvatarEvent]) -> bool:
    return len(heard) == 6  # each of three texts, and that it is complete


async def test_engine_starts_answers_and_stops(engines: Engines) -> None:
    engine = engines.make()
    with trio.fail_after(PATIENCE):
        await engine.start()
        assert (await engine.chat("12*(3+4)")).content == "84"
        chunks = [chunk async for chunk in engine.chat_stream(script({"say": "abc", "chunks": 3}))]
        assert "".join(chunks) == "abc"
        assert (await engine.chat_async("6*7")).content == "42"
        await engine.stop()


async def test_error_of_the_start_is_raised_as_itself(engines: Engines) -> None:
    with trio.fail_after(PATIENCE), pytest.raises(AgentNotFound):
        await engines.make(executable="no-such-python").start()


async def test_cancelled_scope_cancels_its_turn(engines: Engines) -> None:
    engine, recorder = engines.make(), RecordingHandler()
    engine.on(TurnEndedEvent, recorder)
    with trio.fail_after(PATIENCE):
        await engine.start()
        with trio.move_on_after(0.2) as scope:
            await engine.chat(LONG)
        assert scope.cancelled_caught
        assert (await engine.chat("1+1")).content == "2"
        await engine.stop()
    outcomes = [event.outcome for event in recorder.heard if isinstance(event, TurnEndedEvent)]
    assert outcomes == [Outcome.CANCELLED, Outcome.COMPLETED]


async def test_coroutine_handlers_without_an_asyncio_host_run_in_a_loop_of_their_own(
    engines: Engines,
) -> None:
    engine = engines.make()
    heard: list[str] = []
    threads: set[str] = set()

    @engine.on(TextEvent)
    async def on_text(event: TextEvent) -> None:
        await asyncio.sleep(0.001)
        heard.append(event.text)
        threads.add(threading.current_thread().name)

    with trio.fail_after(PATIENCE):
        await engine.chat(script({"say": "abcdefghij", "chunks": 10}))
        await engine.stop()
    assert "".join(heard) == "abcdefghij"
    assert threads == {"avatar-handler-loop"}


async def test_coroutine_handler_that_fails_or_blocks_harms_nobody(engines: Engines) -> None:
    engine, recorder = engines.make(), RecordingHandler()
    release = threading.Event()

    @engine.on(TextEvent)
    async def fail(_: TextEvent) -> None:
        raise LookupError

    @engine.on(TextEvent)
    async def block(_: TextEvent) -> None:
        release.wait(PATIENCE)

    engine.on(TextEvent, recorder)
    with trio.fail_after(PATIENCE):
        for _ in range(3):
            assert (await engine.chat("1+1")).content == "2"
        await trio.to_thread.run_sync(recorder.until, has_all)
        release.set()
        await engine.stop()
