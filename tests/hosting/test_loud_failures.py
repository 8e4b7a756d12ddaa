"""A stream whose answer is not whole says so, and so does a response that is asked."""

import asyncio
import pickle
import threading

import pytest
import trio

from avatar_actors import (
    AvatarEngine,
    BridgeResponse,
    Budget,
    HostStream,
    Outcome,
    TurnEndedEvent,
    TurnFailed,
    WhileBusy,
)
from tests.hosting.engines import PATIENCE, Engines, RecordingHandler
from tests.runtime.home import script

KILLED = script({"say": "tick tick"}, {"kill": "KILL"})
LONG = script({"say": "here"}, {"wait": 1000})
ERROR = script({"say": "half"}, {"error": {"code": -32603, "message": "boom"}})
REFUSAL = script({"say": "no"}, {"stop": "refusal"})


def failure_in_a_thread(engine: AvatarEngine, prompt: str, timeout: float = 60) -> TurnFailed:
    heard: list[str] = []
    with pytest.raises(TurnFailed) as caught:
        heard.extend(engine.chat_stream(prompt, timeout=timeout))
    assert "".join(heard) == caught.value.content
    return caught.value


async def read(stream: HostStream[str, BridgeResponse], heard: list[str]) -> None:
    async for text in stream:
        heard.append(text)


def test_stream_of_a_killed_agent_raises_in_a_thread(engines: Engines) -> None:
    failure = failure_in_a_thread(engines.make(), KILLED)
    assert (failure.outcome, failure.content) == (Outcome.CRASHED, "tick tick")
    assert failure.can_retry
    assert "crashed: " in str(failure)


def test_stream_of_a_killed_agent_raises_in_asyncio(engines: Engines) -> None:
    engine, heard = engines.make(), list[str]()

    async def main() -> None:
        with pytest.raises(TurnFailed) as caught:
            await read(engine.chat_stream(KILLED), heard)
        assert caught.value.outcome is Outcome.CRASHED
        assert "".join(heard) == caught.value.content == "tick tick"
        await engine.stop()

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


async def test_stream_of_a_killed_agent_raises_in_trio(engines: Engines) -> None:
    engine, heard = engines.make(), list[str]()
    with trio.fail_after(PATIENCE):
        with pytest.raises(TurnFailed) as caught:
            await read(engine.chat_stream(KILLED), heard)
        assert caught.value.outcome is Outcome.CRASHED
        assert "".join(heard) == caught.value.content == "tick tick"
        await engine.stop()


def test_stream_that_fails_is_refused_late_or_over_budget_raises(engines: Engines) -> None:
    engine = engines.make(budget=Budget(turns=3))
    assert failure_in_a_thread(engine, ERROR).outcome is Outcome.FAILED
    assert failure_in_a_thread(engine, REFUSAL).outcome is Outcome.REFUSED
    assert failure_in_a_thread(engine, LONG, timeout=0.5).outcome is Outcome.TIMED_OUT
    assert failure_in_a_thread(engine, "1+1").outcome is Outcome.OVER_BUDGET


def test_stream_that_another_interrupts_raises_and_says_cancelled(engines: Engines) -> None:
    engine = engines.make()
    stream = engine.chat_stream(LONG)
    assert next(stream) == "here"
    assert engine.chat_sync("1+1", while_busy=WhileBusy.INTERRUPT).content == "2"
    with pytest.raises(TurnFailed) as caught:
        next(stream)
    assert (caught.value.outcome, caught.value.content) == (Outcome.CANCELLED, "here")
    assert stream.result.outcome is Outcome.CANCELLED


def test_stream_that_its_reader_closes_ends_quietly(engines: Engines) -> None:
    engine, ended = engines.make(), RecordingHandler()
    engine.on(TurnEndedEvent, ended)
    stream = engine.chat_stream(LONG)
    assert next(stream) == "here"
    closing = threading.Thread(target=stream.close)
    closing.start()
    assert list(stream) == []
    closing.join(PATIENCE)
    ended.until(bool)


def test_stream_of_events_tells_the_outcome_and_raises_nothing(engines: Engines) -> None:
    last = list(engines.make().turn(KILLED))[-1]
    assert isinstance(last, TurnEndedEvent)
    assert last.outcome is Outcome.CRASHED


def test_response_returns_itself_or_raises_for_its_outcome(engines: Engines) -> None:
    engine = engines.make()
    whole = engine.chat_sync("1+1")
    assert whole.raise_for_outcome() is whole
    half = engine.chat_sync(ERROR)
    assert not half
    with pytest.raises(TurnFailed, match=r"the turn ended as failed: .*boom") as caught:
        half.raise_for_outcome()
    assert caught.value.response is half


def test_failure_of_a_turn_can_be_sent_to_another_process() -> None:
    failure = TurnFailed(BridgeResponse(content="so", outcome=Outcome.CRASHED, error="killed"))
    again = pickle.loads(pickle.dumps(failure))
    assert (str(again), again.response) == ("the turn ended as crashed: killed", failure.response)
