"""Handlers: who wants which events, from any thread, while events flow."""

from __future__ import annotations

import inspect
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar, overload

from avatar_actors.hosting.executors import (
    ByDispatcher,
    Dispatcher,
    HandlerExecutor,
    HandlerLoop,
    HandlerQueue,
    InThreads,
    OnLoop,
    hear_all,
)
from avatar_actors.hosting.portal import ThreadEvent, rung
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.events import AvatarEvent

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

    def __init__(self, dispatcher: Dispatcher | None = None) -> None:
        self._dispatcher = dispatcher
        # Replaced, never changed: who reads it has a snapshot.
        self._deliveries: tuple[HandlerQueue, ...] = ()
        self._registering = threading.Lock()
        self._host_loop: asyncio.AbstractEventLoop | None = None
        self._handler_loop: HandlerLoop | None = None
        # Told to end by one of its own handlers, which could not wait for it.
        self._ending: HandlerLoop | None = None

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

    def on_any(
        self, handler: Callable[[AvatarEvent], R], *, dispatcher: Dispatcher | None = None
    ) -> Callable[[AvatarEvent], R]:
        """Call the handler for every event."""
        return self._add(AvatarEvent, handler, dispatcher)

    def remove_handler(self, event_type: type[AvatarEvent], handler: Callable[..., object]) -> None:
        """Call it no more for this type; one that is not registered is no error."""
        self._remove(lambda one: one.kind is event_type and one.handler == handler)

    def clear_handlers(self, event_type: type[AvatarEvent] | None = None) -> None:
        """Remove all of this type, or all."""
        self._remove(lambda one: event_type is None or one.kind is event_type)

    def emit(self, event: AvatarEvent) -> None:
        """An event of the host's own, to all that want it. From any thread; it never waits."""
        for delivery in self._deliveries:
            delivery.append(event)

    emit_threadsafe = emit

    def deliver(self, events: Sequence[AvatarEvent]) -> None:
        """For the engine: events of its avatar."""
        for delivery in self._deliveries:
            delivery.push(events)

    def flush_sync(self, timeout: float) -> bool:
        """Wait until the handlers have had what is there; but for those that the wait holds up."""
        end = time.monotonic() + timeout
        bells = [one.rest() for one in self._deliveries if not one.is_held_up]
        return all(bell.hear_sync(max(0.0, end - time.monotonic())) for bell in bells)

    async def flush(self, timeout: float) -> bool:  # noqa: ASYNC109 - for any kind of loop
        """The same in a task, of asyncio or trio: there no handler is held up."""
        return await hear_all([one.rest() for one in self._deliveries], timeout)

    def settle_on(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """For the engine: this loop is the host's; coroutine handlers without another go there."""
        if loop is not None:
            self._host_loop = loop

    def end_handler_loop(self) -> ThreadEvent:
        """For the engine: end the loop that was made for coroutine handlers, if there is one.

        The bell rings at its end, also for who asks again; at once for who holds it up.
        """
        with self._registering:
            loop, self._handler_loop = self._handler_loop, None
            self._ending = loop = loop or self._ending
        if loop is None:
            return rung()
        loop.stop()
        return rung() if loop.is_held_up() else loop.down

    def _add(
        self, kind: type[E], handler: Callable[[E], R], dispatcher: Dispatcher | None
    ) -> Callable[[E], R]:
        delivery = HandlerQueue(kind, handler, self._place(handler, dispatcher))
        with self._registering:
            self._deliveries = (*self._deliveries, delivery)
        return handler

    def _remove(self, is_meant: Callable[[HandlerQueue], bool]) -> None:
        with self._registering:
            gone = [one for one in self._deliveries if is_meant(one)]
            self._deliveries = tuple(one for one in self._deliveries if not is_meant(one))
        for delivery in gone:
            delivery.close()

    def _place(
        self, handler: Callable[..., object], dispatcher: Dispatcher | None
    ) -> HandlerExecutor:
        if is_coroutine_function(handler):
            if dispatcher is not None:
                raise SettingsError("a dispatcher is for plain functions; this handler is async")
            return _LoopToCome(self, running_loop())
        chosen = dispatcher or self._dispatcher
        return InThreads() if chosen is None else ByDispatcher(chosen)

    def loop_for(self, loop: asyncio.AbstractEventLoop | None) -> HandlerExecutor:
        """For a coroutine handler: this loop, the host's, or one made for it."""
        loop = loop or self._host_loop
        if loop is not None and not loop.is_closed():
            return OnLoop(loop)
        with self._registering:
            if self._handler_loop is None:
                self._handler_loop = HandlerLoop()
            return self._handler_loop


class _LoopToCome:
    """A coroutine handler's place, which is known with its first event."""

    def __init__(self, emitter: EventEmitter, loop: asyncio.AbstractEventLoop | None) -> None:
        self._emitter, self._loop = emitter, loop
        self._place: HandlerExecutor | None = None

    def run(self, delivery: HandlerQueue) -> None:
        """In the loop that is the host's by now."""
        if self._loop is None or self._place is None:
            self._place = self._emitter.loop_for(self._loop)
        self._place.run(delivery)

    def is_held_up(self) -> bool:
        """As that loop says."""
        return self._place is not None and self._place.is_held_up()


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The asyncio loop of the present task, if there is one."""
    if "asyncio" not in sys.modules:
        return None
    import asyncio  # noqa: PLC0415 - it is there already

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def is_coroutine_function(handler: Callable[..., object]) -> bool:
    """Whether calling it gives something to await; an object counts by its `__call__`."""
    call: object = getattr(handler, "__call__", handler)  # noqa: B004 - the method is wanted
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(call)
