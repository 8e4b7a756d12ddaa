"""One run of an engine's avatar, in the test's own trio run, and the path of a call to it."""

import inspect
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any, cast

import trio
from trio.testing import wait_all_tasks_blocked

from avatar_actors import (
    Avatar,
    AvatarEngine,
    AvatarEvent,
    EventEmitter,
    RuntimeThread,
    open_runtime,
)
from avatar_actors.hosting.engine_avatar import AvatarRun, EngineSpec
from avatar_actors.hosting.runtime_thread import RuntimeContext
from avatar_actors.providers.registry import provider_named
from tests.hosting.engines import PATIENCE, Engines, RecordingHandler
from tests.runtime.home import Home


class LateNursery:
    """Starts a task no sooner than it may."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery, self.may_start = nursery, trio.Event()

    def start_soon(self, function: Any, *arguments: object) -> None:
        async def start() -> None:
            await self.may_start.wait()
            await function(*arguments)

        self._nursery.start_soon(start)


async def test_a_run_is_closed_when_the_handlers_have_every_event(tmp_path: Path) -> None:
    emitter, recorder = EventEmitter(), RecordingHandler()
    emitter.on(AvatarEvent, recorder)
    spec = EngineSpec(provider_named("embedded"), "aria", Home(tmp_path).options())
    run, closed = AvatarRun(spec, emitter, RuntimeThread()), trio.Event()

    async def close(inside: RuntimeContext) -> None:
        await run.close(inside)
        closed.set()

    with trio.fail_after(PATIENCE):
        async with open_runtime() as runtime, trio.open_nursery() as nursery:
            late = LateNursery(nursery)
            inside = RuntimeContext(runtime, nursery, cast("trio.Nursery", late))
            avatar = await run.start(inside)
            nursery.start_soon(close, inside)
            await avatar.wait()
            await wait_all_tasks_blocked(0.05)
            assert not closed.is_set()
            late.may_start.set()
            await closed.wait()
    assert emitter.flush_sync(PATIENCE)
    assert recorder.heard


class Functions:
    """Counts functions of the hosting package from `chat_sync` to `Avatar.chat`, in all threads."""

    def __init__(self) -> None:
        self.called: list[str] = []
        self._is_between = False

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code is inspect.unwrap(AvatarEngine.chat_sync).__code__:
            self.called.clear()
            self._is_between = True
        elif event == "call" and code is Avatar.chat.__code__:
            self._is_between = False
        module = str(frame.f_globals.get("__name__"))
        if event == "call" and self._is_between and module.startswith("avatar_actors.hosting"):
            self.called.append(code.co_qualname)


def test_chat_sync_reaches_the_avatar_through_at_most_eight_functions(engines: Engines) -> None:
    functions, engine = Functions(), engines.make()
    threading.setprofile(functions)  # for the runtime's thread, which the first call starts
    try:
        engine.chat_sync("1+1")
    finally:
        threading.setprofile(None)
    engine.run_sync(lambda _: wait_all_tasks_blocked(0.05))
    sys.setprofile(functions)
    try:
        assert engine.chat_sync("1+1").content == "2"
    finally:
        sys.setprofile(None)
    assert functions.called[0] == "AvatarEngine.chat_sync"
    assert functions.called[-1] == "AvatarRun.chat"
    assert len(functions.called) <= 8, functions.called
