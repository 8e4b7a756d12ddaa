"""The standard streams: whole lines out, lines in, and a deafness that scripts can ask for."""

from __future__ import annotations

import os
import select
import threading
import time

from avatar_actors.programs.embedded.json_lines import Record, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

READ_SIZE = 1 << 18


class LineOutput:
    """Standard output: messages of all threads, each whole; held while a turn wants one write."""

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
        """Keeps all that follows until `release`."""
        with self._lock:
            self._held = self._held or []

    def release(self) -> None:
        """Writes in one go what was held."""
        with self._lock:
            held, self._held = self._held, None
            if held:
                self._write_all(b"".join(held))

    def close(self) -> None:
        """Closes the stream for the reader on the other side; later messages go nowhere."""
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


class Ears:
    """Whether messages are heard: a deaf agent leaves them in the pipe, as a hung one would."""

    def __init__(self) -> None:
        self._deaf_until = 0.0

    def stop_for(self, seconds: float) -> None:
        """Hears nothing for so long; a negative time is for ever."""
        self._deaf_until = float("inf") if seconds < 0 else time.monotonic() + seconds

    def wait(self) -> None:
        """Returns once messages are heard again."""
        while (rest := self._deaf_until - time.monotonic()) > 0:
            time.sleep(min(rest, 1))


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
