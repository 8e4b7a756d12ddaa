"""The rotating file of a log, which never overwrites a file that is not ours.

Our log is a regular file of our user with the mode 0600 and a single name. Any other file that is
already there stays as it is, also where a backup would replace it.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import stat
import sys
from contextlib import suppress
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

from avatar_actors.model.errors import SettingsError

PRIVATE: Final = 0o600


def warning_record(words: str) -> logging.LogRecord:
    """A line that the log writes about itself."""
    facts = {"name": "avatar_actors", "levelno": logging.WARNING, "levelname": "WARNING"}
    return logging.makeLogRecord({**facts, "msg": words})


class LogFile(RotatingFileHandler):
    """A rotating file that only its owner can read: it tells who uses which agent, and when."""

    def __init__(self, place: Path, max_bytes: int, backup_count: int) -> None:
        self._place, self._kept = place, backup_count
        self._has_warned = False
        self._lost = 0
        if foreign := self._foreign_backup():
            raise SettingsError(f"log.file: the backup {foreign}; move it away")
        super().__init__(place, maxBytes=max_bytes, backupCount=backup_count, encoding="utf-8")

    def shouldRollover(self, record: logging.LogRecord) -> bool:  # noqa: N802 - logging's name
        """Whether to rotate; never over a file that is not ours."""
        if not super().shouldRollover(record):
            return False
        foreign = self._foreign_backup()
        if foreign and not self._has_warned:
            self._has_warned = True
            self.emit(warning_record(f"the log is not rotated: the backup {foreign}"))
        return not foreign

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line; the first one after a failure is followed by how many were lost."""
        lost = self._lost
        super().emit(record)
        if lost and self._lost == lost:
            self._lost = 0
            self.emit(warning_record(f"{lost} line(s) before the last one may be missing"))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """Report a disk that takes no line once, in one line on stderr; then count."""
        error = sys.exception()
        if not isinstance(error, OSError):
            super().handleError(record)
            return
        self._lost += 1
        if self._lost == 1 and logging.raiseExceptions and sys.stderr is not None:
            words = f"avatar_actors: the log {self._place} cannot be written: {error.strerror}"
            with suppress(OSError, ValueError):  # stderr is full or closed
                sys.stderr.write(f"{words}; lines are lost until it can\n")

    def _foreign_backup(self) -> str:
        """The file that a backup would wrongly replace, and what is wrong; else nothing."""
        backup = re.compile(re.escape(self._place.name) + r"\.([1-9][0-9]{0,8})")
        for entry in self._place.parent.iterdir():
            number = backup.fullmatch(entry.name)
            if number and int(number[1]) <= self._kept and (wrong := _wrong_with(entry.lstat())):
                return f"{entry} {wrong}"
        return ""

    def _open(self) -> TextIOWrapper:
        # O_NONBLOCK: a pipe that nobody reads would block; for a file the flag means nothing.
        flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(self._place, flags | os.O_CREAT | os.O_EXCL, PRIVATE)
            os.fchmod(descriptor, PRIVATE)  # whatever the umask
        except FileExistsError:
            descriptor = _reopened(self._place, flags)
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")


def _reopened(place: Path, flags: int) -> int:
    advice = "name another file, or leave `file` out to log to stderr"
    try:
        descriptor = os.open(place, flags)
    except OSError as error:
        # A link, or a pipe that nobody reads.
        if error.errno in {errno.ELOOP, errno.EMLINK, errno.ENXIO}:
            raise SettingsError(f"log.file: {place} is no regular file; {advice}") from error
        raise
    if wrong := _wrong_with(os.fstat(descriptor)):
        os.close(descriptor)
        raise SettingsError(
            f"log.file: {place} {wrong}; {advice}; if it is a log, chmod 600 {place}"
        )
    return descriptor


def _wrong_with(status: os.stat_result) -> str:
    """Why this cannot be a log of ours; else nothing."""
    if not stat.S_ISREG(status.st_mode):
        return "is no regular file"
    if status.st_uid != os.geteuid():
        return "belongs to another user"
    if status.st_nlink != 1:
        return "has a second name (a hard link)"
    if stat.S_IMODE(status.st_mode) != PRIVATE:
        return (
            f"was not made by this log (its mode is {stat.S_IMODE(status.st_mode):04o}, not 0600)"
        )
    return ""
