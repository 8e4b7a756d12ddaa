"""Registers event handlers, from any thread and while events flow; executors call them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, TypeVar, overload

from avatar_actors.avatar.actors.host_functions import is_coroutine_function
from avatar_actors.hosting.executors import (
    ByDispatcher,
    Dispatcher,
    HandlerExecutor,
    HandlerQueue,
    OnLoop,
    OwnLoop,
    call_once,
)
from avatar_actors.hosting.futures import all_finished, done_future, within_reach
from avatar_actors.model.checks import check_fields, checked
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.events import AvatarEvent
from avatar_actors.model.fields import Pause

if TYPE_CHECKING:
    import asyncio

E = TypeVar("E", bound=AvatarEvent)
R = TypeVar("R")


class EventEmitter:
    """Each handler gets its events in order and at its own pace: a slow one harms nobody.

    An emission reaches the handlers that are registered when it begins. One that is removed is
    called no more, not even for what already waits for it. Plain functions are called in worker
    threads, or where the dispatcher brings them; coroutine functions on the host's asyncio loop.
    """

    @checked
    def __init__(self, dispatcher: Dispatcher | None = None) -> None:
        self._dispatcher = dispatcher
        # Replaced, never changed: a reader has a snapshot.
        self._queues: tuple[HandlerQueue, ...] = ()
        self._registering = threading.Lock()
        self._host_loop: asyncio.AbstractEventLoop | None = None
        self._own_loop: OwnLoop | None = None
        # Stopped by one of its own handlers, which could not wait for its end.
        self._ending: OwnLoop | None = None

    @overload
    def on(
        self, event_type: type[E], handler: None = None, *, dispatcher: Dispatcher | None = None
    ) -> Callable[[Callable[[E], R]], Callable[[E], R]]: ...
    @overload
    def on(
        self,
        event_type: type[E],
        handler: Callable[[E], R],
        *,
        dispatcher: Dispatcher | None = None,
    ) -> Callable[[E], R]: ...
    @checked
    def on(
        self,
        event_type: type[E],
        handler: Callable[[E], R] | None = None,
        *,
        dispatcher: Dispatcher | None = None,
    ) -> Callable[[E], R] | Callable[[Callable[[E], R]], Callable[[E], R]]:
        """Call the handler for events of this type and its children; also as a decorator."""
        if handler is None:
            return lambda decorated: self._add(event_type, decorated, dispatcher)
        return self._add(event_type, handler, dispatcher)

    @checked
    def on_any(
        self, handler: Callable[[AvatarEvent], R], *, dispatcher: Dispatcher | None = None
    ) -> Callable[[AvatarEvent], R]:
        """Call the handler for every event."""
        return self._add(AvatarEvent, handler, dispatcher)

    @checked
    def remove_handler(self, event_type: type[AvatarEvent], handler: Callable[..., object]) -> None:
        """Call it no more for this type; one that is not registered is no error."""
        self._remove(lambda one: one.kind is event_type and one.handler == handler)

    @checked
    def clear_handlers(self, event_type: type[AvatarEvent] | None = None) -> None:
        """Remove all of this type, or all."""
        self._remove(lambda one: event_type is None or one.kind is event_type)

    @checked
    def emit(self, event: AvatarEvent) -> None:
        """Send an event of the host's own to its handlers. From any thread; it never waits."""
        check_fields(event)
        for queue in self._queues:
            queue.append(event)

    emit_threadsafe = emit

    def deliver(self, events: Sequence[AvatarEvent]) -> None:
        """For the engine: send events of its avatar to their handlers."""
        for queue in self._queues:
            queue.push(events)

    def takes(self, kind: type[AvatarEvent]) -> bool:
        """Whether a handler gets events of this kind."""
        return any(issubclass(kind, queue.kind) for queue in self._queues)

    def call(
        self,
        function: Callable[[E], object],
        event: E,
        loop: asyncio.AbstractEventLoop | None,
    ) -> Future[object]:
        """Call a function of the host's once, where its handlers run; done with its result."""
        if is_coroutine_function(function):
            return self.loop_for(loop).call(function, event)
        return call_once(function, event, self._dispatcher)

    @checked
    def flush_sync(self, timeout: Pause) -> bool:
        """Wait until all events are handled, except by handlers that the wait itself holds up."""
        idle = [queue.idle() for queue in self._queues if not queue.is_held_up]
        return not wait(idle, within_reach(timeout)).not_done

    @checked
    async def flush(self, timeout: Pause) -> bool:  # noqa: ASYNC109 - for any kind of loop
        """The same in a task of asyncio or trio: there no handler is held up."""
        return await all_finished([queue.idle() for queue in self._queues], timeout)

    def settle_on(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """For the engine: this loop is the host's; coroutine handlers without another go there."""
        if loop is not None:
            self._host_loop = loop

    def end_handler_loop(self) -> Future[None]:
        """For the engine: end the loop that was made for coroutine handlers, if there is one.

        Done at its end, also when asked again; at once for a caller that holds it up.
        """
        with self._registering:
            loop, self._own_loop = self._own_loop, None
            self._ending = loop = loop or self._ending
        if loop is None:
            return done_future()
        loop.stop()
        return done_future() if loop.is_held_up() else loop.down

    def loop_for(self, loop: asyncio.AbstractEventLoop | None) -> OnLoop:
        """For a coroutine handler: this loop, the host's, or one made for it."""
        loop = loop or self._host_loop
        if loop is not None and not loop.is_closed():
            return OnLoop(loop)
        with self._registering:
            if self._own_loop is None or self._own_loop.down.done():
                self._own_loop = OwnLoop()
            return self._own_loop

    @checked
    def _add(
        self, kind: type[E], handler: Callable[[E], R], dispatcher: Dispatcher | None
    ) -> Callable[[E], R]:
        queue = HandlerQueue(kind, handler, self._executor(handler, dispatcher))
        with self._registering:
            self._queues = (*self._queues, queue)
        return handler

    def _remove(self, is_meant: Callable[[HandlerQueue], bool]) -> None:
        with self._registering:
            removed = [queue for queue in self._queues if is_meant(queue)]
            self._queues = tuple(queue for queue in self._queues if not is_meant(queue))
        for queue in removed:
            queue.close()

    def _executor(
        self, handler: Callable[..., object], dispatcher: Dispatcher | None
    ) -> HandlerExecutor:
        if is_coroutine_function(handler):
            if dispatcher is not None:
                raise SettingsError("a dispatcher is for plain functions; this handler is async")
            return _LateLoop(self, running_loop())
        chosen = dispatcher or self._dispatcher
        return HandlerExecutor() if chosen is None else ByDispatcher(chosen)


class _LateLoop(HandlerExecutor):
    """Chooses the loop of a coroutine handler when its first event comes."""

    def __init__(self, emitter: EventEmitter, loop: asyncio.AbstractEventLoop | None) -> None:
        self._emitter, self._loop = emitter, loop
        self._chosen: HandlerExecutor | None = None

    def run(self, queue: HandlerQueue) -> None:
        if self._loop is None or self._chosen is None:
            self._chosen = self._emitter.loop_for(self._loop)
        self._chosen.run(queue)

    def is_held_up(self) -> bool:
        return self._chosen is not None and self._chosen.is_held_up()


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The asyncio loop of the present task, if there is one."""
    if "asyncio" not in sys.modules:
        return None
    import asyncio  # noqa: PLC0415 - it is there already

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
