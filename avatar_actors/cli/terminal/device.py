"""The terminal device: its size, colours and keys, and writing without blocking the event loop."""

from __future__ import annotations

import os
import re
import select
import stat
import sys
import termios
from typing import Any, Final

_READ = 1024
_GLANCE = 0.2
_ESCAPE = b"\x1b"
# What an arrow or a function key sends.
_SEQUENCE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.)")
# The indexes of the local modes and the control characters in the result of tcgetattr.
_LOCAL, _CHARACTERS = 3, 6


class Keyboard:
    """Reads keys from the terminal, even when stdin is a pipe."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._modes: list[Any] | None = None

    @property
    def is_ours(self) -> bool:
        """Whether this program is in the foreground; only then may it change the modes."""
        try:
            return os.tcgetpgrp(self.descriptor) == os.getpgrp()
        except OSError:
            return False  # the terminal is gone

    def hold(self) -> None:
        """Read keys one by one without echo; Ctrl-C and Ctrl-Z are still signals."""
        if self._modes is not None or not self.is_ours:
            return
        modes: list[Any] = termios.tcgetattr(self.descriptor)
        raw: list[Any] = [*modes[:_CHARACTERS], [*modes[_CHARACTERS]]]
        raw[_LOCAL] &= ~(termios.ECHO | termios.ICANON)
        raw[_CHARACTERS][termios.VMIN], raw[_CHARACTERS][termios.VTIME] = 1, 0
        termios.tcsetattr(self.descriptor, termios.TCSANOW, raw)
        self._modes = modes

    def release(self) -> None:
        """Restore the modes, and discard what was typed but not read."""
        modes, self._modes = self._modes, None
        if modes is not None and self.is_ours:
            # TCSAFLUSH would wait for a terminal stopped with Ctrl-S.
            termios.tcflush(self.descriptor, termios.TCIFLUSH)
            termios.tcsetattr(self.descriptor, termios.TCSANOW, modes)

    async def pressed(self) -> str:
        """The next keys; of those that are no characters, like arrows, only Esc. OSError: gone."""
        import trio  # noqa: PLC0415 - half of the time of commands that do without it

        data = None
        while data is None:
            await trio.lowlevel.wait_readable(self.descriptor)
            if self.is_ours:
                data = self._read()
            else:
                # The keys are the shell's; reading them in the background would stop us.
                await trio.sleep(_GLANCE)
        if data.startswith(_ESCAPE):
            return "\x1b" if _SEQUENCE.sub(b"", data) == _ESCAPE else ""
        return data.decode("utf-8", "ignore")

    def _read(self) -> bytes | None:
        try:
            data = os.read(self.descriptor, _READ)
        except BlockingIOError:
            return None
        if not data:
            raise OSError("the terminal is gone")
        return data


def open_keyboard() -> Keyboard | None:
    """The keyboard of the controlling terminal; None without one."""
    try:
        # A descriptor of our own: non-blocking mode must not affect other users of the terminal.
        flags = os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC | os.O_NONBLOCK
        return Keyboard(os.open("/dev/tty", flags))
    except OSError:
        return None


# A writable pipe or terminal accepts this much without blocking.
_MOST = select.PIPE_BUF


class StdoutWriter:
    """Writes to a descriptor without blocking. BrokenPipeError: nobody reads it any more."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._can_wait = _can_wait(descriptor)
        self.is_terminal = os.isatty(descriptor)

    async def write(self, data: bytes) -> None:
        """Write everything. The descriptor stays blocking, as others may share it."""
        import trio  # noqa: PLC0415 - as above

        view = memoryview(data)
        while view:
            if self._can_wait:
                await trio.lowlevel.wait_writable(self._descriptor)
            written = os.write(self._descriptor, view[:_MOST] if self._can_wait else view)
            view = view[written:]


def _can_wait(descriptor: int) -> bool:
    """Not for a file: it is always ready, and epoll refuses it."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


# For a terminal that is gone or reports a size of 0.
_USUAL: Final = os.terminal_size((80, 24))


def size_of(descriptor: int) -> os.terminal_size:
    """The terminal's columns and lines."""
    try:
        size = os.get_terminal_size(descriptor)
    except OSError:
        return _USUAL
    return size if size.columns and size.lines else _USUAL


def is_live(descriptor: int) -> bool:
    """Whether this is a terminal whose lines can be repainted."""
    return os.isatty(descriptor) and os.environ.get("TERM", "dumb") != "dumb"


def wants_colour() -> bool:
    """Whether colours are not turned off by NO_COLOR."""
    return not os.environ.get("NO_COLOR")


def has_unicode() -> bool:
    """Whether stdout can encode more than ASCII."""
    return "utf" in sys.stdout.encoding.lower()
