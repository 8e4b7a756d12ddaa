"""This process: how it starts, what a step can touch of it, and how it ends."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from avatar_actors.programs.embedded import children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import NoReturn

    from avatar_actors.programs.embedded.json_lines import Record
    from avatar_actors.programs.embedded.pipes import Ears, LineOutput


EXIT_ON_TERM = 128 + signal.SIGTERM
EXIT_ON_BUG = 70


class Life:
    """Ends with its tools on SIGTERM, SIGINT and the end of stdin; a stubborn one ignores these."""

    def __init__(self) -> None:
        self.is_stubborn = False
        self.exit_on_term = EXIT_ON_TERM
        # A signal that comes just before a blocking read would be seen only after it: 8 of 150
        # SIGTERMs were. So it also wakes who selects on this pipe.
        self.wake, waking = os.pipe()
        os.set_blocking(waking, False)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        # From the start and in the main thread, for signal.signal() works nowhere else.
        signal.signal(signal.SIGTERM, self._on_term)
        signal.signal(signal.SIGINT, self._on_interrupt)
        # A turn that fails by a bug must not leave its client waiting: the process dies of it.
        threading.excepthook = self._on_bug

    def end(self, code: int) -> NoReturn:
        """Kills the tools and exits at once, from whichever thread."""
        children.kill_all()
        os._exit(code)

    def end_of_input(self, code: int = 0) -> NoReturn:
        """What the end of stdin does: the exit, or nothing for ever."""
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


def complain(text: str) -> None:
    """Writes a line to stderr."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def in_background(work: Callable[[], None]) -> None:
    """Runs it on a thread that the process does not wait for."""
    threading.Thread(target=work, daemon=True).start()


class Body:
    """Its life, its voice, its ears, and whether the scripts of prompts are played."""

    def __init__(self, life: Life, output: LineOutput, ears: Ears) -> None:
        self.life = life
        self.output = output
        self.ears = ears
        # A prompt may hold a stranger's text, and a script runs commands: a test switches it on.
        self.plays_scripts = False


class Start:
    """The settings that start steps change."""

    def __init__(self) -> None:
        self.needs_auth = False
        self.initialize_error: Record | None = None
        self.is_mute = False
        self.version = 1
        self.can_load = True
        self.loses_sessions = False
