"""This process: its standard streams, its signals, and how it ends; messages are left to others."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time

from avatar_actors.programs.embedded import tools
from avatar_actors.programs.embedded.json_lines import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import NoReturn

    from avatar_actors.programs.embedded.json_lines import Record


READ_SIZE = 1 << 18
EXIT_ON_TERM = 128 + signal.SIGTERM
EXIT_ON_BUG = 70


class LineOutput:
    """Standard output: whole lines from any thread; a turn may hold them back for one write."""

    def __init__(self, descriptor: int = 1) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._held: list[bytes] | None = None
        self._is_open = True

    def send(self, record: Record) -> None:
        """Writes one message as a line."""
        self.write(encode(record))

    def write(self, data: bytes) -> None:
        """Writes the bytes as they are."""
        with self._lock:
            if self._held is None:
                self._write_all(data)
            else:
                self._held.append(data)

    def hold(self) -> None:
        """Keeps everything that follows until `release`."""
        with self._lock:
            self._held = self._held or []

    def release(self) -> None:
        """Writes what was held, in one go."""
        with self._lock:
            held, self._held = self._held, None
            if held:
                self._write_all(b"".join(held))

    def close(self) -> None:
        """Closes the stream for the reader on the other side; later messages are dropped."""
        with self._lock:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            # The number stays taken: else the next file this process opens would become stdout.
            os.dup2(nowhere, self._descriptor)
            os.close(nowhere)

    def _write_all(self, data: bytes) -> None:
        view = memoryview(data)
        while self._is_open and view:
            try:
                view = view[os.write(self._descriptor, view) :]
            except BrokenPipeError:
                # Nobody reads any more; the end comes by stdin or by a signal.
                self._is_open = False


class InputGate:
    """Lets input through, unless a script closed it: then input stays in the pipe, as in a hang."""

    def __init__(self) -> None:
        self._closed_until = 0.0

    def close_for(self, seconds: float) -> None:
        """Lets nothing through for so long; a negative time means forever."""
        self._closed_until = float("inf") if seconds < 0 else time.monotonic() + seconds

    def wait(self) -> None:
        """Returns once the gate is open."""
        while (rest := self._closed_until - time.monotonic()) > 0:
            time.sleep(min(rest, 1))


class ProcessLifetime:
    """Exits on SIGTERM, SIGINT and the end of stdin and kills the tools; scripts can disable it."""

    def __init__(self) -> None:
        self.is_stubborn = False
        self.exit_on_term = EXIT_ON_TERM
        # A signal that comes just before a blocking read would be seen only after it: 8 of 150
        # SIGTERMs were. So it also wakes up `read_lines`, which selects on this pipe.
        self.wake, waking = os.pipe()
        os.set_blocking(waking, False)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        # From the start and in the main thread, for signal.signal() works nowhere else.
        signal.signal(signal.SIGTERM, self._on_term)
        signal.signal(signal.SIGINT, self._on_interrupt)
        # A turn that fails by a bug must not leave its client waiting: the process dies of it.
        threading.excepthook = self._on_bug

    def end(self, code: int) -> NoReturn:
        """Kills the tools and exits at once, from any thread."""
        tools.kill_all()
        os._exit(code)

    def end_of_input(self, code: int = 0) -> NoReturn:
        """Exits because stdin has ended; a stubborn process waits forever instead."""
        while self.is_stubborn:
            time.sleep(1)
        self.end(code)

    def _on_term(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if not self.is_stubborn:
            self.end(self.exit_on_term)

    def _on_interrupt(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if not self.is_stubborn:
            self.end(0)

    def _on_bug(self, bug: threading.ExceptHookArgs) -> None:
        sys.excepthook(bug.exc_type, bug.exc_value or SystemExit(), bug.exc_traceback)
        self.end(EXIT_ON_BUG)


class ProcessControl:
    """The parts of this process that the steps of a script can act on."""

    def __init__(self) -> None:
        self.lifetime = ProcessLifetime()
        self.output = LineOutput()
        self.input = InputGate()
        # A prompt may hold a stranger's text, and a script runs commands: a test switches it on.
        self.plays_scripts = False

    def lines(self) -> Iterator[bytes]:
        """Every line of stdin, as the gate lets it through; returns at the end of stdin."""
        for line in read_lines(self.lifetime.wake):
            self.input.wait()
            yield line
        self.input.wait()


class StartSettings:
    """How the agent starts: what its command line says, and what a test's start steps change."""

    def __init__(self) -> None:
        self.argv: list[str] = []
        self.model = ""
        self.needs_auth = False
        self.initialize_error: Record | None = None
        self.is_mute = False
        self.version = 1
        self.can_load = True
        self.loses_sessions = False


def read_lines(wake: int, descriptor: int = 0) -> Iterator[bytes]:
    """Every line that comes in, without its newline, and the rest at the end of the stream."""
    parts: list[bytes] = []
    while chunk := _read(wake, descriptor):
        first, *others = chunk.split(b"\n")
        parts.append(first)
        for piece in others:
            yield b"".join(parts)
            parts = [piece]
    if any(parts):
        yield b"".join(parts)


def _read(wake: int, descriptor: int) -> bytes:
    while True:
        ready, _, _ = select.select([wake, descriptor], [], [])
        if wake in ready:
            os.read(wake, READ_SIZE)
        if descriptor in ready:
            return os.read(descriptor, READ_SIZE)


def complain(text: str) -> None:
    """Writes a line to stderr."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def in_background(work: Callable[[], None]) -> None:
    """Runs it on a thread that the process does not wait for."""
    threading.Thread(target=work, daemon=True).start()
