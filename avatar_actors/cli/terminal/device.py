"""The terminal itself: its size and traits, its keys, and output that does not block the loop."""

from __future__ import annotations

import os
import select
import stat
import sys
import termios
from typing import Any, Final

import trio

_READ = 1024
_GLANCE = 0.2
# Where tcgetattr keeps the modes of input editing, and the special characters.
_LOCAL, _CHARACTERS = 3, 6


class Keyboard:
    """The terminal's own descriptor, which is there even when stdin is a pipe."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._modes: list[Any] | None = None

    @property
    def is_ours(self) -> bool:
        """Whether this program is in the foreground: only then may it touch the modes."""
        try:
            return os.tcgetpgrp(self.descriptor) == os.getpgrp()
        except OSError:
            return False  # the terminal is gone

    def hold(self) -> None:
        """Keys come one by one and are not shown; Ctrl-C and Ctrl-Z still are signals."""
        if self._modes is not None or not self.is_ours:
            return
        modes: list[Any] = termios.tcgetattr(self.descriptor)
        raw: list[Any] = [*modes[:_CHARACTERS], [*modes[_CHARACTERS]]]
        raw[_LOCAL] &= ~(termios.ECHO | termios.ICANON)
        raw[_CHARACTERS][termios.VMIN], raw[_CHARACTERS][termios.VTIME] = 1, 0
        termios.tcsetattr(self.descriptor, termios.TCSANOW, raw)
        self._modes = modes

    def release(self) -> None:
        """The modes are as they were found; what was typed and not read is forgotten."""
        modes, self._modes = self._modes, None
        if modes is not None and self.is_ours:
            # TCSAFLUSH would wait for a terminal that was stopped with Ctrl-S.
            termios.tcflush(self.descriptor, termios.TCIFLUSH)
            termios.tcsetattr(self.descriptor, termios.TCSANOW, modes)

    async def pressed(self) -> str:
        """The next keys; nothing for those that are no characters, as arrows. OSError: no more."""
        data = None
        while data is None:
            await trio.lowlevel.wait_readable(self.descriptor)
            if self.is_ours:
                data = self._read()
            else:
                # These keys are the shell's; who reads them in the background is stopped.
                await trio.sleep(_GLANCE)
        return "" if data.startswith(b"\x1b") else data.decode("utf-8", "ignore")

    def _read(self) -> bytes | None:
        try:
            data = os.read(self.descriptor, _READ)
        except BlockingIOError:
            return None
        if not data:
            raise OSError("the terminal is gone")
        return data


def open_keyboard() -> Keyboard | None:
    """The keyboard of this terminal; None if there is none."""
    try:
        # An opening of our own: others that have this terminal can still wait for it.
        flags = os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC | os.O_NONBLOCK
        return Keyboard(os.open("/dev/tty", flags))
    except OSError:
        return None


# A pipe or terminal that can be written to takes so much at once.
_MOST = select.PIPE_BUF


class StdoutWriter:
    """A descriptor that only this writes to. BrokenPipeError: nobody reads it any more."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._can_wait = _can_wait(descriptor)
        self.is_terminal = os.isatty(descriptor)

    async def write(self, data: bytes) -> None:
        """All of it. The descriptor stays blocking: others may have it, too."""
        view = memoryview(data)
        while view:
            if self._can_wait:
                await trio.lowlevel.wait_writable(self._descriptor)
            written = os.write(self._descriptor, view[:_MOST] if self._can_wait else view)
            view = view[written:]


def _can_wait(descriptor: int) -> bool:
    """A file is always ready, and epoll refuses to watch it."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


# Of one that is gone, or does not know its size and says 0.
_USUAL: Final = os.terminal_size((80, 24))


def size_of(descriptor: int) -> os.terminal_size:
    """Its columns and lines."""
    try:
        size = os.get_terminal_size(descriptor)
    except OSError:
        return _USUAL
    return size if size.columns and size.lines else _USUAL


def is_lively(descriptor: int) -> bool:
    """Whether it is one, on which lines can be painted over."""
    return os.isatty(descriptor) and os.environ.get("TERM", "dumb") != "dumb"


def wants_colour() -> bool:
    """Unless the person said no."""
    return not os.environ.get("NO_COLOR")


def has_unicode() -> bool:
    """Whether stdout takes more than ASCII."""
    return "utf" in sys.stdout.encoding.lower()
