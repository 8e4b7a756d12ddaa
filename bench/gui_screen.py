"""A program in a pseudo-terminal: its CPU, and the time from a key to its glyph on the screen."""

import fcntl
import itertools
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

# Letters that no text of these streams has: the first one that is seen is the echo of its key.
GLYPHS = [chr(code) for code in itertools.chain(range(0x0391, 0x03A2), range(0x0410, 0x0450))]
_TICKS = os.sysconf("SC_CLK_TCK")
_LOST = 3.0


class Screen:
    """What a person at the terminal does and sees."""

    def __init__(self, master: int, process: "subprocess.Popen[bytes]") -> None:
        self._master, self._process = master, process
        self._seen = b""
        self._glyphs = iter(GLYPHS * 20)

    def cpu(self) -> float:
        """Seconds of CPU that the program used, without its children."""
        stat = Path(f"/proc/{self._process.pid}/stat").read_bytes()
        fields = stat.rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def wait_for(self, text: str, patience: float = 60.0) -> None:
        """Until it was written."""
        deadline, wanted = time.monotonic() + patience, text.encode()
        while wanted not in self._seen:
            self._read(0.05)
            if time.monotonic() > deadline:
                raise TimeoutError(f"{text!r} was not seen")

    def paste(self, text: str) -> None:
        """As the terminal gives it to a program that knows bracketed paste, with Enter."""
        os.write(self._master, b"\x1b[200~" + text.encode() + b"\x1b[201~\r")

    def watch(self, seconds: float) -> None:
        """Read what it draws, for so long."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._read(left)

    def echo(self) -> float:
        """Milliseconds from one key to its glyph; three seconds at most."""
        glyph = next(self._glyphs).encode()
        self._seen = b""
        began = time.perf_counter()
        os.write(self._master, glyph)
        while glyph not in self._seen and time.perf_counter() - began < _LOST:
            self._read(_LOST)
        return (time.perf_counter() - began) * 1e3

    def clear_input(self, length: int) -> None:
        """Remove what the keys typed."""
        os.write(self._master, b"\x7f" * length)

    def _read(self, patience: float) -> None:
        if select.select([self._master], [], [], patience)[0]:
            self._seen = self._seen[-65536:] + os.read(self._master, 65536)


@contextmanager
def on_screen(
    command: Sequence[str], size: tuple[int, int], env: Mapping[str, str]
) -> Generator[Screen]:
    """The program in a terminal of this size; gone afterwards."""
    master, slave = pty.openpty()
    columns, rows = size
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **env},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Screen(master, process)
    finally:
        process.terminate()
        _drain(master, process)
        os.close(master)


def _drain(master: int, process: "subprocess.Popen[bytes]") -> None:
    """A program that draws on a full terminal would never end."""
    deadline = time.monotonic() + 10
    while process.poll() is None and time.monotonic() < deadline:
        if select.select([master], [], [], 0.05)[0]:
            try:
                os.read(master, 65536)
            except OSError:
                break
    process.kill()
    process.wait()
