"""How one handler gets its events: in order, one at a time, at its own pace, where it belongs."""

from __future__ import annotations

import contextvars
import inspect
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeAlias

from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.hosting.bell import Bell
from avatar_actors.hosting.host_errors import is_end_of_task, report
from avatar_actors.hosting.workers import WORKERS
from avatar_actors.model.events import AvatarEvent

Dispatcher: TypeAlias = Callable[[Callable[[], None]], object]
"""Calls what it is given soon, in the host's own thread: `loop.call_soon_threadsafe`, or the GUI's
`call_soon`. It must be callable from any thread and return at once; False means that nothing will
be called there any more."""

# Events, and seconds, of one call in a host's thread: then others there have their turn.
_BATCH = 256
_SLICE = 0.01

# The delivery that the present code was called by, so that it does not wait for itself.
CURRENT: contextvars.ContextVar[Delivery | None] = contextvars.ContextVar("delivery", default=None)


class Place(Protocol):
    """Where a handler is called."""

    def run(self, delivery: Delivery) -> None:
        """Have the delivery's events handed out there, soon."""
        ...

    def is_held_up(self) -> bool:
        """Whether nothing can happen there while the caller waits."""
        ...


class Delivery:
    """One registered handler and the events that wait for it; bounded like any subscriber's."""

    def __init__(
        self,
        kind: type[AvatarEvent],
        handler: Callable[[Any], object],
        place: Place,
    ) -> None:
        self.kind = kind
        self.handler = handler
        self.is_closed = False
        self._place = place
        self._lock = threading.Lock()
        self._waiting = EventStream(kinds=(kind,))
        # Taken from `_waiting`, and not handed out yet.
        self._taken: deque[AvatarEvent] = deque()
        self._is_busy = False
        self._rest: list[Bell] = []

    def push(self, events: Sequence[AvatarEvent]) -> None:
        """Events of an avatar; what is too much is merged, see EventStream."""
        with self._lock:
            self._waiting.push(events)
            begins = self._begins()
        if begins:
            self._place.run(self)

    def append(self, event: AvatarEvent) -> None:
        """An event of the host's own: never merged."""
        with self._lock:
            self._waiting.append(event)
            begins = self._begins()
        if begins:
            self._place.run(self)

    def close(self) -> None:
        """Call the handler no more."""
        with self._lock:
            self.is_closed = True
            self._waiting.take_nowait()

    @property
    def is_held_up(self) -> bool:
        """Whether the handler cannot be called while the present thread waits."""
        return self._place.is_held_up()

    def rest(self) -> Bell:
        """Rings when the handler has had all that is there now."""
        bell = Bell()
        with self._lock:
            is_busy = self._is_busy and CURRENT.get() is not self
            if is_busy:
                self._rest.append(bell)
        if not is_busy:
            bell.ring()
        return bell

    def take(self) -> deque[AvatarEvent]:
        """Some of the events that wait; none: the delivery is at rest."""
        if self._taken and not self.is_closed:  # left over when an exception went to the host
            return self._taken
        with self._lock:
            self._taken = deque(() if self.is_closed else self._waiting.take_nowait(_BATCH))
            events = self._taken
            self._is_busy = bool(events)
            resting, self._rest = ([], self._rest) if events else (self._rest, [])
        for bell in resting:
            bell.ring()
        return events

    def hand_out(self, until: float = float("inf")) -> None:
        """Call the handler for what is there; what is left at the end of the time comes later."""
        before, is_done = CURRENT.set(self), False
        try:
            while events := self.take():
                while events:
                    self._call(events.popleft())
                if time.monotonic() > until:
                    return
            is_done = True
        finally:
            CURRENT.reset(before)
            if not is_done:
                self._place.run(self)

    async def hand_out_async(self, breathe: Callable[[], Awaitable[object]]) -> None:
        """The same for a coroutine function, in a task of its loop, which may breathe between."""
        CURRENT.set(self)
        try:
            while events := self.take():
                while events:
                    await self._finish(self._call(events.popleft()))
                await breathe()
        except BaseException as error:
            if is_end_of_task(error):  # nobody would take this up again
                self.close()
                self.take()
                return
            if self.take():
                self._place.run(self)
            raise

    def _begins(self) -> bool:
        if self._is_busy or self.is_closed or self._waiting.is_empty:
            return False
        self._is_busy = True
        return True

    def _call(self, event: AvatarEvent) -> object:
        if self.is_closed:
            return None
        try:
            return self.handler(event)
        except BaseException as error:  # noqa: BLE001 - the border to the host's code
            report(error, f"a handler of {type(event).__name__} failed")
            return None

    async def _finish(self, result: Any) -> None:
        try:
            if inspect.isawaitable(result):
                await result
        except BaseException as error:  # the border to the host's code
            if is_end_of_task(error):
                raise
            report(error, f"a handler of {self.kind.__name__} failed")


class InThreads:
    """Off every loop: in a thread that this handler has to itself while it works."""

    def run(self, delivery: Delivery) -> None:
        """In a worker thread."""
        WORKERS.submit(delivery.hand_out)

    def is_held_up(self) -> bool:
        """Never."""
        return False


class ByDispatcher:
    """In the host's thread, a slice at a time, so that its own work goes on between."""

    def __init__(self, dispatch: Dispatcher) -> None:
        self._dispatch = dispatch
        self._thread: int | None = None

    def run(self, delivery: Delivery) -> None:
        """By the dispatcher."""
        try:
            is_refused = self._dispatch(lambda: self._slice(delivery)) is False
        except BaseException as error:  # noqa: BLE001 - the host's loop is closed, its window gone
            is_refused = True
            report(error, "the dispatcher failed; the handler is called no more")
        if is_refused:
            delivery.close()
            delivery.take()

    def is_held_up(self) -> bool:
        """In that thread itself."""
        return threading.get_ident() == self._thread

    def _slice(self, delivery: Delivery) -> None:
        self._thread = threading.get_ident()
        delivery.hand_out(time.monotonic() + _SLICE)
