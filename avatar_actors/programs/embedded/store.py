"""Stored conversations: a file of JSON lines each, in a private folder of the user."""

from __future__ import annotations

import os
import time
from pathlib import Path

from avatar_actors.programs.embedded.json_lines import (
    Record,
    decode,
    encode,
    is_record,
    number_in,
    text_in,
)
from avatar_actors.programs.embedded.process import complain
from avatar_actors.programs.embedded.session import title_of

HOME_VARIABLE = "AVATAR_EMBEDDED_HOME"
LONGEST_ID = 100
SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


def default_home() -> Path:
    """Where conversations are kept: the variable's folder, else the user's state folder."""
    if chosen := os.environ.get(HOME_VARIABLE):
        return Path(chosen)
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(state).expanduser() / "avatar-actors" / "embedded"


class Stored:
    """What is stored of a conversation."""

    def __init__(self) -> None:
        self.cwd = ""
        self.history: list[Record] = []
        self.cost = 0.0

    def take(self, entry: Record) -> None:
        """Adds what one line says."""
        match text_in(entry, "role"):
            case "session":
                self.cwd = text_in(entry, "cwd")
            case "cost":
                self.cost = number_in(entry, "cost")
            case "user" | "assistant":
                self.history.append(entry)
            case _:
                # The half line of a process that was killed while writing.
                pass


class Store:
    """The conversations of one home; what cannot be written is said on stderr, once, and lost."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._is_writable = True

    def keep_nothing(self) -> None:
        """Writes no conversation from now on."""
        self._is_writable = False

    def create(self, session_id: str, cwd: str) -> None:
        """Begins the file of a conversation."""
        self.append(session_id, {"role": "session", "cwd": cwd, "created": time.time()})

    def append(self, session_id: str, entry: Record) -> None:
        """Adds a line to a conversation, in one write."""
        if not self._is_writable or not _is_safe(session_id):
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        try:
            self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._path(session_id), flags, 0o600)
            try:
                os.write(descriptor, encode(entry))
            finally:
                os.close(descriptor)
        except OSError as error:
            self._is_writable = False
            complain(f"the conversation is not stored: {error}")

    def load(self, session_id: str) -> Stored | None:
        """A conversation, if it is known."""
        if not _is_safe(session_id):
            return None
        try:
            lines = self._path(session_id).read_bytes().splitlines()
        except OSError:
            return None
        stored = Stored()
        for line in lines:
            stored.take(_entry(line))
        return stored

    def known(self) -> list[str]:
        """The ids of all conversations, the last used first."""
        try:
            paths = [path for path in self._home.iterdir() if path.suffix == ".jsonl"]
            paths.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        except OSError:
            return []
        return [path.stem for path in paths]

    def rows(self) -> list[Record]:
        """What a list of conversations shows of each; one in which nothing was said is none."""
        rows: list[Record] = []
        for session_id in self.known():
            loaded = self.load(session_id)
            if loaded is not None and loaded.history:
                used = self._path(session_id).stat().st_mtime
                row: Record = {"sessionId": session_id, "cwd": loaded.cwd}
                rows.append(
                    {**row, "title": title_of(loaded.history), "updatedAt": timestamp(used)}
                )
        return rows

    def copy(self, session_id: str, new_id: str) -> None:
        """Begins a conversation with what was said in another."""
        if (loaded := self.load(session_id)) is not None:
            self.create(new_id, loaded.cwd)
            for entry in loaded.history:
                self.append(new_id, entry)

    def delete(self, session_id: str) -> None:
        """Forgets a conversation."""
        if _is_safe(session_id):
            self._path(session_id).unlink(missing_ok=True)

    def _path(self, session_id: str) -> Path:
        return self._home / f"{session_id}.jsonl"


def timestamp(seconds: float | None = None) -> str:
    """The time as the agents write it."""
    now = time.time() if seconds is None else seconds
    clock = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
    return f"{clock}.{int(now % 1 * 1000):03}Z"


def _is_safe(session_id: str) -> bool:
    return 0 < len(session_id) <= LONGEST_ID and SAFE.issuperset(session_id)


def _entry(line: bytes) -> Record:
    try:
        value = decode(line)
    except ValueError:
        return {}
    return value if is_record(value) else {}
