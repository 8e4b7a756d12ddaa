"""A bell: rung once from any thread, heard in any kind of program."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

import sniffio
import trio

from avatar_actors.hosting.forking import forks_so_far, refuse_a_parents

# Trio's word for a run that has ended, and what its alarm says when the host has closed it.
LOOP_IS_GONE = (trio.RunFinishedError, OSError)
# How long a cancelled waiter stays for the clean-up that it has asked for. The runtime's own
# deadlines are shorter; this one is for a runtime that hangs.
_PATIENCE = 60.0


class Bell:
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


def rung() -> Bell:
    """A bell for what has happened already."""
    bell = Bell()
    bell.ring()
    return bell
