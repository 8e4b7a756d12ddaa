"""Single keys of the terminal, read without holding up the loop; its modes are put back."""

from __future__ import annotations

import os
import termios
from typing import Any

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
