"""Graceful shutdown by signals, for hosts that ask for it: stop the engines, then leave."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from types import FrameType
from typing import Any, Final, Protocol, runtime_checkable

import trio

from avatar_actors.model.checks import checked
from avatar_actors.model.errors import SettingsError

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
# A program that was killed by signal n exits with this and n, as a shell would say it.
KILLED: Final = 128
# Seconds between two looks of the shutdown's thread.
_MOMENT: Final = 0.05


@runtime_checkable
class Stoppable(Protocol):
    """An engine, as far as a shutdown is concerned."""

    def close_for_good(self) -> Future[Any]:
        """Begin to stop and take no more calls; done when nothing is left."""
        ...


@checked
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
    _Shutdown(engines, deadline).listen()


class _Shutdown:
    """A thread hears of signals by itself: the main thread may sleep through them.

    A signal wakes the main thread out of a lock or a `select` only if the kernel has just that
    thread run the C handler. When two come at once, another thread may take both, and Python calls
    its own handlers whenever the main thread happens to wake up.
    """

    def __init__(self, engines: Sequence[Stoppable], deadline: float) -> None:
        self._engines, self._deadline = engines, deadline
        self._is_over = self._is_told = False
        self._before: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        # Made before any signal: in a handler no thread can be started without fear.
        threading.Thread(target=self._watch, name="avatar-shutdown", daemon=True).start()

    def listen(self) -> None:
        """Be told of signals: by the C handler, or by ours if the host listens there itself."""
        before = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        if before != -1:
            signal.set_wakeup_fd(before)
        for number in SIGNALS:
            self._before[number] = signal.signal(number, self._signalled)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """In the child of a fork, whose signals would be told to the parent: be as before."""
        woken = signal.set_wakeup_fd(-1)
        if woken != self._writer.fileno():
            signal.set_wakeup_fd(woken)
        for number, before in self._before.items():
            if signal.getsignal(number) == self._signalled:
                signal.signal(number, signal.SIG_DFL if before is None else before)
        self._reader.close()
        self._writer.close()

    def _signalled(self, number: int, _: FrameType | None) -> None:
        """In the main thread, some time after the signal. It may have interrupted anything."""
        if self._is_over:
            self._is_told = True
            raise SystemExit(KILLED + number)
        woken = signal.set_wakeup_fd(-1)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=woken != self._writer.fileno())
        if woken != self._writer.fileno():
            with suppress(BlockingIOError):
                self._writer.send(bytes([number]))

    def _watch(self) -> None:
        number = self._next_signal(None)
        end = time.monotonic() + self._deadline
        stops = [engine.close_for_good() for engine in self._engines]
        while not all(stop.done() for stop in stops) and time.monotonic() < end:
            if second := self._next_signal(_MOMENT):
                os._exit(KILLED + second)
        self._is_over = True
        main = threading.main_thread()
        end = max(end, time.monotonic() + 1.0)
        while main.is_alive() and time.monotonic() < end:
            if not self._is_told and main.ident is not None:
                signal.pthread_kill(main.ident, number)
            main.join(_MOMENT)
        if main.is_alive():
            # It does not listen: in foreign code, or in an `except` that takes everything.
            os._exit(KILLED + number)

    def _next_signal(self, patience: float | None) -> int:
        """The next of ours; 0 if there is none so long."""
        self._reader.settimeout(patience)
        while True:
            try:
                [number] = self._reader.recv(1)
            except TimeoutError:
                return 0
            if number in SIGNALS:
                return number
