"""How and where a handler gets its events: in threads, by a dispatcher, on an asyncio loop."""

from __future__ import annotations

import contextvars
import inspect
import itertools
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import trio

from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.hosting.forking import after_fork
from avatar_actors.hosting.host_errors import is_end_of_task, log, report
from avatar_actors.hosting.portal import ThreadEvent
from avatar_actors.model.events import AvatarEvent
from supervisors import Address, ChildSpec, Inbox, open_supervisor

if TYPE_CHECKING:
    import asyncio


# Seconds after which an idle thread ends.
_IDLE = 5.0


class Workers:
    """Runs every job at once: a slow one never holds up another."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew, in the child of a fork: threads and jobs are the parent's."""
        self._changed = threading.Condition()
        self._jobs: deque[Callable[[], object]] = deque()
        self._idle = 0
        self._numbers = itertools.count(1)

    def submit(self, job: Callable[[], object]) -> None:
        """Run this soon, in some thread; it must not raise."""
        with self._changed:
            self._jobs.append(job)
            if self._idle >= len(self._jobs):
                self._changed.notify()
                return
        name = f"avatar-handler-{next(self._numbers)}"
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            job()

    def _next(self) -> Callable[[], object] | None:
        with self._changed:
            self._idle += 1
            try:
                self._changed.wait_for(lambda: self._jobs, _IDLE)
                return self._jobs.popleft() if self._jobs else None
            finally:
                self._idle -= 1


WORKERS = Workers()
after_fork(WORKERS.forget)


async def hear_all(bells: Sequence[ThreadEvent], timeout: float) -> bool:  # noqa: ASYNC109 - any loop
    """Wait for all of them, in a task of asyncio or trio; False if one did not ring in time."""
    if all(bell.is_rung for bell in bells):
        return True
    end, heard = time.monotonic() + timeout, ThreadEvent()

    def wait() -> None:
        for bell in bells:
            bell.hear_sync(max(0.0, end - time.monotonic()))
        heard.ring()

    WORKERS.submit(wait)
    await heard.hear()
    return all(bell.is_rung for bell in bells)


Dispatcher: TypeAlias = Callable[[Callable[[], None]], object]
"""Calls what it is given soon, in the host's own thread: `loop.call_soon_threadsafe`, or the GUI's
`call_soon`. It must be callable from any thread and return at once; False means that nothing will
be called there any more."""

# Events, and seconds, of one call in a host's thread: then others there have their turn.
_BATCH = 256
_SLICE = 0.01

# The delivery that the present code was called by, so that it does not wait for itself.
CURRENT: contextvars.ContextVar[HandlerQueue | None] = contextvars.ContextVar(
    "delivery", default=None
)


class HandlerExecutor(Protocol):
    """Where a handler is called."""

    def run(self, delivery: HandlerQueue) -> None:
        """Have the delivery's events handed out there, soon."""
        ...

    def is_held_up(self) -> bool:
        """Whether nothing can happen there while the caller waits."""
        ...


class HandlerQueue:
    """One registered handler and the events that wait for it; bounded like any subscriber's."""

    def __init__(
        self,
        kind: type[AvatarEvent],
        handler: Callable[[Any], object],
        place: HandlerExecutor,
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
        self._rest: list[ThreadEvent] = []

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

    def rest(self) -> ThreadEvent:
        """Rings when the handler has had all that is there now."""
        bell = ThreadEvent()
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

    def run(self, delivery: HandlerQueue) -> None:
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

    def run(self, delivery: HandlerQueue) -> None:
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

    def _slice(self, delivery: HandlerQueue) -> None:
        self._thread = threading.get_ident()
        delivery.hand_out(time.monotonic() + _SLICE)


class OnLoop:
    """The host's own asyncio loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread: int | None = None

    def run(self, delivery: HandlerQueue) -> None:
        """As a task there."""
        try:
            self._loop.call_soon_threadsafe(self._begin, delivery)
        except RuntimeError:  # the loop is closed, and with it the host's program
            log.warning("the handlers' asyncio loop is closed; they are called no more")
            delivery.close()
            delivery.take()

    def is_held_up(self) -> bool:
        """In the loop's thread itself."""
        return threading.get_ident() == self._thread

    def _begin(self, delivery: HandlerQueue) -> None:
        import asyncio  # noqa: PLC0415 - who is here has it already

        self._thread = threading.get_ident()
        handing_out = delivery.hand_out_async(partial(asyncio.sleep, 0))
        task = self._loop.create_task(handing_out)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class HandlerLoop:
    """An asyncio loop inside trio (trio-asyncio), in a thread of its own, for hosts that have none.

    Its own thread, because a coroutine may block; a supervised loop, because it may crash.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.down = ThreadEvent()
        self._up = ThreadEvent()
        self._stopping = trio.Event()
        self._token: trio.lowlevel.TrioToken | None = None
        self._loop: Address[HandlerQueue] | None = None

    def run(self, delivery: HandlerQueue) -> None:
        """As a task there; the first one starts the thread."""
        with self._lock:
            if self._thread is None:
                run = threading.Thread(target=self._run, name="avatar-handler-loop", daemon=True)
                self._thread = run
                run.start()
        self._up.when_rung(partial(self._post, delivery))

    def is_held_up(self) -> bool:
        """In its own thread, which only a handler has."""
        return threading.current_thread() is self._thread

    def stop(self) -> None:
        """End the loop; what it still runs is cancelled. `down` rings at its end."""
        if self._thread is not None:
            self._up.when_rung(partial(self._soon, self._stopping.set))
        else:
            self.down.ring()

    def _run(self) -> None:
        try:
            trio.run(self._main)
        except BaseException:  # noqa: BLE001 - the border to the host's code
            log.exception("the handlers' loop has ended")
        finally:
            self._loop = None
            self._up.ring()
            self.down.ring()

    async def _main(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        async with open_supervisor("handlers") as handlers:
            self._loop = await handlers.start(ChildSpec("asyncio loop", asyncio_loop))
            self._up.ring()
            await self._stopping.wait()

    def _post(self, delivery: HandlerQueue) -> None:
        loop = self._loop
        if loop is None:
            delivery.close()
            delivery.take()
        else:
            self._soon(partial(loop.tell_nowait, delivery))

    def _soon(self, call: Callable[[], object]) -> None:
        if self._token is not None:
            with suppress(trio.RunFinishedError):
                self._token.run_sync_soon(call)


async def asyncio_loop(inbox: Inbox[HandlerQueue]) -> None:
    """Hands out to coroutine handlers, each in a task of its own."""
    # Only who has such handlers pays for these.
    import asyncio  # noqa: PLC0415

    from avatar_actors.session.remote.asyncio_loop import in_asyncio, open_asyncio_loop  # noqa: PLC0415

    async with open_asyncio_loop(log.error), trio.open_nursery() as nursery:
        inbox.ready()
        async for delivery in inbox:
            nursery.start_soon(in_asyncio(delivery.hand_out_async), partial(asyncio.sleep, 0))
