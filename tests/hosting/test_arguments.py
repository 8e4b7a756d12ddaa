"""What a host passes is checked where it is passed, by the rules that a file is read by."""

import math
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
import trio

from avatar_actors import (
    Attachment,
    AvatarDown,
    AvatarEngine,
    EventEmitter,
    McpServer,
    PermissionMode,
    RuntimeThread,
    SettingsError,
    TextEvent,
    open_avatar,
    open_runtime,
)
from avatar_actors.hosting.engine_avatar import SHARED
from avatar_actors.hosting.runtime_thread import RuntimeContext
from avatar_actors.model.settings import settings_from
from tests.hosting.engines import PATIENCE, Engines, RecordingHandler

# Arguments of the wrong kind are what these are about.
Wrong = dict[str, Any]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"budget": 5}, "budget must be a Budget; got 5"),
        ({"rate_limit": 5}, "rate_limit must be a RateLimit, or None; got 5"),
        ({"permissions": "bogus"}, "permissions must be one of safe, ask, unrestricted"),
        ({"permissions": "saef"}, "got 'saef'; did you mean 'safe'?"),
        ({"timeout": "5"}, "timeout must be a number of seconds, at least 0.001, or None; got '5'"),
        ({"env": {"A": 5}}, "env must be a dict of names, each with text; got a value of type int"),
        ({"mcp_servers": {"a": {}}}, "mcp_servers must be a list or tuple, each item a McpServer"),
        ({"max_history": True}, "max_history must be a whole number, at least 0; got True"),
        ({"max_history": 10**400}, "got a number that is too large to calculate with"),
        ({"timeouts": math.nan}, "timeouts must be a Timeouts; got nan"),
        ({"runtime": {"max_avatars": 0}}, "max_avatars must be a whole number, at least 1"),
        ({"runtime": {"max": 1}}, "unknown option 'max'; there are: budget, log, max_avatars"),
        ({"dispatcher": "loop"}, "dispatcher must be a function, or None; got 'loop'"),
        ({"colour": "red"}, "unknown option 'colour'; there are: args, budget"),
    ],
)
def test_engine_refuses_an_argument_by_its_name(options: Wrong, words: str) -> None:
    with pytest.raises(SettingsError) as refused:
        AvatarEngine(**options)
    assert words in str(refused.value)


def test_refusal_shows_no_value_that_may_be_secret() -> None:
    for options in ({"env": "TOKEN=sesame"}, {"headers": {"Authorization": ["sesame"]}}):
        wrong: Wrong = options
        with pytest.raises(SettingsError) as refused:
            AvatarEngine(**wrong)
        assert "sesame" not in str(refused.value)


def test_words_lists_and_mappings_are_taken_for_what_they_say() -> None:
    server = McpServer(name="web", url="https://example.org/mcp")
    given = settings_from({"permissions": "safe", "mcp_servers": [server], "env": {"A": "b"}})
    assert given.permissions is PermissionMode.SAFE
    assert given.mcp_servers == (server,)
    assert server.transport == "http"


def inside(work: Callable[[Any], Any]) -> Callable[[Any], object]:
    return lambda engine: engine.run_sync(work)


WRONG_CALLS: list[tuple[Callable[[Any], object], str]] = [
    (lambda engine: engine.on("text", print), "event_type must be the class AvatarEvent"),
    (lambda engine: engine.on(TextEvent(), print), "event_type must be the class AvatarEvent"),
    (lambda engine: engine.on(TextEvent, "print"), "handler must be a function"),
    (lambda engine: engine.on(TextEvent)("print"), "handler must be a function"),
    (lambda engine: engine.on_any(None), "handler must be a function"),
    (lambda engine: engine.emit("text"), "event must be an AvatarEvent; got 'text'"),
    (lambda engine: engine.emit(TextEvent(text=5)), "text must be text; got 5"),  # type: ignore[arg-type]
    (lambda engine: engine.chat_sync(None), "message must be text"),
    (lambda engine: engine.chat_sync(b"hi"), "message must be text"),
    (lambda engine: engine.chat_sync("half \ud83d"), "message must be text"),
    (lambda engine: engine.chat_stream(5), "message must be text"),
    (lambda engine: engine.chat_async("1+1", 5), "callback must be a function, or None; got 5"),
    (lambda engine: engine.turn("1+1", attachments=["/path"]), "each item an Attachment; got '/pa"),
    (lambda engine: engine.chat_sync("1+1", timeout="5"), "timeout must be a number of seconds"),
    (lambda engine: engine.chat_sync("1+1", context={"x": object()}), "context must be a dict"),
    (lambda engine: engine.events("text"), "kinds must be the class AvatarEvent"),
    (lambda engine: engine.run_sync(5), "work must be a function; got 5"),
    (inside(lambda _: 5), "work must be an async function"),
    (lambda engine: engine.answer("1", "perhaps"), "permit must be one of allow_once"),
    (lambda engine: engine.cancel_activity(5), "activity_id must be text; got 5"),
    (inside(lambda avatar: avatar.raise_budget(5)), "must be a Budget"),
    (inside(lambda avatar: avatar.chat(None)), "prompt must be text"),
    (inside(lambda avatar: avatar.call(5)), "action must be text; got 5"),
]


def test_wrong_call_names_its_argument_and_harms_no_avatar(engines: Engines) -> None:
    engine, bystander = engines.make(), engines.make()
    assert engine.chat_sync("1+1").content == bystander.chat_sync("1+1").content == "2"
    for call, words in WRONG_CALLS:
        with pytest.raises((SettingsError, TypeError)) as refused:
            call(engine)
        assert words in str(refused.value)
    assert engine.chat_sync("1+1").content == bystander.chat_sync("1+1").content == "2"
    assert engine.get_health().restarts == bystander.get_health().restarts == 0


def test_function_that_exits_ends_its_caller_alone(engines: Engines) -> None:
    engine = engines.make()
    with pytest.raises(SystemExit):
        engine.run_sync(lambda _: sys.exit(3))
    assert engine.chat_sync("1+1").content == "2"


async def test_trio_programs_are_refused_the_same() -> None:
    wrong: Wrong = {"permissions": "bogus"}
    with trio.fail_after(PATIENCE):
        with pytest.raises(SettingsError, match="permissions must be one of"):
            open_avatar("embedded", **wrong)
        with pytest.raises(SettingsError, match=r"unknown option 'budgt'.*did you mean 'budget'"):
            open_runtime(budgt=5)  # type: ignore[call-arg]
        async with open_runtime() as runtime:
            with pytest.raises(SettingsError, match="budget must be a Budget"):
                await runtime.start("embedded", budget=5)  # type: ignore[arg-type]
            aria = await runtime.start("embedded")
            with pytest.raises(SettingsError, match="prompt must be text"):
                aria.turn(None)  # type: ignore[arg-type]
            assert (await aria.chat("1+1", while_busy="queue")).content == "2"


def test_attachment_of_text_says_that_bytes_are_wanted() -> None:
    with pytest.raises(SettingsError, match="data must be bytes; got 'text'"):
        Attachment("text/plain", "text")  # type: ignore[arg-type]


async def break_runtime(inside: RuntimeContext) -> None:
    async def fail() -> None:
        raise KeyError("broken")

    inside.feeds.start_soon(fail)


def test_runtime_that_crashed_is_replaced_for_the_next_engine_and_the_next_start(
    engines: Engines, caplog: pytest.LogCaptureFixture
) -> None:
    engine, other = engines.make(), engines.make()
    assert engine.chat_sync("1+1").content == "2"
    shared = SHARED.borrow()
    shared.send(break_runtime)
    shared.down.result(PATIENCE)
    assert "the runtime of the engines crashed" in caplog.text
    with pytest.raises(AvatarDown, match=r"crashed \(KeyError: 'broken'\); start the engine again"):
        engine.chat_sync("1+1")
    assert repr(engine) == "<AvatarEngine 'embedded': its runtime has stopped>"
    assert other.chat_sync("1+1").content == "2"
    engine.start_sync()
    assert engine.chat_sync("1+1").content == "2"
    assert repr(engine) == "<AvatarEngine 'embedded': running>"


def test_engine_says_that_the_runtime_it_was_given_has_stopped(engines: Engines) -> None:
    with RuntimeThread() as runtime:
        engine = engines.make(runtime=runtime)
        assert engine.chat_sync("1+1").content == "2"
    with pytest.raises(AvatarDown, match="RuntimeThread has stopped; make both anew"):
        engine.start_sync()


def test_handler_waits_where_no_thread_can_be_started() -> None:
    emitter, handler = EventEmitter(), RecordingHandler()
    emitter.on(TextEvent, handler)
    before = threading.stack_size(2**46)  # more than any address space has
    try:
        emitter.emit(TextEvent(text="first"))
    finally:
        threading.stack_size(before)
    emitter.on(TextEvent, print)
    emitter.emit(TextEvent(text="second"))
    handler.until(lambda heard: len(heard) == 2)
