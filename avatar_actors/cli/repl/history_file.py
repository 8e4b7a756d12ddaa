"""The lines that were typed before, in one file that several REPLs may share."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from prompt_toolkit.history import History

# So many entries are kept when the file is tidied up, which it is when it has twice as many.
KEPT: Final = 2000


def history_path(environ: Mapping[str, str]) -> Path:
    """In the user's folder for state, as the XDG base directories say."""
    state = Path(environ.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():  # by the specification such a value is to be ignored
        state = Path.home() / ".local" / "state"
    return state / "avatar-actors" / "history"


class HistoryFile(History):
    """One entry per line, as JSON, so that each is written at once and torn ones are seen.

    A line that begins with a space is not stored. A file that cannot be used is no reason to be
    silent: `trouble` says what is wrong, and the lines of this REPL are still remembered.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.trouble = ""
        self._path = path

    def append_string(self, string: str) -> None:
        """Remember it, unless it begins with a space."""
        if not string.startswith(" "):
            super().append_string(string)

    def load_history_strings(self) -> Iterable[str]:
        """What is in the file, the newest first."""
        try:
            with self._opened(fcntl.LOCK_EX) as file:
                entries = list(_entries(_all_of(file)))
                if len(entries) > 2 * KEPT:
                    entries = entries[-KEPT:]
                    os.ftruncate(file, 0)
                    os.write(file, b"".join(map(_line, entries)))
        except OSError as error:
            self._despair(error)
            return []
        return reversed(entries)

    def store_string(self, string: str) -> None:
        """Write it behind what is there."""
        try:
            with self._opened(fcntl.LOCK_EX) as file:
                # A line that was torn by a full disk or a crash ends here.
                size = os.fstat(file).st_size
                is_torn = size > 0 and os.pread(file, 1, size - 1) != b"\n"
                os.write(file, b"\n" * is_torn + _line(string))
        except OSError as error:
            self._despair(error)

    @contextmanager
    def _opened(self, lock: int) -> Generator[int]:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, lock)
            yield file
        finally:
            os.close(file)

    def _despair(self, error: OSError) -> None:
        self.trouble = f"the history is not kept: {self._path}: {error.strerror}"


def _line(entry: str) -> bytes:
    return json.dumps(entry).encode() + b"\n"


def _all_of(file: int) -> bytes:
    return os.pread(file, os.fstat(file).st_size, 0)


def _entries(content: bytes) -> Iterator[str]:
    """What can be read; a torn line, or one of somebody else, is passed over."""
    for line in content.splitlines():
        try:
            entry: object = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, str):
            yield entry
