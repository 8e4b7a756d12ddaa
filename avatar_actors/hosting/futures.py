"""Waits for concurrent futures in tasks of trio and asyncio, and recognises a parent's objects."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

import sniffio
import trio

from avatar_actors.model.errors import AvatarDown

# What trio raises when its run has ended, or when its wakeup socket is closed.
LOOP_IS_GONE = (trio.RunFinishedError, OSError)
# Seconds that a cancelled task waits for the clean-up it has asked for. The runtime's own deadlines
# are shorter; this one is for a runtime that hangs.
_PATIENCE = 60.0


def done_future() -> Future[None]:
    """A future that is done."""
    future: Future[None] = Future()
    future.set_result(None)
    return future


async def finished(future: Future[Any]) -> None:
    """Wait until it is done, whatever its result. Cancelling the wait does not cancel it."""
    if sniffio.current_async_library() == "trio":
        await _finished_in_trio(future)
    else:
        await _finished_in_asyncio(future)


async def _finished_in_trio(future: Future[Any]) -> None:
    done, token = trio.Event(), trio.lowlevel.current_trio_token()

    def wake(_: object) -> None:
        with suppress(*LOOP_IS_GONE):
            token.run_sync_soon(done.set)

    future.add_done_callback(wake)
    await done.wait()


async def _finished_in_asyncio(future: Future[Any]) -> None:
    # Not `asyncio.wrap_future`: that would cancel the future with the wait, unless it is shielded,
    # and then takes nearly twice as long (57 instead of 31 us).
    import asyncio  # noqa: PLC0415 - an asyncio program has imported it already

    loop = asyncio.get_running_loop()
    done = loop.create_future()

    def wake(_: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle)

    def settle() -> None:
        if not done.done():
            done.set_result(None)

    future.add_done_callback(wake)
    await done


async def finished_though_cancelled(future: Future[Any]) -> None:
    """The same, but a cancellation that comes meanwhile is raised only afterwards."""
    if sniffio.current_async_library() == "trio":
        with trio.CancelScope(shield=True, deadline=trio.current_time() + _PATIENCE):
            await finished(future)
        return
    import asyncio  # noqa: PLC0415 - an asyncio program has imported it already

    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await finished(future)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


async def all_finished(futures: Sequence[Future[Any]], timeout: float) -> bool:  # noqa: ASYNC109 - any loop
    """Wait for all of them; False if one is not done in time."""
    if sniffio.current_async_library() == "trio":
        with trio.move_on_after(timeout):
            for future in futures:
                await finished(future)
    else:
        import asyncio  # noqa: PLC0415 - an asyncio program has imported it already

        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                for future in futures:
                    await finished(future)
    return all(future.done() for future in futures)


def within_reach(timeout: float | None) -> float | None:
    """So many seconds, or None for more of them than a thread can wait."""
    return None if timeout is None or timeout > threading.TIMEOUT_MAX else timeout


def is_of_a_parent(pid: int | None) -> bool:
    """Whether what this process id has made is a parent's: a forked child has none of its threads.

    There a lock may be held by nobody, a future may never be done, and a wakeup would reach the
    parent's trio run. So a child does not touch such an object.
    """
    return pid is not None and pid != os.getpid()


def refuse_a_parents(pid: int | None) -> None:
    """AvatarDown if it is a parent's."""
    if is_of_a_parent(pid):
        raise AvatarDown(
            "this was used before os.fork() and belongs to the parent process; "
            "make a new AvatarEngine (or RuntimeThread) in the child"
        )
