"""A stream of the runtime's thread, as a host reads it: with `async for`, or with `for`."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Generic, TypeVar

import trio

from avatar_actors.hosting.portal import LOOP_IS_GONE, PortalCall, PortalCallCancelled, ThreadEvent

T = TypeVar("T")


class BatchSlot(Generic[T]):
    """The producer waits while the last batch is not taken: a slow host slows only its stream."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._batch: list[T] = []
        self._filled = ThreadEvent()
        self._is_ended = False
        self._emptied: trio.Event | None = None
        self._token: trio.lowlevel.TrioToken | None = None

    async def put(self, batch: list[T]) -> None:
        """For the runtime: the next batch, once there is room for it."""
        self._token = trio.lowlevel.current_trio_token()
        while True:
            with self._lock:
                if not self._batch:
                    self._batch = batch
                    filled = self._filled
                    break
                emptied = self._emptied = trio.Event()
            await emptied.wait()
        filled.ring()

    def end(self) -> None:
        """Nothing more will come."""
        with self._lock:
            self._is_ended = True
            filled = self._filled
        filled.ring()

    def take(self) -> list[T] | None:
        """For the host: the batch that lies here, none yet (None), or the end ([])."""
        with self._lock:
            batch, self._batch = self._batch, []
            emptied, self._emptied = self._emptied, None
            if not self._is_ended:
                self._filled = ThreadEvent() if batch else self._filled
            is_ended = self._is_ended
        if emptied is not None and self._token is not None:
            with suppress(*LOOP_IS_GONE):
                self._token.run_sync_soon(emptied.set)
        return batch if batch or is_ended else None

    @property
    def filled(self) -> ThreadEvent:
        """Rings when there is something to take."""
        return self._filled


R = TypeVar("R")


class HostStream(Generic[T, R]):
    """What the source puts into the hatch, in order, and its result at the end.

    A stream that is left, closed or forgotten cancels its source. In a program of asyncio or trio
    read it with `async for`; in a thread with `for`.
    """

    def __init__(
        self, open_source: Callable[[BatchSlot[T]], PortalCall[R]], gone: Callable[[], ThreadEvent]
    ) -> None:
        self._gone = gone
        self._hatch: BatchSlot[T] = BatchSlot()
        self._here: deque[T] = deque()
        self._errand: PortalCall[R] = open_source(self._hatch)
        self._errand.done.when_rung(self._hatch.end)

    @property
    def result(self) -> R:
        """What the source came to, once the stream has ended."""
        return self._errand.result()

    def close(self) -> None:
        """End it from a thread, and wait for its end."""
        self._errand.cancel()
        self._errand.over.hear_sync()

    async def aclose(self) -> None:
        """The same from a task."""
        self._errand.cancel()
        await self._errand.over.hear()

    def __aiter__(self) -> HostStream[T, R]:
        return self

    async def __anext__(self) -> T:
        while not self._take():
            if self._is_over():
                if (error := self._error()) is None:
                    raise StopAsyncIteration
                await self._gone().hear()
                raise error
            try:
                await self._hatch.filled.hear()
            except BaseException:
                self._errand.cancel()
                await self._errand.done.hear_out()
                raise
        return self._here.popleft()

    def __iter__(self) -> HostStream[T, R]:
        return self

    def __next__(self) -> T:
        while not self._take():
            if self._is_over():
                if (error := self._error()) is None:
                    raise StopIteration
                self._gone().hear_sync()
                raise error
            try:
                self._hatch.filled.hear_sync()
            except BaseException:
                self.close()
                raise
        return self._here.popleft()

    async def __aenter__(self) -> HostStream[T, R]:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._errand.cancel()
        await self._errand.over.hear_out()

    def __enter__(self) -> HostStream[T, R]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_errand"):
            self._errand.cancel()

    def _take(self) -> bool:
        if not self._here:
            self._here.extend(self._hatch.take() or ())
        return bool(self._here)

    def _is_over(self) -> bool:
        # In this order: the last batch comes before the end.
        return self._errand.done.is_rung and not self._take()

    def _error(self) -> BaseException | None:
        error = self._errand.error
        return None if isinstance(error, PortalCallCancelled) else error
