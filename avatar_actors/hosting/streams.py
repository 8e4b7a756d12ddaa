"""Streams of events or text out of the runtime's thread, for `async for` and `for` in a host."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Generic, TypeVar

import trio

from avatar_actors.hosting.futures import (
    LOOP_IS_GONE,
    finished,
    finished_though_cancelled,
    is_of_a_parent,
    refuse_a_parents,
)
from avatar_actors.hosting.runtime_thread import CallCancelled, RuntimeCall

T = TypeVar("T")
R = TypeVar("R")


class BatchSlot(Generic[T]):
    """Holds one batch. The producer waits until it is taken: a slow host slows only its stream."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._batch: list[T] = []
        self._is_ended = False
        self._emptied: trio.Event | None = None
        self._token: trio.lowlevel.TrioToken | None = None
        self.filled: Future[None] = Future()
        """Done when there is something to take."""

    async def put(self, batch: list[T]) -> None:
        """For the runtime: the next batch, once there is room for it."""
        self._token = trio.lowlevel.current_trio_token()
        while True:
            with self._lock:
                if not self._batch:
                    self._batch = batch
                    filled = self.filled
                    break
                emptied = self._emptied = trio.Event()
            await emptied.wait()
        filled.set_result(None)

    def end(self) -> None:
        """Nothing more will come."""
        with self._lock:
            self._is_ended = True
            has_batch = bool(self._batch)
        if not has_batch:
            self.filled.set_result(None)

    def take(self) -> list[T] | None:
        """For the host: the batch that is here, None if there is none yet, [] at the end."""
        with self._lock:
            batch, self._batch = self._batch, []
            emptied, self._emptied = self._emptied, None
            is_ended = self._is_ended
            if batch and not is_ended:
                self.filled = Future()
        if emptied is not None and self._token is not None:
            with suppress(*LOOP_IS_GONE):
                self._token.run_sync_soon(emptied.set)
        return batch if batch or is_ended else None


class HostStream(Generic[T, R]):
    """What the source puts into the slot, in order, and its result at the end.

    A stream that is left, closed or forgotten cancels its source. In a program of asyncio or trio
    read it with `async for`; in a thread with `for`. `check` looks at the result when all has been
    read; what it raises ends the loop.
    """

    def __init__(
        self,
        open_source: Callable[[BatchSlot[T]], RuntimeCall[R]],
        check: Callable[[R], object] | None = None,
    ) -> None:
        self._slot = slot = BatchSlot[T]()
        self._taken: deque[T] = deque()
        self._check = check
        self._call = open_source(slot)
        self._call.add_done_callback(lambda _: slot.end())

    @property
    def result(self) -> R:
        """The result of the source, once the stream has ended."""
        if not self._call.done():
            raise RuntimeError("the stream has not ended yet")
        return self._call.result()

    def close(self) -> None:
        """End it from a thread, and wait for its end."""
        if not is_of_a_parent(self._call.pid):
            self._call.cancel()
            wait([self._call])

    async def aclose(self) -> None:
        """The same from a task."""
        if not is_of_a_parent(self._call.pid):
            self._call.cancel()
            await finished(self._call)

    def __aiter__(self) -> HostStream[T, R]:
        return self

    async def __anext__(self) -> T:
        while not self._take():
            if self._is_over():
                self._raise_failure()
                raise StopAsyncIteration
            try:
                await finished(self._slot.filled)
            except BaseException:
                self._call.cancel()
                await finished_though_cancelled(self._call)
                raise
        return self._taken.popleft()

    def __iter__(self) -> HostStream[T, R]:
        return self

    def __next__(self) -> T:
        while not self._take():
            if self._is_over():
                self._raise_failure()
                raise StopIteration
            try:
                self._slot.filled.result()
            except BaseException:
                self.close()
                raise
        return self._taken.popleft()

    async def __aenter__(self) -> HostStream[T, R]:
        return self

    async def __aexit__(self, *_: object) -> None:
        if not is_of_a_parent(self._call.pid):
            self._call.cancel()
            await finished_though_cancelled(self._call)

    def __enter__(self) -> HostStream[T, R]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_call"):
            self._call.cancel()

    def _take(self) -> bool:
        if not self._taken:
            refuse_a_parents(self._call.pid)
            self._taken.extend(self._slot.take() or ())
        return bool(self._taken)

    def _is_over(self) -> bool:
        # In this order: the last batch comes before the end.
        return self._call.done() and not self._take()

    def _raise_failure(self) -> None:
        """Raise the error of the source, or of the check; a stream that was closed has none."""
        if not isinstance(self._call.exception(), CallCancelled):
            result = self._call.result()
            if self._check is not None:
                self._check(result)
