"""How one handler gets its events: in order, one at a time, at its own pace, where it belongs."""

from __future__ import annotations

import contextvars
import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeAlias

from avatar_actors.events import AvatarEvent
from avatar_actors.hosting.bell import Bell
from avatar_actors.hosting.workers import WORKERS
from avatar_actors.subscription import EventStream
from supervisors import SafeLogger

log = SafeLogger("avatar_actors.handlers")

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

    def take(self) -> list[AvatarEvent]:
        """Some of the events that wait; none: the delivery is at rest."""
        with self._lock:
            events = [] if self.is_closed else self._waiting.take_nowait(_BATCH)
            self._is_busy = bool(events)
            resting, self._rest = ([], self._rest) if events else (self._rest, [])
        for bell in resting:
            bell.ring()
        return events

    def hand_out(self, until: float = float("inf")) -> bool:
        """Call the handler for what is there; False if the time was over before the end."""
        before = CURRENT.set(self)
        try:
            while events := self.take():
                for event in events:
                    self._call(event)
                if time.monotonic() > until:
                    return False
            return True
        finally:
            CURRENT.reset(before)

    async def hand_out_async(self, breathe: Callable[[], Awaitable[object]]) -> None:
        """The same for a coroutine function, in a task of its loop, which may breathe between."""
        CURRENT.set(self)
        try:
            while events := self.take():
                for event in events:
                    await self._finish(self._call(event))
                await breathe()
        finally:
            if self._is_busy:  # its task was ended from outside: nobody would take this up again
                self.close()
                self.take()

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
        except Exception:  # the border to the host's code
            log.exception("a handler of %s failed", type(event).__name__)
            return None

    async def _finish(self, result: Any) -> None:
        try:
            if inspect.isawaitable(result):
                await result
        except Exception:  # the border to the host's code
            log.exception("a handler of %s failed", self.kind.__name__)


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
        except Exception:  # the border to the host's code: its loop is closed, its window gone
            log.exception("the dispatcher failed; the handler is called no more")
            is_refused = True
        if is_refused:
            delivery.close()
            delivery.take()

    def is_held_up(self) -> bool:
        """In that thread itself."""
        return threading.get_ident() == self._thread

    def _slice(self, delivery: Delivery) -> None:
        self._thread = threading.get_ident()
        if not delivery.hand_out(time.monotonic() + _SLICE):
            self.run(delivery)
