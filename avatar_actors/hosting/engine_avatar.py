"""An engine's avatar: started in a runtime's thread by the first call, stopped with the engine."""

from __future__ import annotations

import os
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, Protocol, TypeVar, TypeVarTuple

import trio
from msgspec import Struct

from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.handle import Avatar
from avatar_actors.hosting.futures import done_future, finished, is_of_a_parent, refuse_a_parents
from avatar_actors.hosting.handlers import EventEmitter
from avatar_actors.hosting.runtime_thread import (
    ParkedCall,
    RuntimeCall,
    RuntimeContext,
    RuntimeThread,
    awaitable,
)
from avatar_actors.hosting.streams import BatchSlot
from avatar_actors.model.errors import AvatarDown, AvatarError
from avatar_actors.model.events import AvatarEvent, BridgeResponse, TextEvent
from avatar_actors.model.settings import AvatarOptions, PromptOptions, RuntimeOptions
from avatar_actors.model.values import Message
from avatar_actors.providers.provider import Provider

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class RuntimeSource(Protocol):
    """Lends a thread for each run of an engine's avatar."""

    def borrow(self) -> RuntimeThread:
        """A thread for one run."""
        ...

    def give_back(self, thread: RuntimeThread) -> bool:
        """The run is over. Whether the thread is to be stopped."""
        ...


class SharedRuntime:
    """One thread for all engines that use this source: it ends with the last run."""

    def __init__(self, options: RuntimeOptions | None = None) -> None:
        self._options: RuntimeOptions = options or {}
        self.forget()

    def forget(self) -> None:
        """Begin anew, in the child of a fork: the thread is the parent's."""
        self._lock = threading.Lock()
        self._thread: RuntimeThread | None = None
        self._runs = 0

    def borrow(self) -> RuntimeThread:
        """The present thread, or a new one."""
        with self._lock:
            if self._thread is None or self._thread.is_stopping:
                self._thread, self._runs = RuntimeThread(**self._options), 0
            self._runs += 1
            return self._thread

    def give_back(self, thread: RuntimeThread) -> bool:
        """True for the last run: the next one gets a new thread."""
        with self._lock:
            if thread is not self._thread:
                return False
            self._runs -= 1
            if self._runs:
                return False
            self._thread = None
            return True


class GivenRuntime:
    """A thread that the host made and stops itself."""

    def __init__(self, thread: RuntimeThread) -> None:
        self._thread = thread

    def borrow(self) -> RuntimeThread:
        """The host's thread; AvatarDown once it has stopped."""
        if self._thread.is_stopping:
            raise AvatarDown("the engine's RuntimeThread has stopped; make both anew")
        return self._thread

    def give_back(self, thread: RuntimeThread) -> bool:
        """False: it stays up, unless the host is stopping it."""
        return thread.is_stopping


SHARED = SharedRuntime()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=SHARED.forget)


class EngineSpec(Struct, frozen=True):
    """The avatar that an engine is to have."""

    provider: Provider
    name: str
    options: AvatarOptions


class AvatarRun:
    """The avatar from one start of its engine to the stop; it lives in the runtime's thread."""

    def __init__(
        self,
        spec: EngineSpec,
        emitter: EventEmitter,
        thread: RuntimeThread,
        previous: Future[None] | None = None,
    ) -> None:
        self.thread = thread
        self.calls = 0
        """Calls under way; the engine's lock guards it."""
        self.over: Future[None] = Future()
        """Done when nothing of the run is left in the runtime."""
        self.avatar: Avatar | None = None
        self.history: tuple[Message, ...] = ()
        self._spec, self._emitter, self._previous = spec, emitter, previous
        self._lock = trio.Lock()
        self._starting = trio.CancelScope()
        self._is_closed = False
        # Set when the handlers have got the avatar's last event.
        self._fed = trio.Event()

    async def start(self, inside: RuntimeContext) -> Avatar:
        """The avatar, started if there is none or if it gave up."""
        async with self._lock:
            avatar = self.avatar
            if avatar is None or avatar.is_down:
                avatar = self.avatar = await self._start(inside)
            return avatar

    async def close(self, _: RuntimeContext) -> None:
        """Stop the avatar, also one that is just starting; start none any more."""
        self._is_closed = True
        self._starting.cancel()
        async with self._lock:
            if self.avatar is not None:
                await self.avatar.stop()
                await self._fed.wait()

    async def use(self, work: Callable[[Avatar], Awaitable[T]], inside: RuntimeContext) -> T:
        """Do something with the avatar, which is started for it if there is none."""
        return await awaitable(work(self.avatar or await self.start(inside)))

    async def look(self, work: Callable[[Avatar], Awaitable[T]], _: RuntimeContext) -> T | None:
        """The same, but nothing is started for it."""
        return await awaitable(work(self.avatar)) if self.avatar is not None else None

    async def chat(
        self, prompt: str, options: PromptOptions, inside: RuntimeContext
    ) -> BridgeResponse:
        """The whole answer."""
        avatar = self.avatar or await self.start(inside)
        response = await avatar.chat(prompt, **options)
        await self._remember(avatar)
        return response

    async def talk(
        self,
        prompt: str,
        options: PromptOptions,
        pick: Callable[[list[AvatarEvent]], list[T]],
        slot: BatchSlot[T],
        inside: RuntimeContext,
    ) -> BridgeResponse:
        """The answer as it comes: what `pick` takes of its events goes into the slot."""
        avatar = self.avatar or await self.start(inside)
        kinds = (TextEvent,) if pick is texts else ()
        async with avatar.turn(prompt, kinds=kinds, **options) as turn:
            while events := await turn.take():
                if picked := pick(events):
                    await slot.put(picked)
        await self._remember(avatar)
        return turn.response()

    async def listen(
        self,
        kinds: tuple[type[AvatarEvent], ...],
        slot: BatchSlot[AvatarEvent],
        inside: RuntimeContext,
    ) -> None:
        """Put the avatar's events from now on into the slot, to its end."""
        avatar = self.avatar or await self.start(inside)
        async with avatar.events(*kinds) as stream:
            while events := await stream.take():
                await slot.put(events)

    async def _remember(self, avatar: Avatar) -> None:
        with suppress(AvatarDown):  # it gave up with this turn, which has its outcome all the same
            self.history = await avatar.history()

    async def _start(self, inside: RuntimeContext) -> Avatar:
        if self._previous is not None:
            await finished(self._previous)
        spec, stream = self._spec, EventStream(passes_on=self._emitter.takes)
        with trio.CancelScope() as self._starting:
            if self._is_closed:
                self._starting.cancel()
            self._fed = trio.Event()
            inside.feeds.start_soon(self._feed, stream, self._fed)
            try:
                return await inside.runtime.start(
                    spec.provider, spec.name, listener=stream, **spec.options
                )
            except BaseException:
                stream.close()
                raise
        raise AvatarDown("the engine was stopped while it started")

    async def _feed(self, stream: EventStream, fed: trio.Event) -> None:
        while events := await stream.take():
            self._emitter.deliver(events)
        fed.set()


def texts(events: list[AvatarEvent]) -> list[str]:
    """The pieces of text among these events."""
    return [event.text for event in events if type(event) is TextEvent and event.text]


def all_of(events: list[AvatarEvent]) -> list[AvatarEvent]:
    """Every one of them."""
    return events


class EngineAvatar:
    """Sends an engine's calls to the present run of its avatar; any thread may use it.

    The first call begins a run. One in which no avatar could be started ends by itself.
    """

    def __init__(self, spec: EngineSpec, source: RuntimeSource, emitter: EventEmitter) -> None:
        self.spec = spec
        self._source, self._emitter = source, emitter
        self._lock = threading.Lock()
        self._run: AvatarRun | None = None
        self._previous: Future[None] | None = None
        # Done when nothing is left of the runs that have ended.
        self._gone: Future[Any] = done_future()
        self._is_over = False
        # Set by the first call: an engine that was only made before a fork can be used after it.
        self._pid: int | None = None

    def renew(self) -> None:
        """Let the next call begin a run, if the present one's thread has ended: stop or crash."""
        refuse_a_parents(self._pid)
        with self._lock:
            run = self._run
            if run is not None and run.thread.down.done():
                self._run = None
                self._release(run)

    def send(
        self, work: Callable[[AvatarRun, *Ts, RuntimeContext], Awaitable[T]], *arguments: *Ts
    ) -> RuntimeCall[T]:
        """Do this in the present run, or in a new one."""
        if self._pid is None:
            self._pid = os.getpid()
        elif self._pid != os.getpid():
            refuse_a_parents(self._pid)
        if self._is_over:
            return self._too_late()
        with self._lock:
            run = self._run
            if run is None:
                thread = self._source.borrow()
                self._run = run = AvatarRun(self.spec, self._emitter, thread, self._previous)
                self._previous = run.over
            run.calls += 1
        # mypy 1 does not see that the context is still to come.
        bound = partial(work, run, *arguments)  # type: ignore[call-arg]
        return RuntimeCall(run.thread, bound, partial(self._ended, run))

    async def call(
        self, work: Callable[[AvatarRun, *Ts, RuntimeContext], Awaitable[T]], *arguments: *Ts
    ) -> T:
        """The same, and wait for the result in a task of trio or asyncio."""
        try:
            result = await self.send(work, *arguments).wait()
        except AvatarError:
            if self._is_leaving:
                await ParkedCall[None]().wait()
            raise
        if self._is_leaving:
            await ParkedCall[None]().wait()
        return result

    def call_sync(
        self, work: Callable[[AvatarRun, *Ts, RuntimeContext], Awaitable[T]], *arguments: *Ts
    ) -> T:
        """The same, blocking this thread."""
        try:
            result = self.send(work, *arguments).wait_sync()
        except AvatarError:
            if self._is_leaving:
                ParkedCall[None]().wait_sync()
            raise
        if self._is_leaving:
            ParkedCall[None]().wait_sync()
        return result

    def look(self, work: Callable[[Avatar], Awaitable[T]]) -> RuntimeCall[T | None] | None:
        """Do this with the avatar; None if the engine is stopped. Nothing is started for it."""
        refuse_a_parents(self._pid)
        run = self._run
        return None if run is None else RuntimeCall(run.thread, partial(run.look, work))

    def history(self) -> tuple[Message, ...]:
        """What was said in this run."""
        run = self._run
        return run.history if run is not None else ()

    def forget(self) -> None:
        """Clear the history."""
        run = self._run
        call = self.look(Avatar.clear_history)
        if run is not None and call is not None:
            call.wait_sync()
            run.history = ()

    def stop(self) -> Future[Any]:
        """End the run with its avatar. Done when nothing is left; at once for a parent's."""
        if self.is_of_a_parent:
            return done_future()
        with self._lock:
            run, self._run = self._run, None
            if run is not None:
                self._gone = RuntimeCall(run.thread, run.close, partial(self._release, run))
            return self._gone

    def close_for_good(self) -> Future[Any]:
        """The same, and begin no other run."""
        self._is_over = True
        return self.stop()

    @property
    def state(self) -> str:
        """What it does, in words; nothing is asked of its thread."""
        run = self._run
        if self.is_of_a_parent:
            return "used by the parent process"
        if run is None:
            return "stopped" if self._previous is not None else "not started"
        if run.thread.down.done():
            return "its runtime has stopped"
        if run.avatar is None:
            return "starting"
        return "down" if run.avatar.is_down else "running"

    @property
    def is_of_a_parent(self) -> bool:
        """Whether this process was forked from the one that used it."""
        return is_of_a_parent(self._pid)

    @property
    def _is_leaving(self) -> bool:
        """Whether this is the main thread and about to get SystemExit: then it waits for that.

        What it called was ended for the shutdown; its own code must not take that for a failure.
        """
        return self._is_over and threading.current_thread() is threading.main_thread()

    def _too_late(self) -> RuntimeCall[Any]:
        if self._is_leaving:
            return ParkedCall()
        raise AvatarDown("the program is being stopped; the engine takes no more calls")

    def _ended(self, run: AvatarRun) -> Future[None] | None:
        """A call has ended. If no avatar came of the run, it ends too: done when it is gone."""
        with self._lock:
            run.calls -= 1
            if run.calls or run is not self._run or run.avatar is not None:
                return None
            self._run = None
            gone = self._release(run)
            self._gone = gone or self._gone
            return gone

    def _release(self, run: AvatarRun) -> Future[None] | None:
        if not run.over.done():
            run.over.set_result(None)
        if not self._source.give_back(run.thread):
            return None
        run.thread.stop_nowait()
        return run.thread.down
