"""A program in a terminal of a given size, and what a person would see on its screen."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Generator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0

TOKEN = re.compile(r"\x1b\[(?P<numbers>[?\d;]*)(?P<command>[A-Za-z])|[\r\n]|[^\x1b\r\n]+")


class Screen:
    """Understands what the demo writes, and remembers each time something ran over the edge."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns = columns
        self.rows = rows
        self.lines = [""] * rows
        self.written: list[str] = []
        self.row = self.column = 0
        self.cursor_is_visible = True
        self.colours: set[str] = set()
        self.overruns: list[str] = []
        self.unknown: list[str] = []

    def feed(self, text: str) -> None:
        for token in TOKEN.finditer(text):
            command = token["command"]
            if command is not None:
                self._obey(command, token["numbers"])
            elif token[0] == "\r":
                self.column = 0
            elif token[0] == "\n":
                self._go_down()
            else:
                self._write(token[0])

    def _obey(self, command: str, numbers: str) -> None:
        match command, numbers:
            case "A", _:
                self.row = max(0, self.row - int(numbers))
            case "B", _:
                self.row = min(self.rows - 1, self.row + int(numbers))
            case "K", "2":
                self.lines[self.row] = ""
            case "J", "2":
                self.lines = [""] * self.rows
            case "H", "":
                self.row = self.column = 0
            case "h" | "l", "?25":
                self.cursor_is_visible = command == "h"
            case "m", _:
                self.colours.add(numbers)
            case _:
                self.unknown.append(numbers + command)

    def _go_down(self) -> None:
        self.row += 1
        if self.row == self.rows:
            self.lines = [*self.lines[1:], ""]
            self.row -= 1

    def _write(self, text: str) -> None:
        self.written.append(text)
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[: self.column] + text + line[self.column + len(text) :]
        self.column += len(text)
        if self.column > self.columns:
            self.overruns.append(self.lines[self.row])


class Program:
    """The demo, running in a terminal of its own."""

    def __init__(self, master: int, process: subprocess.Popen[bytes], screen: Screen) -> None:
        self.screen = screen
        self.echoes_at_end = False
        self._master = master
        self._process = process
        self._left = b""

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        set_size(self._master, columns, rows)
        self.screen.columns, self.screen.rows = columns, rows

    def read_until(self, text: str) -> None:
        """Follow the screen until it has shown the text."""
        while not any(text in piece for piece in self.screen.written):
            assert self._read(), f"{text!r} was never shown: {self.screen.lines}"

    def read_to_end(self) -> int:
        """Follow the screen until the program is over; its exit code."""
        while self._read():
            pass
        code = self._process.wait(PATIENCE)
        self.echoes_at_end = bool(termios.tcgetattr(self._master)[3] & termios.ECHO)
        return code

    def _read(self) -> bool:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if select.select([self._master], [], [], 0.1)[0]:
                data = self._left + os.read(self._master, 65536)
                whole = data.decode("utf-8", "ignore")
                self._left = data[len(whole.encode()) :]
                self.screen.feed(whole)
                return True
            if self._process.poll() is not None:
                return False
        raise AssertionError(f"nothing happened for {PATIENCE} s: {self.screen.lines}")


def set_size(terminal: int, columns: int, rows: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


@contextlib.contextmanager
def demo_in_terminal(
    *options: str,
    size: tuple[int, int] = (80, 24),
    program: str = "examples.supervision_demo",
    **environment: str,
) -> Generator[Program]:
    """Start the demo; whatever happens, it is gone at the end of the block."""
    master, slave = pty.openpty()
    set_size(slave, *size)
    process = subprocess.Popen(
        [sys.executable, "-m", program, *options],
        cwd=ROOT,
        env={**os.environ, "TERM": "xterm", "NO_COLOR": "", **environment},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    try:
        yield Program(master, process, Screen(*size))
    finally:
        process.kill()
        process.wait()
        os.close(slave)
        os.close(master)
