"""Writes the package's loggers to a rotating file or to stderr, if a host wants that.

A thread does the writing, so that no disk delays the loop. Loggers belong to the whole process: two
runtimes that write to one file share one output, and no line is written twice.
"""

from __future__ import annotations

import logging
import queue
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from logging.handlers import QueueHandler, QueueListener
from pathlib import Path

import trio

from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import LogSettings
from avatar_actors.observe.log_file import LogFile, warning_record
from avatar_actors.observe.log_lines import SecretsFilter

_WRITERS = ("avatar_actors", "supervisors")
# Lines that may wait for the disk; further ones are only counted.
_WAITING = 10_000
_LAST_LINES = 5.0


@asynccontextmanager
async def open_log(settings: LogSettings, secrets: SecretsFilter) -> AsyncGenerator[None]:
    """Write the log for the length of a block; at its end every line is in the file."""
    output = await trio.to_thread.run_sync(_OUTPUTS.join, settings)
    output.addFilter(secrets)
    try:
        yield
    finally:
        output.removeFilter(secrets)
        with trio.CancelScope(shield=True, deadline=trio.current_time() + _LAST_LINES):
            await trio.to_thread.run_sync(_OUTPUTS.leave, settings, abandon_on_cancel=True)


class _Output(QueueHandler):
    """The handler of one file: puts records into the queue of the thread that writes it."""

    def __init__(self, settings: LogSettings) -> None:
        # First, since it may fail: `logging` keeps every handler that was begun until the exit.
        self._target = _target(settings)
        self._lines: queue.Queue[logging.LogRecord | None] = queue.Queue(_WAITING)
        super().__init__(self._lines)
        self.settings = settings
        self.users = 0
        self.setLevel(settings.level.upper())
        self._dropped = 0
        self._is_closed = False
        self._target.setFormatter(logging.Formatter(settings.format))
        self._writer = _Writer(self._lines, self._target)
        self._writer.start()

    def enqueue(self, record: logging.LogRecord) -> None:
        """Queue the record without waiting."""
        try:
            self._lines.put_nowait(record)
        except queue.Full:
            self._dropped += 1

    def close(self) -> None:
        """Wait until all is written; what a full disk does not take is lost."""
        if self._is_closed:
            return  # `logging` closes every handler once more at the end of the program
        self._is_closed = True
        self._writer.stop()
        if self._dropped:
            words = f"{self._dropped} line(s) were not written: the disk was too slow"
            self._target.handle(warning_record(words))
        with suppress(OSError):
            self._target.close()
        super().close()


class _Writer(QueueListener):
    def __init__(
        self, lines: queue.Queue[logging.LogRecord | None], target: logging.Handler
    ) -> None:
        super().__init__(lines, target)
        self._lines = lines

    def enqueue_sentinel(self) -> None:
        """End the thread; the standard method fails when the queue is full."""
        self._lines.put(None)

    def handle(self, record: logging.LogRecord) -> None:
        """Write a line; one that cannot be written is lost."""
        # Handlers report to stderr what they cannot write, and raise ValueError if that is closed.
        with suppress(ValueError):
            super().handle(record)


class _Outputs:
    """All outputs of this process, and our loggers' state before the first one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[Path | None, _Output] = {}
        self._before: dict[str, tuple[int, bool]] = {}

    def join(self, settings: LogSettings) -> _Output:
        """The output for these settings; another runtime may use it too."""
        with self._lock:
            place = _place(settings)
            output = self._open.get(place)
            if output is None:
                output = _Output(settings)
                self._open[place] = output
                self._arrange()
            elif output.settings != settings:
                where = place or "stderr"
                raise SettingsError(f"another runtime logs to {where} with other settings")
            output.users += 1
            return output

    def leave(self, settings: LogSettings) -> None:
        """Close the output if no other runtime uses it."""
        with self._lock:
            output = self._open[_place(settings)]
            output.users -= 1
            if output.users:
                return
            del self._open[_place(settings)]
            for name in _WRITERS:
                logging.getLogger(name).removeHandler(output)
            self._arrange()
        output.close()  # without the lock: a disk that hangs must not block other outputs

    def _arrange(self) -> None:
        for name in _WRITERS:
            logger = logging.getLogger(name)
            before = self._before.setdefault(name, (logger.level, logger.propagate))
            logger.setLevel(min((each.level for each in self._open.values()), default=before[0]))
            # Lines with an output of their own do not go to the host's handlers as well.
            logger.propagate = before[1] and not self._open
            for output in self._open.values():
                logger.addHandler(output)  # twice is once
        if not self._open:
            self._before.clear()


def _target(settings: LogSettings) -> logging.Handler:
    place = _place(settings)
    if place is None:
        return logging.StreamHandler(sys.stderr)
    if not place.parent.is_dir():
        raise SettingsError(f"log.file: there is no directory {place.parent}; create it first")
    try:
        return LogFile(place, settings.max_bytes, settings.backup_count)
    except OSError as error:
        raise SettingsError(f"log.file: {place} cannot be written: {error.strerror}") from error


def _place(settings: LogSettings) -> Path | None:
    return None if settings.file is None else Path(settings.file).absolute()


_OUTPUTS = _Outputs()
