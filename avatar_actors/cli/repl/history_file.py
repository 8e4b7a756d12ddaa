"""Keeps the lines typed before in one file that several REPLs may share."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from prompt_toolkit.history import History

# The entries kept when the file is trimmed, which happens at twice as many.
KEPT: Final = 2000


def history_path(environ: Mapping[str, str]) -> Path:
    """The file in the user's state directory, by the XDG specification."""
    state = Path(environ.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():  # by the specification such a value is ignored
        state = Path.home() / ".local" / "state"
    return state / "avatar-actors" / "history"


class HistoryFile(History):
    """One JSON string per line, so that an entry is written at once and a torn one is noticed.

    A line that starts with a space is not stored. If the file cannot be used, `problem` says why,
    and the lines of this REPL are still remembered.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.problem = ""
        self._path = path

    def append_string(self, string: str) -> None:
        """Remember it, unless it starts with a space."""
        if not string.startswith(" "):
            super().append_string(string)

    def load_history_strings(self) -> Iterable[str]:
        """The entries of the file, the newest first."""
        try:
            with self._opened(fcntl.LOCK_EX) as file:
                entries = list(_entries(_all_of(file)))
                if len(entries) > 2 * KEPT:
                    entries = entries[-KEPT:]
                    os.ftruncate(file, 0)
                    os.write(file, b"".join(map(_line, entries)))
        except OSError as error:
            self._report(error)
            return []
        return reversed(entries)

    def store_string(self, string: str) -> None:
        """Append it to the file."""
        try:
            with self._opened(fcntl.LOCK_EX) as file:
                # Ends a line that was torn by a full disk or a crash.
                size = os.fstat(file).st_size
                is_torn = size > 0 and os.pread(file, 1, size - 1) != b"\n"
                os.write(file, b"\n" * is_torn + _line(string))
        except OSError as error:
            self._report(error)

    @contextmanager
    def _opened(self, lock: int) -> Generator[int]:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, lock)
            yield file
        finally:
            os.close(file)

    def _report(self, error: OSError) -> None:
        self.problem = f"cannot keep the history in {self._path}: {error.strerror}"


def _line(entry: str) -> bytes:
    return json.dumps(entry).encode() + b"\n"


def _all_of(file: int) -> bytes:
    return os.pread(file, os.fstat(file).st_size, 0)


def _entries(content: bytes) -> Iterator[str]:
    """The readable entries; torn and foreign lines are skipped."""
    for line in content.splitlines():
        try:
            entry: object = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, str):
            yield entry
