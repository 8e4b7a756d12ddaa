"""`avatar` in a real terminal of a given size: what a person sees, presses and does to it."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.cli.emulator import Emulator
from tests.cli.programs import PATIENCE, command, environment

# In the new session, so that the terminal becomes its own: /dev/tty, Ctrl-C and Ctrl-Z work.
TAKE_TERMINAL = (
    "import os, sys; os.close(os.open(os.ttyname(1), os.O_RDWR)); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)
CTRL_C, CTRL_Z, ENTER = "\x03", "\x1a", "\r"


class Terminal:
    """A program in a terminal of its own. All waiting has the same generous limit."""

    def __init__(
        self,
        ends: tuple[int, int],
        process: "subprocess.Popen[bytes]",
        size: tuple[int, int],
    ) -> None:
        self.pid = process.pid
        self.patience = PATIENCE
        self._emulator = Emulator(*size)
        (self._master, self._slave), self._process = ends, process
        self._modes = termios.tcgetattr(self._master)

    @property
    def written(self) -> bytes:
        """All that the program wrote."""
        return self._emulator.written

    @property
    def lines(self) -> list[str]:
        """The screen as it is, each row of it, without the blanks at their ends."""
        rows = self._emulator.rows
        return rows + [""] * (self._emulator.size().lines - len(rows))

    @property
    def text(self) -> str:
        """All that can be read: what has left the screen at its top, then the screen."""
        return "\n".join(self._emulator.all_rows).rstrip()

    def says(self, text: str) -> bool:
        """Whether it can be read, also where a line's end breaks it."""
        return "".join(text.split()) in "".join(self.text.split())

    @property
    def shows_cursor(self) -> bool:
        return self._emulator.has_cursor

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row, from 0."""
        row, column = self._emulator.cursor
        return column, row

    @property
    def is_as_before(self) -> bool:
        """Whether line editing, echo and all else are as they were before the program."""
        return termios.tcgetattr(self._master) == self._modes

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self._master)[3] & termios.ECHO)

    @property
    def is_stopped(self) -> bool:
        """Whether the program was stopped, as by Ctrl-Z, and waits for SIGCONT."""
        status = Path(f"/proc/{self.pid}/stat").read_text("ascii")
        return status.rpartition(")")[2].split()[0] == "T"

    def press(self, keys: str) -> None:
        """As on a keyboard; Ctrl-C and Ctrl-Z become signals."""
        os.write(self._master, keys.encode())

    def wait_until_read(self) -> None:
        """Until the program has taken all that was pressed."""
        self.wait_until(lambda: not _unread(self._slave), "reader of the keys")

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def resize(self, columns: int, rows: int) -> None:
        self._emulator.resize(columns, rows)
        set_size(self._master, columns, rows)

    def wait_for(self, text: str) -> None:
        """Until the text can be read."""
        self.wait_until(lambda: text in self.text, f"{text!r} on the screen")

    def wait_until(self, is_so: Callable[[], bool], what: str) -> None:
        """Follow the screen until this is so."""
        deadline = time.monotonic() + self.patience
        while not is_so():
            is_over = self._process.poll() is not None
            if not self._read(0.05) and is_over and not is_so():
                raise AssertionError(f"it ended without {what}:\n{self.text}")
            assert time.monotonic() < deadline, f"no {what}:\n{self.text}"

    def wait(self) -> int:
        """Follow the screen until the program is over; its exit code."""
        deadline = time.monotonic() + self.patience
        while self._process.poll() is None:
            self._read(0.05)
            assert time.monotonic() < deadline, f"it does not end:\n{self.text}"
        while self._read(0.0):
            pass
        return self._process.returncode

    def _read(self, patience: float) -> bool:
        if not select.select([self._master], [], [], patience)[0]:
            return False
        self._emulator.write(os.read(self._master, 65536))
        return True


def _unread(terminal: int) -> int:
    [count] = struct.unpack("i", fcntl.ioctl(terminal, termios.FIONREAD, b"\0" * 4))
    return int(count)


def set_size(terminal: int, columns: int, rows: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


@contextmanager
def avatar_in_terminal(
    home: Path,
    *arguments: str,
    size: tuple[int, int] = (80, 24),
    stdin: int | None = None,
    through: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> Generator[Terminal]:
    """`avatar` with its own home; gone at the end of the block, whatever happens.

    `through` is a command that runs it, as a shell does.
    """
    master, slave = pty.openpty()
    set_size(slave, *size)
    inside = [sys.executable, "-I", "-S", "-c", TAKE_TERMINAL]
    process = subprocess.Popen(
        [*inside, *through, *command(*arguments)],
        cwd=home,
        env={**environment(home), "TERM": "xterm-256color", **(env or {})},
        stdin=slave if stdin is None else stdin,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    try:
        yield Terminal((master, slave), process, size)
    finally:
        process.kill()
        process.wait()
        os.close(slave)
        os.close(master)
