"""Calls a handler with its events: in worker threads, by a dispatcher, or on an asyncio loop."""

from __future__ import annotations

import contextvars
import inspect
import itertools
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.model.events import AvatarEvent
from supervisors import SafeLogger

if TYPE_CHECKING:
    import asyncio

log = SafeLogger("avatar_actors.handlers")

Dispatcher: TypeAlias = Callable[[Callable[[], None]], object]
"""Calls what it is given soon, in the host's own thread: `loop.call_soon_threadsafe`, or the GUI's
`call_soon`. It must be callable from any thread and return at once; False means that nothing will
be called there any more."""

# Seconds after which an idle worker thread ends.
_IDLE = 5.0
# Events, and seconds, of one call in a host's thread: then others there have their turn.
_BATCH = 256
_SLICE = 0.01


def report(error: BaseException, what: str) -> None:
    """Log an exception of the host's own code: no thread or loop of ours ends with it.

    Only in the main thread KeyboardInterrupt and SystemExit are raised again: Ctrl-C and
    `stop_on_signals` raise them there, in whatever is running.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if isinstance(error, (KeyboardInterrupt, SystemExit)) and is_main:
        raise error
    log.error("%s", what, exc_info=error)


class WorkerThreads:
    """Runs every job at once, in a daemon thread.

    No ThreadPoolExecutor: with its fixed number of threads slow handlers would hold up others, and
    one that hangs would hang the program's exit, which joins such threads.
    """

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
        try:
            threading.Thread(target=self._work, name=name, daemon=True).start()
        except RuntimeError as error:
            # The job waits for the next thread that can be had.
            log.error("no thread can be started; handlers wait", exc_info=error)

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


WORKERS = WorkerThreads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WORKERS.forget)

# The queue that called the present code, so that it does not wait for itself.
CURRENT: contextvars.ContextVar[HandlerQueue | None] = contextvars.ContextVar(
    "handler queue", default=None
)


class HandlerQueue:
    """One registered handler and the events that wait for it; bounded like any subscriber's."""

    def __init__(
        self,
        kind: type[AvatarEvent],
        handler: Callable[[Any], object],
        executor: HandlerExecutor,
    ) -> None:
        self.kind = kind
        self.handler = handler
        self.is_closed = False
        self._executor = executor
        self._lock = threading.Lock()
        self._waiting = EventStream(kinds=(kind,))
        # Taken from `_waiting`, and not handed out yet.
        self._taken: deque[AvatarEvent] = deque()
        self._is_busy = False
        self._idle_waiters: list[Future[None]] = []

    def push(self, events: Sequence[AvatarEvent]) -> None:
        """Events of an avatar; what is too much is merged, see EventStream."""
        with self._lock:
            self._waiting.push(events)
            begins = self._begins()
        if begins:
            self._executor.run(self)

    def append(self, event: AvatarEvent) -> None:
        """An event of the host's own: never merged."""
        with self._lock:
            self._waiting.append(event)
            begins = self._begins()
        if begins:
            self._executor.run(self)

    def close(self) -> None:
        """Call the handler no more."""
        with self._lock:
            self.is_closed = True
            self._waiting.take_nowait()

    def abandon(self) -> None:
        """Call the handler no more, and wake those who wait for it: its thread or loop is gone."""
        self.close()
        self.take()

    @property
    def is_held_up(self) -> bool:
        """Whether the handler cannot be called while the present thread waits."""
        return self._executor.is_held_up()

    def idle(self) -> Future[None]:
        """Done when the handler has been called for all events that are here now."""
        future: Future[None] = Future()
        with self._lock:
            is_busy = self._is_busy and CURRENT.get() is not self
            if is_busy:
                self._idle_waiters.append(future)
        if not is_busy:
            future.set_result(None)
        return future

    def take(self) -> deque[AvatarEvent]:
        """Some of the events that wait; with none the queue is idle."""
        if self._taken and not self.is_closed:  # left over when an exception went to the host
            return self._taken
        with self._lock:
            self._taken = deque(() if self.is_closed else self._waiting.take_nowait(_BATCH))
            events = self._taken
            self._is_busy = bool(events)
            waiters, self._idle_waiters = (
                ([], self._idle_waiters) if events else (self._idle_waiters, [])
            )
        for waiter in waiters:
            waiter.set_result(None)
        return events

    def hand_out(self, until: float = float("inf")) -> None:
        """Call the handler for what is here; what is left at the end of the time comes later."""
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
                self._executor.run(self)

    async def hand_out_async(self) -> None:
        """The same for a coroutine function, in a task of its asyncio loop."""
        import asyncio  # noqa: PLC0415 - this runs in asyncio

        CURRENT.set(self)
        try:
            while events := self.take():
                while events:
                    await self._finish(self._call(events.popleft()))
                await asyncio.sleep(0)
        except BaseException as error:
            if _is_end_of_task(error):  # nobody would go on with this
                self.abandon()
                return
            if self.take():
                self._executor.run(self)
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
            if _is_end_of_task(error):
                raise
            report(error, f"a handler of {self.kind.__name__} failed")


def _is_end_of_task(error: BaseException) -> bool:
    """Whether the asyncio task itself was cancelled or closed, not what its handler awaited."""
    import asyncio  # noqa: PLC0415 - this runs in asyncio

    if isinstance(error, GeneratorExit):
        # One that `close` throws in ends the handler first, and is then raised in the caller.
        return error.__traceback__ is None or error.__traceback__.tb_next is None
    if not isinstance(error, asyncio.CancelledError):
        return False
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


class HandlerExecutor:
    """Calls handlers in worker threads, one for each handler that is busy; the others override."""

    # The one thread that the handlers are called in, where there is such a one.
    _thread: int | None = None

    def run(self, queue: HandlerQueue) -> None:
        """Call the queue's handler soon."""
        WORKERS.submit(queue.hand_out)

    def is_held_up(self) -> bool:
        """Whether no handler can be called while the calling thread waits."""
        return threading.get_ident() == self._thread


def call_once(
    function: Callable[[Any], object], event: AvatarEvent, dispatcher: Dispatcher | None
) -> Future[object]:
    """Call a plain function in a worker thread, or where the dispatcher brings it."""
    future: Future[object] = Future()

    def call() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(function(event))
        except BaseException as error:  # noqa: BLE001 - the border to the host's code
            future.set_exception(_as_failure(error))

    if dispatcher is None:
        WORKERS.submit(call)
    elif dispatcher(call) is False:
        raise RuntimeError("the dispatcher calls nothing any more")
    return future


def _as_failure(error: BaseException) -> Exception:
    """An exception that ends no loop of ours; in the main thread Ctrl-C and exits are raised."""
    is_main = threading.current_thread() is threading.main_thread()
    if isinstance(error, Exception):
        return error
    if isinstance(error, (KeyboardInterrupt, SystemExit)) and is_main:
        raise error
    failure = RuntimeError(f"it raised {type(error).__name__}")
    failure.__cause__ = error
    return failure


class ByDispatcher(HandlerExecutor):
    """Calls handlers in the host's thread, a slice at a time: its own work goes on between."""

    def __init__(self, dispatch: Dispatcher) -> None:
        self._dispatch = dispatch

    def run(self, queue: HandlerQueue) -> None:
        """Hand the call to the dispatcher."""
        try:
            is_refused = self._dispatch(lambda: self._slice(queue)) is False
        except BaseException as error:  # noqa: BLE001 - the host's loop is closed, its window gone
            is_refused = True
            report(error, "the dispatcher failed; the handler is called no more")
        if is_refused:
            queue.abandon()

    def _slice(self, queue: HandlerQueue) -> None:
        self._thread = threading.get_ident()
        queue.hand_out(time.monotonic() + _SLICE)


class OnLoop(HandlerExecutor):
    """Calls coroutine handlers on the host's asyncio loop, each in a task of its own."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._tasks: dict[HandlerQueue, asyncio.Task[None] | None] = {}

    def run(self, queue: HandlerQueue) -> None:
        """Start a task on the loop."""
        self._tasks[queue] = None
        try:
            self._loop.call_soon_threadsafe(self._begin, queue)
        except RuntimeError:  # the loop is closed, and with it the host's program
            log.warning("the handlers' asyncio loop is closed; they are called no more")
            queue.abandon()

    def call(self, function: Callable[[Any], Any], event: AvatarEvent) -> Future[object]:
        """Call a coroutine function in a task of its own; cancelling the future cancels that."""
        import asyncio  # noqa: PLC0415 - there is such a loop

        async def result() -> object:
            try:
                return await function(event)
            except (KeyboardInterrupt, SystemExit) as error:
                raise _as_failure(error) from None

        begun = result()
        try:
            return asyncio.run_coroutine_threadsafe(begun, self._loop)
        except RuntimeError:  # the loop is closed
            begun.close()
            raise

    def _begin(self, queue: HandlerQueue) -> None:
        self._thread = threading.get_ident()
        self._tasks[queue] = task = self._loop.create_task(queue.hand_out_async())
        task.add_done_callback(lambda _: self._end(queue, task))

    def _end(self, queue: HandlerQueue, task: asyncio.Task[None]) -> None:
        if self._tasks.get(queue) is task:  # otherwise the next one has been asked for
            del self._tasks[queue]


class OwnLoop(OnLoop):
    """An asyncio loop in its own thread, for the coroutine handlers of hosts that have none."""

    def __init__(self) -> None:
        import asyncio  # noqa: PLC0415 - only hosts with such handlers pay for it

        self.down: Future[None] = Future()
        """Done when the loop has ended."""
        # Not by asyncio's policy: trio-asyncio, once imported, makes no loop in a trio task.
        # And with a factory the runner does not make it the current loop of this thread.
        self._runner = asyncio.Runner(loop_factory=asyncio.SelectorEventLoop)
        self._stopping = asyncio.Event()
        super().__init__(self._runner.get_loop())
        threading.Thread(target=self._run, name="avatar-handler-loop", daemon=True).start()

    def stop(self) -> None:
        """End the loop; what it still runs is cancelled."""
        with suppress(RuntimeError):  # it is closed
            self._loop.call_soon_threadsafe(self._stopping.set)

    def _run(self) -> None:
        try:
            with self._runner:
                self._runner.run(self._stopping.wait())
        except BaseException:  # the border to the host's code
            log.exception("the handlers' asyncio loop has failed")
        finally:
            for queue in list(self._tasks):  # asked for too late to be called
                queue.abandon()
            self.down.set_result(None)
