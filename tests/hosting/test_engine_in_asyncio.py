import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest

from avatar_actors import (
    AgentNotFound,
    AvatarEngine,
    AvatarEvent,
    Outcome,
    StateEvent,
    TextEvent,
    TurnEndedEvent,
)
from tests.hosting.engines import PATIENCE, Engines, RecordingHandler
from tests.runtime.home import script

LONG = script({"say": "here"}, {"wait": 1000})


def play(main: Callable[[], Awaitable[None]]) -> None:
    """Run this as a program of asyncio would."""

    async def within_patience() -> None:
        await asyncio.wait_for(main(), PATIENCE)

    asyncio.run(within_patience())


def test_engine_starts_answers_and_stops(engines: Engines) -> None:
    engine = engines.make()

    async def main() -> None:
        await engine.start()
        assert (await engine.chat("12*(3+4)")).content == "84"
        chunks = [chunk async for chunk in engine.chat_stream(script({"say": "abc", "chunks": 3}))]
        assert "".join(chunks) == "abc"
        assert (await engine.chat_async("6*7")).content == "42"
        await engine.stop()
        await engine.stop()
        assert not engines.remains()

    play(main)


def test_error_of_the_start_is_raised_as_itself(engines: Engines) -> None:
    engine = engines.make(executable="no-such-python")

    async def main() -> None:
        with pytest.raises(AgentNotFound):
            await engine.start()
        with pytest.raises(AgentNotFound):
            async for _ in engine.chat_stream("hello"):
                pass
        assert not engines.remains()

    play(main)


def test_cancelled_task_cancels_its_turn_and_waits_for_its_end(engines: Engines) -> None:
    engine = engines.make()
    outcomes: list[Outcome] = []
    engine.on(TurnEndedEvent, lambda event: outcomes.append(event.outcome))

    async def main() -> None:
        events = engine.events(TextEvent)
        chat = asyncio.create_task(engine.chat(LONG))
        await anext(events)
        chat.cancel()
        with pytest.raises(asyncio.CancelledError):
            await chat
        activities = await engine.run(lambda avatar: avatar.activities())
        assert not [each for each in activities if each.activity_type == "turn"]
        assert (await engine.chat("1+1")).content == "2"
        await engine.stop()

    play(main)
    assert outcomes == [Outcome.CANCELLED, Outcome.COMPLETED]


def test_timeout_of_asyncio_cancels_the_turn(engines: Engines) -> None:
    engine = engines.make()

    async def main() -> None:
        await engine.start()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await engine.chat(LONG)
        assert (await engine.chat("1+1")).content == "2"

    play(main)


def test_cancelled_stream_ends_its_turn(engines: Engines) -> None:
    engine, handler = engines.make(), RecordingHandler()
    engine.on(TurnEndedEvent, handler)

    async def read() -> None:
        async for _ in engine.chat_stream(LONG):
            reading.set()

    async def main() -> None:
        task = asyncio.create_task(read())
        await reading.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await engine.stop()

    reading = asyncio.Event()
    play(main)
    assert [event.outcome for event in handler.heard if isinstance(event, TurnEndedEvent)] == [
        Outcome.CANCELLED
    ]


def test_turns_of_one_engine_are_queued_and_never_mixed(engines: Engines) -> None:
    engine = engines.make()

    async def main() -> None:
        prompts = [script({"say": f"answer {n}", "chunks": 3}) for n in range(20)]
        answers = await asyncio.gather(*(engine.chat(prompt) for prompt in prompts))
        assert [answer.content for answer in answers] == [f"answer {n}" for n in range(20)]

    play(main)


def test_coroutine_handlers_run_on_the_host_loop_in_order(engines: Engines) -> None:
    engine = engines.make()
    heard: list[str] = []
    threads: set[int] = set()

    # Registered before there is a loop: the one that starts the engine is the host's.
    @engine.on(TextEvent)
    async def on_text(event: TextEvent) -> None:
        await asyncio.sleep(0)
        heard.append(event.text)
        threads.add(threading.get_ident())

    async def main() -> None:
        await engine.start()
        await engine.chat(script({"say": "abcdefghij", "chunks": 10}))
        await engine.stop()

    play(main)
    assert "".join(heard) == "abcdefghij"
    assert threads == {threading.get_ident()}


def test_coroutine_handler_that_fails_or_hangs_harms_nobody(engines: Engines) -> None:
    engine, handler = engines.make(), RecordingHandler()

    @engine.on(TextEvent)
    async def fail(_: TextEvent) -> None:
        raise LookupError

    @engine.on(TextEvent)
    async def hang(_: TextEvent) -> None:
        await asyncio.Event().wait()

    engine.on(TextEvent, handler)

    async def main() -> None:
        await engine.start()
        for _ in range(3):
            assert (await engine.chat("1+1")).content == "2"
        handler.until(lambda heard: len(heard) == 6)  # each text, and that it is complete

    play(main)


def test_dispatcher_brings_plain_handlers_into_the_loop(engines: Engines) -> None:
    threads: set[int] = set()
    texts: list[str] = []

    async def main() -> None:
        engine = engines.make(dispatcher=asyncio.get_running_loop().call_soon_threadsafe)

        @engine.on(TextEvent)
        def on_text(event: TextEvent) -> None:
            threads.add(threading.get_ident())
            texts.append(event.text)

        await engine.chat(script({"flood": 5000, "text": "x"}))
        await engine.stop()

    play(main)
    assert threads == {threading.get_ident()}
    assert "".join(texts) == "x" * 5000


def test_loop_is_free_while_the_avatar_works(engines: Engines) -> None:
    engine = engines.make()
    ticks: list[float] = []

    async def tick() -> None:
        while True:
            await asyncio.sleep(0.001)
            ticks.append(0)

    async def main() -> None:
        await engine.start()
        ticking = asyncio.create_task(tick())
        await engine.chat(script({"wait": 0.5}))
        ticking.cancel()

    play(main)
    assert len(ticks) > 20


def test_two_loops_use_one_engine_at_once(engines: Engines) -> None:
    engine = engines.make()
    right: list[bool] = []

    async def main(name: str) -> None:
        for number in range(10):
            answer = await engine.chat(script({"say": f"{name} {number}"}))
            right.append(answer.content == f"{name} {number}")

    def run(name: str) -> None:
        asyncio.run(main(name))

    threads = [threading.Thread(target=run, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert right == [True] * 20


def test_event_stream_ends_with_the_engine(engines: Engines) -> None:
    engine = engines.make()

    async def main() -> None:
        events: list[AvatarEvent] = []

        async def read() -> None:
            async for event in stream:
                events.append(event)

        await engine.start()
        stream = engine.events(StateEvent, TextEvent)
        reading = asyncio.create_task(read())
        while not events:
            await engine.chat("1+1")
        await engine.stop()
        await reading
        assert any(isinstance(event, TextEvent) for event in events)

    play(main)


def test_host_loop_that_ends_without_stopping_the_engine_leaves_it_usable(
    engines: Engines,
) -> None:
    engine = engines.make()

    async def main() -> None:
        await engine.start()
        engine.chat_stream(LONG)

    play(main)
    assert isinstance(engine, AvatarEngine)
    assert engine.chat_sync("1+1").content == "2"


def test_async_with_starts_and_stops(engines: Engines) -> None:
    async def main() -> None:
        async with engines.make() as engine:
            assert (await engine.chat("6*7")).content == "42"
        assert not engines.remains()

    play(main)
