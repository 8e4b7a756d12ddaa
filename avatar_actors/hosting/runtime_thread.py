"""A thread that runs trio with one runtime in it, and the calls that other threads make into it."""

from __future__ import annotations

import atexit
import inspect
import os
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar, Unpack

import trio
from msgspec import Struct

from avatar_actors.hosting.futures import (
    LOOP_IS_GONE,
    finished,
    finished_though_cancelled,
    is_of_a_parent,
    refuse_a_parents,
    within_reach,
)
from avatar_actors.model.checks import checked
from avatar_actors.model.errors import AvatarDown, AvatarError
from avatar_actors.model.fields import Pause
from avatar_actors.model.settings import RuntimeOptions
from avatar_actors.runtime.runtime import Runtime, open_runtime
from supervisors import SafeLogger, TreeNode

T = TypeVar("T")

_log = SafeLogger("avatar_actors.runtime")
# Seconds that calls under way get to end by themselves at a stop, before they are cancelled.
_LAST_ANSWERS = 2.0
# Seconds that a whole stop may take at the end of the program.
_AT_EXIT = 15.0


class RuntimeContext(Struct, frozen=True):
    """What a call finds in the runtime's thread."""

    runtime: Runtime
    calls: trio.Nursery
    """Runs the calls; ends before the avatars do."""
    feeds: trio.Nursery
    """Runs what brings events to handlers; ends after the avatars."""


class CallCancelled(Exception):
    """The host cancelled the call by the handle or stream that it holds."""


class RuntimeCall(Future[T]):
    """Work that begins at once in the runtime's thread, and its result for any thread or loop.

    It is done only when the work has ended: cancelling it asks for that end.
    """

    def __init__(
        self,
        thread: RuntimeThread,
        work: Callable[[RuntimeContext], Awaitable[T]],
        at_end: Callable[[], Future[None] | None] | None = None,
    ) -> None:
        super().__init__()
        self.pid = os.getpid()
        self._thread, self._work, self._at_end = thread, work, at_end
        self._scope = trio.CancelScope()
        # The work runs in the caller's context: its spans are the parents of ours.
        self._context = copy_context()
        if thread.pid != self.pid:
            refuse_a_parents(thread.pid)
        thread.under_way.add(self)
        try:
            (thread.token or thread.begin()).run_sync_soon(self._begin)
        except (*LOOP_IS_GONE, AvatarDown):
            self.fail(thread.reason())

    def cancel(self) -> bool:
        """Cancel the work if it still runs; it then ends in its own time."""
        if not is_of_a_parent(self.pid) and not self.done():
            self._thread.soon(self._scope.cancel)
        return False

    def wait_sync(self) -> T:
        """Block this thread until it is done. An interrupt of the thread cancels the work."""
        if threading.current_thread() is self._thread.thread:
            self.cancel()
            raise RuntimeError("this is the runtime's own thread, and waiting would stop it")
        try:
            return self.result()
        except BaseException:
            if not self.done():  # otherwise it is the error of the work
                self.cancel()
                wait([self])
            raise

    async def wait(self) -> T:
        """Wait in a task of trio or asyncio: cancelling the task cancels the work."""
        try:
            await finished(self)
        except BaseException:
            self.cancel()
            await finished_though_cancelled(self)
            raise
        return self.result()

    def fail(self, error: BaseException) -> None:
        """End it with this error, if it is not done."""
        self._settle(partial(self.set_exception, error))

    def _begin(self) -> None:
        # Called by trio itself: it must not raise.
        inside, early = self._thread.inside, self._thread.early
        if early is not None:
            early.append(self._begin)
            return
        try:
            if inside is not None:
                self._context.run(inside.calls.start_soon, self._run, inside)
                return
        except RuntimeError:  # the nursery is closed
            pass
        self.fail(self._thread.reason())

    async def _run(self, inside: RuntimeContext) -> None:
        error: BaseException | None = None
        try:
            with self._scope:
                self._settle(partial(self.set_result, await self._work(inside)))
            error = CallCancelled("cancelled")
        except (Exception, SystemExit, KeyboardInterrupt) as raised:  # noqa: BLE001
            # The caller's, in another thread: also an exit, which is none of this one's.
            error = raised
        finally:
            # Without an error: the runtime itself was cancelled, or dies.
            self.fail(error or self._thread.reason())

    def _settle(self, settle: Callable[[], None]) -> None:
        """Set the result or the error, once, and not before `at_end` and what that waits for."""
        try:
            self._thread.under_way.remove(self)
        except KeyError:
            return
        gone = self._at_end() if self._at_end is not None else None
        if gone is None:
            settle()
        else:
            gone.add_done_callback(lambda _: settle())


class ParkedCall(RuntimeCall[T]):
    """A call by the main thread after a shutdown began: it stays pending until the program ends."""

    def __init__(self) -> None:
        super(RuntimeCall, self).__init__()  # without a thread
        self.pid = os.getpid()

    def cancel(self) -> bool:
        """Let the caller go."""
        if not self.done():
            self.set_exception(CallCancelled("cancelled"))
        return False

    def wait_sync(self) -> T:
        """Block this thread."""
        return self.result()


class RuntimeThread:
    """Started by the first call or by `start_sync`; stopped once, for good.

    Engines share one that is made for them. Make one yourself to give engines a budget in common,
    or metrics: `with RuntimeThread(budget=…) as runtime: AvatarEngine(runtime=runtime)`.
    """

    @checked
    def __init__(self, **options: Unpack[RuntimeOptions]) -> None:
        self.down: Future[None] = Future()
        """Done when the thread has ended."""
        self.pid = os.getpid()
        self.token: trio.lowlevel.TrioToken | None = None
        self.inside: RuntimeContext | None = None
        """Present while the runtime takes calls."""
        self.early: list[Callable[[], None]] | None = []
        """Calls that wait for the runtime's start; None once it has started."""
        self.under_way: set[RuntimeCall[Any]] = set()
        self.thread: threading.Thread | None = None
        self._options = options
        self._lock = threading.Lock()
        self._has_begun = threading.Event()
        self._stopping: trio.Event | None = None
        self._is_stopped = False
        self._crash: BaseException | None = None

    @checked
    def send(self, work: Callable[[RuntimeContext], Awaitable[T]]) -> RuntimeCall[T]:
        """Do this in the runtime's thread; any thread may call it."""
        return RuntimeCall(self, work)

    @checked
    async def run(self, work: Callable[[Runtime], Awaitable[T]]) -> T:
        """Whatever a Runtime can do, from any loop: `await thread.run(Runtime.spent)`."""
        return await self.send(lambda inside: awaitable(work(inside.runtime))).wait()

    @checked
    def run_sync(self, work: Callable[[Runtime], Awaitable[T]]) -> T:
        """The same, blocking this thread."""
        return self.send(lambda inside: awaitable(work(inside.runtime))).wait_sync()

    async def tree(self) -> TreeNode:
        """The supervision tree as it is now, from any loop; `print()` it."""
        return await self.run(Runtime.read_tree)

    def tree_sync(self) -> TreeNode:
        """The same, blocking this thread."""
        return self.run_sync(_tree)

    @property
    def is_stopping(self) -> bool:
        """Whether it takes no more calls."""
        return self._is_stopped or self.down.done()

    def start_sync(self) -> RuntimeThread:
        """Begin now, and raise what is wrong with the options."""
        self.send(_nothing).wait_sync()
        return self

    def stop_nowait(self) -> None:
        """Begin to stop: turns end as cancelled, avatars stop. `down` is done at the end."""
        if is_of_a_parent(self.pid):
            return
        with self._lock:
            self._is_stopped = True
            if self.thread is None:
                if not self.down.done():
                    self.down.set_result(None)
                return
        self._has_begun.wait()
        if self._stopping is not None:
            self.soon(self._stopping.set)

    @checked
    def stop_sync(self, timeout: Pause | None = None) -> bool:
        """Stop, and wait until nothing is left; False if that took too long.

        In the child of a fork, the parent's runtime is left alone.
        """
        if is_of_a_parent(self.pid):
            return True
        self.stop_nowait()
        timeout = within_reach(timeout)
        if wait([self.down], timeout).not_done:
            return False
        if self.thread is not None:
            self.thread.join(timeout)
        return True

    async def stop(self) -> None:
        """The same in a task of trio or asyncio."""
        if is_of_a_parent(self.pid):
            return
        self.stop_nowait()
        await finished(self.down)

    def __enter__(self) -> RuntimeThread:
        return self.start_sync()

    def __exit__(self, *_: object) -> None:
        self.stop_sync()

    # For the calls.

    def begin(self) -> trio.lowlevel.TrioToken:
        """Start the thread if need be, and wait until trio runs in it; AvatarDown if it cannot."""
        with self._lock:
            if self.thread is None and not self._is_stopped:
                # A daemon that is stopped at exit: Python would wait for any other before that.
                run = threading.Thread(target=self._run, name="avatar-runtime", daemon=True)
                self.thread = run
                atexit.register(self.stop_sync, _AT_EXIT)
                run.start()
            is_started = self.thread is not None
        if is_started:
            self._has_begun.wait()
        if self.token is None:
            raise AvatarDown("the runtime has stopped")
        return self.token

    def soon(self, call: Callable[[], object]) -> None:
        """Call this in the runtime's thread, if that still runs."""
        if self.token is not None:
            with suppress(*LOOP_IS_GONE):
                self.token.run_sync_soon(call)

    def reason(self) -> BaseException:
        """Why it takes no call."""
        if self._crash is None or isinstance(self._crash, AvatarError):
            return self._crash or AvatarDown("the runtime has stopped; start the engine again")
        words = f"the runtime crashed ({_shortly(self._crash)}); start the engine again"
        down = AvatarDown(words)
        down.__cause__ = self._crash
        return down

    def _run(self) -> None:
        try:
            trio.run(self._main)
        except (OSError, trio.TrioInternalError) as crash:
            # What the runtime itself could not do has another name by now: this is the loop's.
            self._crash = AvatarDown(f"the runtime's event loop broke: {crash.__cause__ or crash}")
            self._crash.__cause__ = crash
        except BaseException as crash:  # noqa: BLE001 - every caller is told of it from now on
            self._crash = _alone(crash)
            if not isinstance(self._crash, AvatarError):
                _log.error("the runtime of the engines crashed", exc_info=crash)
        finally:
            self.inside = None
            self._has_begun.set()
            # A loop that broke has ended neither its tasks nor their calls.
            for call in list(self.under_way):
                call.fail(self.reason())
            atexit.unregister(self.stop_sync)
            self.down.set_result(None)

    async def _main(self) -> None:
        self._stopping = trio.Event()
        self.token = trio.lowlevel.current_trio_token()
        self._has_begun.set()
        async with trio.open_nursery() as feeds, open_runtime(**self._options) as runtime:
            with trio.CancelScope() as while_answering:
                async with trio.open_nursery() as calls:
                    self._open(RuntimeContext(runtime, calls, feeds))
                    await self._stopping.wait()
                    self.inside = None
                    while_answering.deadline = trio.current_time() + _LAST_ANSWERS
                    await runtime.close_down("the runtime stops")

    def _open(self, inside: RuntimeContext) -> None:
        early, self.early = self.early or [], None
        self.inside = inside
        for begin in early:
            begin()


def awaitable(result: Awaitable[T]) -> Awaitable[T]:
    """The result of the host's own function; TypeError if it cannot be awaited."""
    if not inspect.isawaitable(result):
        kind = type(result).__name__
        raise TypeError(f"work must be an async function, or return an awaitable; got {kind}")
    return result


def _alone(error: BaseException) -> BaseException:
    """The one error in groups of one."""
    match error:
        case BaseExceptionGroup(exceptions=(only,)):
            return _alone(only)
        case _:
            return error


def _shortly(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


async def _nothing(_: RuntimeContext) -> None:
    pass


async def _tree(runtime: Runtime) -> TreeNode:
    return runtime.tree()
