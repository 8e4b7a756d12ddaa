"""Calls from any thread into the runtime's thread, with their result or error."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Generic, NoReturn, TypeVar, cast

import sniffio
import trio

from avatar_actors.hosting.forking import forks_so_far, is_of_a_parent, refuse_a_parents
from avatar_actors.model.errors import AvatarDown

# Trio's word for a run that has ended, and what its alarm says when the host has closed it.
LOOP_IS_GONE = (trio.RunFinishedError, OSError)
# How long a cancelled waiter stays for the clean-up that it has asked for. The runtime's own
# deadlines are shorter; this one is for a runtime that hangs.
_PATIENCE = 60.0


class ThreadEvent:
    """One event that crosses threads. Whoever comes late hears it too.

    One that a forked child has of its parent and that is not rung never will be: AvatarDown.
    """

    __slots__ = ("_listeners", "_lock", "_made_after", "is_rung")

    def __init__(self) -> None:
        self._made_after = forks_so_far()
        self.is_rung: bool = False
        self._lock = threading.Lock()
        self._listeners: list[Callable[[], object]] = []

    def ring(self) -> None:
        """It has happened. Twice is once."""
        with self._lock:
            self.is_rung = True
            listeners, self._listeners = self._listeners, []
        for listener in listeners:
            listener()

    def when_rung(self, listener: Callable[[], object]) -> None:
        """Call this then, in the thread that rings; or now, if it was rung."""
        if not self.is_rung:
            refuse_a_parents(self._made_after)
        with self._lock:
            if not self.is_rung:
                self._listeners.append(listener)
                return
        listener()

    def hear_sync(self, timeout: float | None = None) -> bool:
        """Wait, holding this thread. False if it was not rung in time."""
        if self.is_rung:
            return True
        silence = threading.Lock()
        silence.acquire()
        self.when_rung(silence.release)
        return silence.acquire(timeout=-1 if timeout is None else timeout)

    async def hear(self) -> None:
        """Wait, in a task of any trio run or asyncio loop."""
        if sniffio.current_async_library() == "trio":
            await self._hear_in_trio()
        else:
            await self._hear_in_asyncio()

    async def hear_out(self) -> None:
        """Wait even though the task is cancelled, for the end of what it has cancelled itself.

        A cancellation that comes meanwhile is raised afterwards.
        """
        if sniffio.current_async_library() == "trio":
            with trio.CancelScope(shield=True, deadline=trio.current_time() + _PATIENCE):
                await self._hear_in_trio()
            return
        import asyncio  # noqa: PLC0415 - who is here has it already

        cancelled: asyncio.CancelledError | None = None
        while not self.is_rung:
            try:
                await self._hear_in_asyncio()
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled

    async def _hear_in_trio(self) -> None:
        rung, token = trio.Event(), trio.lowlevel.current_trio_token()

        def tell() -> None:
            with suppress(*LOOP_IS_GONE):
                token.run_sync_soon(rung.set)

        self.when_rung(tell)
        await rung.wait()

    async def _hear_in_asyncio(self) -> None:
        import asyncio  # noqa: PLC0415 - who is here has it already

        loop = asyncio.get_running_loop()
        rung: asyncio.Future[None] = loop.create_future()

        def tell() -> None:
            with suppress(RuntimeError):  # the loop was closed: nobody waits any more
                loop.call_soon_threadsafe(_settle)

        def _settle() -> None:
            if not rung.done():
                rung.set_result(None)

        self.when_rung(tell)
        await rung


def rung() -> ThreadEvent:
    """A bell for what has happened already."""
    bell = ThreadEvent()
    bell.ring()
    return bell


T = TypeVar("T")


class PortalCallCancelled(Exception):
    """The work was cancelled by the handle that the host holds of it."""


class PortalCall(Generic[T]):
    """Made by the host, run once in the runtime's thread, settled exactly once."""

    def __init__(self, work: Callable[[], Awaitable[T]]) -> None:
        self.done = ThreadEvent()
        self.home: threading.Thread | None = None
        self._work = work
        self._scope = trio.CancelScope()
        self._value: T | None = None
        self.error: BaseException | None = None
        self._token: trio.lowlevel.TrioToken | None = None
        self._is_unwanted = False
        self._made_after = forks_so_far()

    def post(self, token: trio.lowlevel.TrioToken, nursery: trio.Nursery) -> None:
        """Have it run there; any thread may call this."""
        self._token = token
        try:
            token.run_sync_soon(self._begin, nursery)
        except LOOP_IS_GONE:
            self.fail(_stopped())

    def succeed(self, value: T) -> None:
        """It is done."""
        if not self.done.is_rung:
            self._value = value
            self.done.ring()

    def fail(self, error: BaseException) -> None:
        """It will not be run, or not to its end."""
        if not self.done.is_rung:
            self.error = error
            self.done.ring()

    def cancel(self) -> None:
        """Cancel the work, if it still runs; it then ends in its own time."""
        if is_of_a_parent(self._made_after):
            return
        self._is_unwanted = True
        token = self._token
        if token is not None and not self.done.is_rung:
            with suppress(*LOOP_IS_GONE):
                token.run_sync_soon(self._scope.cancel)

    @property
    def over(self) -> ThreadEvent:
        """Rings at its end; at once for a parent's, in the child of a fork."""
        return rung() if is_of_a_parent(self._made_after) else self.done

    def result(self) -> T:
        """Its result, or its error raised; only once it is done."""
        if not self.done.is_rung:
            raise RuntimeError("the errand is not done yet")
        if self.error is not None:
            raise self.error
        return cast("T", self._value)

    def wait_sync(self) -> T:
        """Hold this thread until it is done. An interrupt of the thread cancels the work."""
        if threading.current_thread() is self.home:
            self.cancel()
            raise RuntimeError("this is the runtime's own thread, and waiting would stop it")
        try:
            self.done.hear_sync()
        except BaseException:
            self.cancel()
            self.done.hear_sync()
            raise
        return self.result()

    async def wait(self) -> T:
        """The same in a task, trio's or asyncio's: cancelling the task cancels the work."""
        try:
            await self.done.hear()
        except BaseException:
            self.cancel()
            await self.done.hear_out()
            raise
        return self.result()

    def _begin(self, nursery: trio.Nursery) -> None:
        # This runs in trio's own hands and must not raise.
        if self._is_unwanted:
            self._scope.cancel()
        try:
            nursery.start_soon(self._run)
        except RuntimeError:  # the nursery is closed
            self.fail(_stopped())

    async def _run(self) -> None:
        # What is left if the runtime itself is cancelled, or dies.
        error: BaseException = _stopped()
        try:
            with self._scope:
                self.succeed(await self._work())
            error = PortalCallCancelled("cancelled")
        except Exception as raised:  # noqa: BLE001 - it is the caller's, in another thread
            error = raised
        finally:
            self.fail(error)


class Parked(PortalCall[T]):
    """A call that came too late, in a program that is about to end: it waits for that."""

    def __init__(self) -> None:
        super().__init__(_never)

    def cancel(self) -> None:
        """The caller leaves."""
        self.fail(PortalCallCancelled("cancelled"))


async def _never() -> NoReturn:
    raise AssertionError("nobody runs it")


def _stopped() -> AvatarDown:
    return AvatarDown("the runtime has stopped; start the engine again")
