"""Where coroutine handlers run: on the host's asyncio loop, or on one made for them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import trio

from avatar_actors.hosting.bell import Bell
from avatar_actors.hosting.executors import Delivery
from supervisors import Address, ChildSpec, Inbox, SafeLogger, open_supervisor

if TYPE_CHECKING:
    import asyncio

log = SafeLogger("avatar_actors.handlers")


class OnLoop:
    """The host's own asyncio loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread: int | None = None

    def run(self, delivery: Delivery) -> None:
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

    def _begin(self, delivery: Delivery) -> None:
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
        self.down = Bell()
        self._up = Bell()
        self._stopping = trio.Event()
        self._token: trio.lowlevel.TrioToken | None = None
        self._loop: Address[Delivery] | None = None

    def run(self, delivery: Delivery) -> None:
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
        except BaseException:  # the border to the host's code
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

    def _post(self, delivery: Delivery) -> None:
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


async def asyncio_loop(inbox: Inbox[Delivery]) -> None:
    """Hands out to coroutine handlers, each in a task of its own."""
    # Only who has such handlers pays for these.
    import asyncio  # noqa: PLC0415

    from avatar_actors.session.remote.asyncio_loop import in_asyncio, open_asyncio_loop  # noqa: PLC0415

    async with open_asyncio_loop(log.error), trio.open_nursery() as nursery:
        inbox.ready()
        async for delivery in inbox:
            nursery.start_soon(in_asyncio(delivery.hand_out_async), partial(asyncio.sleep, 0))
