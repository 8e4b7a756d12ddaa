"""Graceful shutdown by signals, for hosts that ask for it: stop the engines, then leave."""

from __future__ import annotations

import os
import queue
import signal
import threading
import time
from collections.abc import Sequence
from types import FrameType
from typing import Final, Protocol

import trio

from avatar_actors.errors import SettingsError
from avatar_actors.hosting.bell import Bell

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
# A program that was killed by signal n exits with this and n, as a shell would say it.
KILLED: Final = 128


class Stoppable(Protocol):
    """An engine, as far as a shutdown is concerned."""

    def close_for_good(self) -> Bell:
        """Begin to stop and take no more calls; the bell rings when nothing is left."""
        ...


def stop_on_signals(*engines: Stoppable, deadline: float = 10.0) -> None:
    """At SIGTERM or SIGINT stop these engines, then end the program with 143 or 130.

    Turns end as cancelled, agents and their files go; then SystemExit is raised in the main thread,
    so `finally` and `atexit` have their say. What takes longer than `deadline` seconds in all is
    left behind (the warden ends the agents), and a second signal leaves at once. For the main
    thread of programs with threads or asyncio; in trio use `trio.open_signal_receiver`.
    """
    if not 0 < deadline < float("inf"):
        raise SettingsError(f"deadline must be a number of seconds above 0; got {deadline!r}")
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("signals come to the main thread: call stop_on_signals there")
    if trio.lowlevel.in_trio_run():
        raise RuntimeError("in a trio program, use trio.open_signal_receiver and engine.stop()")
    shutdown = _Shutdown(engines, deadline)
    for number in SIGNALS:
        signal.signal(number, shutdown.signalled)


class _Shutdown:
    """The handler does next to nothing: it may have interrupted anything, also our own code."""

    def __init__(self, engines: Sequence[Stoppable], deadline: float) -> None:
        self._engines, self._deadline = engines, deadline
        self._is_begun = self._is_over = False
        # Made before any signal: in a handler no thread can be started without fear.
        self._news: queue.SimpleQueue[int] = queue.SimpleQueue()
        threading.Thread(target=self._watch, name="avatar-shutdown", daemon=True).start()

    def signalled(self, number: int, _: FrameType | None) -> None:
        """The first begins the stop, the one after the stop ends the program, others at once."""
        if self._is_over:
            raise SystemExit(KILLED + number)
        if self._is_begun:
            os._exit(KILLED + number)
        self._is_begun = True
        self._news.put(number)

    def _watch(self) -> None:
        number = self._news.get()
        end = time.monotonic() + self._deadline
        for bell in [engine.close_for_good() for engine in self._engines]:
            bell.hear_sync(max(0.0, end - time.monotonic()))
        self._is_over = True
        main = threading.main_thread()
        if main.ident is not None:
            signal.pthread_kill(main.ident, number)
        main.join(max(1.0, end - time.monotonic()))
        if main.is_alive():
            # It does not listen: in foreign code, or in an `except` that takes everything.
            os._exit(KILLED + number)
