import asyncio
import os
import queue
import signal
import threading

import pytest

from avatar_actors import (
    AgentNotFound,
    AvatarDown,
    AvatarEngine,
    AvatarError,
    BridgeResponse,
    BridgeState,
    CancelResult,
    Outcome,
    PermissionEvent,
    PermissionMode,
    Permit,
    ProviderType,
    Restarts,
    RuntimeThread,
    SettingsError,
    StateEvent,
    TextEvent,
    Timeouts,
    TurnEndedEvent,
    TurnStartedEvent,
)
from tests.fake_agents import launcher
from tests.hosting.engines import PATIENCE, Engines, RecordingHandler
from tests.runtime.home import script


def test_engine_starts_answers_and_stops(engines: Engines) -> None:
    engine = engines.make()
    engine.start_sync()
    answer = engine.chat_sync("12*(3+4)")
    assert (answer.content, answer.outcome) == ("84", Outcome.COMPLETED)
    engine.stop_sync()
    assert not engines.remains()


def test_with_starts_and_stops(engines: Engines) -> None:
    with engines.make() as engine:
        assert engine.is_healthy()
    assert not engine.is_healthy()
    assert not engines.remains()


def test_health_of_an_avatar_that_gave_up_says_so(engines: Engines) -> None:
    engine = engines.make(restarts=Restarts(auto_restart=False))
    assert engine.chat_sync(script({"exit": 3})).outcome is Outcome.CRASHED
    with pytest.raises(AvatarDown, match="code 3"):
        engine.run_sync(lambda avatar: avatar.wait())
    with pytest.raises(AvatarDown):
        engine.chat_sync("1+1")
    assert engine.get_health().state is BridgeState.ERROR
    engine.start_sync()
    assert engine.chat_sync("1+1").content == "2"


def test_callback_by_a_dispatcher_that_fails_harms_nobody(engines: Engines) -> None:
    def closed(_: object) -> None:
        raise RuntimeError("the window is gone")

    engine = engines.make(dispatcher=closed)
    handle = engine.chat_async("1+1", print)
    assert handle.result(PATIENCE).content == "2"
    assert engine.chat_sync("1+1").content == "2"


def test_prompt_starts_the_avatar_if_need_be(engines: Engines) -> None:
    assert engines.make().chat_sync("1+1").content == "2"


def test_engine_starts_again_after_its_stop(engines: Engines) -> None:
    engine = engines.make(name="aria")
    for _ in range(3):
        engine.start_sync()
        assert engine.chat_sync("1+1").content == "2"
        engine.stop_sync()
        engine.stop_sync()


def test_error_of_the_start_is_raised_and_leaves_nothing(engines: Engines) -> None:
    engine = engines.make(executable="no-such-python")
    for call in (engine.start_sync, lambda: engine.chat_sync("1+1")):
        with pytest.raises(AgentNotFound):
            call()
    assert not engines.remains()


def test_wrong_arguments_are_refused_when_the_engine_is_made(engines: Engines) -> None:
    with pytest.raises(SettingsError, match="no provider"):
        AvatarEngine("clod")
    with pytest.raises(SettingsError, match="not a directory"):
        AvatarEngine(working_dir=engines.home.work / "gone")
    with pytest.raises(SettingsError, match="unknown option"):
        AvatarEngine(colour="red")  # type: ignore[call-arg]
    with pytest.raises(SettingsError):
        AvatarEngine(timeout=-1)


def test_engine_takes_the_names_of_the_seed() -> None:
    assert AvatarEngine(ProviderType.CLAUDE, "some-model", timeout=5).provider == "claude"


def test_timeout_of_the_engine_ends_a_turn(engines: Engines) -> None:
    engine = engines.make()
    answer = engine.chat_sync(script({"say": "so far"}, {"wait": 1000}), timeout=0.2)
    assert (answer.outcome, answer.content) == (Outcome.TIMED_OUT, "so far")


def test_stream_gives_the_text_piece_by_piece(engines: Engines) -> None:
    engine = engines.make()
    stream = engine.chat_stream(script({"say": "abcdef", "chunks": 3}))
    assert "".join(stream) == "abcdef"
    assert stream.result.outcome is Outcome.COMPLETED


def test_stream_of_events_has_the_whole_turn(engines: Engines) -> None:
    engine = engines.make()
    events = list(engine.turn(script({"say": "hello"})))
    assert isinstance(events[0], TurnStartedEvent)
    assert isinstance(events[-1], TurnEndedEvent)
    assert "".join(e.text for e in events if isinstance(e, TextEvent)) == "hello"


def test_stream_that_is_forgotten_ends_its_turn(engines: Engines) -> None:
    engine, handler = engines.make(), RecordingHandler()
    engine.on(TurnEndedEvent, handler)
    for text in engine.chat_stream(script({"say": "first"}, {"wait": 1000})):
        assert text == "first"
        break
    handler.until(bool)
    assert isinstance(handler.heard[0], TurnEndedEvent)
    assert handler.heard[0].outcome is Outcome.CANCELLED
    assert engine.chat_sync("1+1").content == "2"


def test_error_of_the_start_comes_out_of_the_stream(engines: Engines) -> None:
    with pytest.raises(AgentNotFound):
        list(engines.make(executable="no-such-python").chat_stream("hello"))
    assert not engines.remains()


def test_prompt_without_waiting_calls_back_once(engines: Engines) -> None:
    engine = engines.make()
    answers: queue.SimpleQueue[BridgeResponse] = queue.SimpleQueue()
    handle = engine.chat_async("6*7", answers.put)
    assert handle.result(PATIENCE).content == "42"
    assert handle.done
    assert answers.get(timeout=PATIENCE).content == "42"
    assert answers.empty()


def test_prompt_without_waiting_can_be_cancelled(engines: Engines) -> None:
    engine, handler = engines.make(), RecordingHandler()
    engine.on(TextEvent, handler)
    answers: queue.SimpleQueue[BridgeResponse] = queue.SimpleQueue()
    handle = engine.chat_async(script({"say": "here"}, {"wait": 1000}), answers.put)
    handler.until(bool)
    with pytest.raises(TimeoutError):
        handle.result(0.01)
    handle.cancel()
    assert handle.result(PATIENCE).outcome is Outcome.CANCELLED
    assert answers.get(timeout=PATIENCE).outcome is Outcome.CANCELLED
    assert answers.empty()
    assert engine.chat_sync("1+1").content == "2"


def test_callback_hears_of_a_start_that_failed(engines: Engines) -> None:
    engine = engines.make(executable="no-such-python")
    answers: queue.SimpleQueue[BridgeResponse] = queue.SimpleQueue()
    engine.chat_async("hello", answers.put)
    assert "no-such-python" in answers.get(timeout=PATIENCE).error


def test_interrupt_from_another_thread_ends_the_turn(engines: Engines) -> None:
    engine, handler = engines.make(), RecordingHandler()
    engine.on(TextEvent, handler)
    handle = engine.chat_async(script({"say": "here"}, {"wait": 1000}))
    handler.until(bool)
    assert engine.interrupt_sync()
    assert handle.result(PATIENCE).outcome is Outcome.CANCELLED
    assert not engine.interrupt_sync()


def test_handler_answers_a_permission(engines: Engines) -> None:
    engine = engines.make(permissions=PermissionMode.ASK)

    @engine.on(PermissionEvent)
    def allow(event: PermissionEvent) -> None:
        engine.answer(event.request_id, Permit.ALLOW_ONCE)

    assert "[allowed]" in engine.chat_sync(script({"ask": "Bash", "input": {"x": 1}})).content


def test_health_history_and_capabilities(engines: Engines) -> None:
    engine = engines.make()
    assert engine.get_health().state is BridgeState.DISCONNECTED
    assert not engine.is_healthy()
    assert engine.get_history() == []
    engine.chat_sync("1+1")
    assert engine.is_healthy()
    assert engine.get_health().pid is not None
    assert engine.capabilities.agent
    assert [message.content for message in engine.get_history()] == ["1+1", "2"]
    engine.clear_history()
    assert engine.get_history() == []


def test_whatever_an_avatar_can_do_is_done_with_run_sync(engines: Engines) -> None:
    engine = engines.make()
    assert engine.run_sync(lambda avatar: avatar.activities()) == ()


def test_killed_agent_ends_the_call_at_once_and_comes_back(engines: Engines) -> None:
    engine, handler = engines.make(), RecordingHandler()
    engine.on(TextEvent, handler)
    handle = engine.chat_async(script({"say": "here"}, {"wait": 1000}))
    handler.until(bool)
    pid = engine.get_health().pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    answer = handle.result(PATIENCE)
    assert (answer.outcome, answer.content) == (Outcome.CRASHED, "here")
    assert engine.chat_sync("1+1").content == "2"


def test_stop_ends_a_turn_that_another_thread_waits_for(engines: Engines) -> None:
    engine, handler = engines.make(), RecordingHandler()
    engine.on(TextEvent, handler)
    handle = engine.chat_async(script({"say": "here"}, {"wait": 1000}))
    handler.until(bool)
    engine.stop_sync()
    assert handle.result(PATIENCE).outcome is Outcome.CANCELLED


def test_stop_during_the_start_leaves_nothing(engines: Engines) -> None:
    # Longer than the test has: a stop that waited for the start would be seen.
    slow = 2 * PATIENCE
    engine = engines.make({"slow_start": slow}, timeouts=Timeouts(start=slow))
    ear = RecordingHandler()
    engine.on(StateEvent, ear)
    failed: list[AvatarError] = []

    def start() -> None:
        try:
            engine.start_sync()
        except AvatarError as error:
            failed.append(error)

    starting = threading.Thread(target=start)
    starting.start()
    ear.until(lambda heard: any(isinstance(event, StateEvent) for event in heard))
    stopping = threading.Thread(target=engine.stop_sync, daemon=True)
    stopping.start()
    stopping.join(PATIENCE)
    assert not stopping.is_alive()
    starting.join(PATIENCE)
    assert isinstance(failed[0], AvatarDown)
    assert not engines.remains()


def test_concurrent_starts_give_one_agent(engines: Engines) -> None:
    engine, handler = engines.make(), RecordingHandler()
    starts = [threading.Thread(target=engine.start_sync) for _ in range(8)]
    for start in starts:
        start.start()
    for start in starts:
        start.join(PATIENCE)
    engine.on_any(handler)
    assert engine.run_sync(lambda avatar: avatar.health()).restarts == 0
    tree = engine.chat_sync(script({"echo": "pid"})).content
    assert int(tree) == engine.get_health().pid


def test_engines_share_one_runtime_unless_told_otherwise(engines: Engines) -> None:
    one, other = engines.make(), engines.make()
    one.start_sync()
    other.start_sync()
    names = [each.name for each in threading.enumerate()]
    assert names.count("avatar-runtime") == 1
    one.stop_sync()
    assert other.chat_sync("1+1").content == "2"


def test_engines_live_in_the_runtime_that_they_are_given(engines: Engines) -> None:
    with RuntimeThread(max_avatars=1) as runtime:
        one, other = engines.make(runtime=runtime), engines.make(runtime=runtime)
        one.start_sync()
        with pytest.raises(AvatarError, match="full"):
            other.start_sync()
        one.stop_sync()
        other.start_sync()
    with pytest.raises(AvatarDown):
        other.chat_sync("1+1")


def test_engine_can_have_a_runtime_of_its_own(engines: Engines) -> None:
    engine = engines.make(runtime={"max_avatars": 1})
    assert engine.chat_sync("1+1").content == "2"
    engine.stop_sync()
    assert not engines.remains()


def test_other_provider_keeps_the_handlers(engines: Engines) -> None:
    engine, handler = engines.make(), RecordingHandler()
    engine.on(TextEvent, handler)
    engine.chat_sync("1+1")
    asyncio.run(
        engine.switch_provider(
            "claude",
            working_dir=engines.home.work,
            env=engines.home.options().get("env", {}),
            executable=launcher.executable("claude"),
        )
    )
    assert engine.capabilities.agent == "Claude Code"
    engine.chat_sync(script({"say": "from claude"}))
    handler.until(lambda heard: any(isinstance(e, TextEvent) and "claude" in e.text for e in heard))


def test_cancelling_an_activity_says_what_came_of_it(engines: Engines) -> None:
    engine, handler = engines.make(), RecordingHandler()
    engine.on(TurnStartedEvent, handler)
    handle = engine.chat_async(script({"wait": 1000}))
    handler.until(bool)
    assert engine.cancel_activity("turn-1") is CancelResult.STOPPED
    assert handle.result(PATIENCE).outcome is Outcome.CANCELLED
    assert engine.cancel_activity("turn-1") is CancelResult.ALREADY_DONE
