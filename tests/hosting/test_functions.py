"""Functions of a host that answer questions, called where its handlers run."""

import asyncio
import logging
import queue
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import trio

from avatar_actors import (
    GivenAnswers,
    Outcome,
    PermissionClosedEvent,
    PermissionEvent,
    Permit,
    QuestionClosedEvent,
    QuestionEvent,
    TextEvent,
    Timeouts,
)
from tests.hosting.engines import PATIENCE, Engines, RecordingHandler
from tests.runtime.home import script

ASK: dict[str, Any] = {"ask": "Write", "input": {"file_path": "a.txt", "content": "x"}}
COLOUR: dict[str, Any] = {"question": "Which colour?", "options": ["red", "blue"]}


def test_plain_function_answers_in_a_worker_thread(engines: Engines) -> None:
    seen: list[str] = []

    def ask(request: PermissionEvent) -> Permit:
        seen.extend([request.tool_name, threading.current_thread().name])
        return Permit.ALLOW_ONCE

    engine = engines.make(permissions=ask, questions=lambda _: "blue")
    assert engine.chat_sync(script(ASK)).content == "[allowed]"
    assert engine.chat_sync(script(COLOUR)).content == "[blue]"
    assert (seen[0], seen[1].startswith("avatar-handler")) == ("Write", True)


def test_dispatcher_brings_a_plain_function_into_the_hosts_thread(engines: Engines) -> None:
    calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
    threads: list[threading.Thread] = []

    def ask(_: QuestionEvent) -> GivenAnswers:
        threads.append(threading.current_thread())
        return "red"

    engine = engines.make(questions=ask, dispatcher=calls.put)
    handle = engine.chat_async(script(COLOUR))
    calls.get(timeout=PATIENCE)()
    assert handle.result(PATIENCE).content == "[red]"
    assert threads == [threading.current_thread()]


async def _in_asyncio(engines: Engines) -> tuple[list[str], list[object]]:
    loops: list[object] = []

    async def ask(_: PermissionEvent) -> Permit:
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return Permit.ALLOW_ONCE

    async def choose(_: QuestionEvent) -> GivenAnswers:
        loops.append(asyncio.get_running_loop())
        return "blue"

    async with engines.make(permissions=ask, questions=choose) as engine:
        said = [(await engine.chat(script(step))).content for step in (ASK, COLOUR)]
    return said, [loop is asyncio.get_running_loop() for loop in loops]


def test_coroutine_function_answers_on_the_hosts_loop(engines: Engines) -> None:
    said, are_here = asyncio.run(_in_asyncio(engines))
    assert (said, are_here) == (["[allowed]", "[blue]"], [True, True])


def test_coroutine_function_of_a_host_without_a_loop_gets_one(engines: Engines) -> None:
    async def ask(_: PermissionEvent) -> Permit:
        await asyncio.sleep(0.01)
        return Permit.ALLOW_ONCE

    assert engines.make(permissions=ask).chat_sync(script(ASK)).content == "[allowed]"


async def test_coroutine_function_answers_in_a_trio_program_too(engines: Engines) -> None:
    async def ask(_: PermissionEvent) -> Permit:
        await asyncio.sleep(0.01)
        return Permit.ALLOW_ONCE

    with trio.fail_after(PATIENCE):
        async with engines.make(permissions=ask) as engine:
            assert (await engine.chat(script(ASK))).content == "[allowed]"


async def _cancelled(engines: Engines) -> tuple[bool, Outcome]:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def ask(_: QuestionEvent) -> GivenAnswers:
        begun.set()
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            ended.set()
        return "red"

    async with engines.make(questions=ask) as engine:
        turn = asyncio.create_task(engine.chat(script(COLOUR)))
        await begun.wait()
        await engine.interrupt()
        answer = await turn
        async with asyncio.timeout(PATIENCE):
            await ended.wait()
    return ended.is_set(), answer.outcome


def test_coroutine_function_is_cancelled_with_its_turn(engines: Engines) -> None:
    assert asyncio.run(_cancelled(engines)) == (True, Outcome.CANCELLED)


def _exits(_: PermissionEvent) -> Permit:
    sys.exit(3)


async def _fails(_: PermissionEvent) -> Permit:
    raise LookupError("the code word is swordfish")


async def _exits_async(_: PermissionEvent) -> Permit:
    raise KeyboardInterrupt


def _forgot_async(request: PermissionEvent) -> Any:
    return _fails(request)


@pytest.mark.parametrize("function", [_exits, _fails, _exits_async, _forgot_async])
def test_function_that_fails_denies_and_the_next_one_is_asked(
    engines: Engines, function: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "avatar_actors.handlers")
    engine, closed = engines.make(permissions=function), RecordingHandler()
    engine.on(PermissionClosedEvent, closed)
    for _ in range(2):
        assert engine.chat_sync(script(ASK)).content == "[denied]"
    engine.stop_sync()
    whys = [event.why for event in closed.heard if isinstance(event, PermissionClosedEvent)]
    assert len(whys) == 2
    assert all(why.startswith("the host's function for permissions") for why in whys)
    assert not any("swordfish" in why for why in whys)
    assert len(caplog.records) == 2


def test_with_nobody_to_ask_the_tool_is_denied_at_once(engines: Engines) -> None:
    engine = engines.make()
    engine.on(TextEvent, lambda _: None)
    began = time.monotonic()
    for answer in (engine.chat_sync(script(ASK)), engine.chat_sync(script(ASK))):
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "[denied]")
    assert "".join(engine.chat_stream(script(ASK))) == "[denied]"
    assert engine.chat_sync(script(COLOUR)).content == "[decline]"
    assert time.monotonic() - began < PATIENCE


def test_handler_of_the_question_counts_and_answers_it(engines: Engines) -> None:
    engine = engines.make()
    closed = RecordingHandler()
    engine.on(QuestionClosedEvent, closed)

    @engine.on(QuestionEvent)
    def answer(event: QuestionEvent) -> None:
        engine.answer_question(event.request_id, "red")

    assert engine.chat_sync(script(COLOUR)).content == "[red]"
    engine.remove_handler(QuestionEvent, answer)
    assert engine.chat_sync(script(COLOUR)).content == "[decline]"
    engine.on_any(lambda event: isinstance(event, QuestionEvent) and answer(event))
    assert engine.chat_sync(script(COLOUR)).content == "[red]"
    engine.stop_sync()
    answered = [e.is_answered for e in closed.heard if isinstance(e, QuestionClosedEvent)]
    assert answered == [True, False, True]


def test_unanswered_permission_is_named_when_the_turn_times_out(engines: Engines) -> None:
    engine = engines.make(timeouts=Timeouts(turn=0.5))
    engine.on(PermissionEvent, lambda _: None)
    answer = engine.chat_sync(script(ASK))
    assert answer.outcome is Outcome.TIMED_OUT
    assert "nobody answered whether 'Write' may run" in answer.error
