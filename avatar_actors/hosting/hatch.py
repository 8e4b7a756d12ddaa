"""A hatch from the runtime's thread to a host: one batch lies in it, while the next is gathered."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Generic, TypeVar

import trio

from avatar_actors.hosting.bell import LOOP_IS_GONE, Bell

T = TypeVar("T")


class Hatch(Generic[T]):
    """The producer waits while the last batch is not taken: a slow host slows only its stream."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._batch: list[T] = []
        self._filled = Bell()
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
                self._filled = Bell() if batch else self._filled
            is_ended = self._is_ended
        if emptied is not None and self._token is not None:
            with suppress(*LOOP_IS_GONE):
                self._token.run_sync_soon(emptied.set)
        return batch if batch or is_ended else None

    @property
    def filled(self) -> Bell:
        """Rings when there is something to take."""
        return self._filled
