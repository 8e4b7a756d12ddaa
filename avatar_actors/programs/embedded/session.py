"""Conversations: their messages in memory, and the private folder that keeps them for later."""

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

MOST_REMEMBERED = 100_000
HOME_VARIABLE = "AVATAR_EMBEDDED_HOME"
LONGEST_ID = 100
SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


def default_home() -> Path:
    """Where conversations are kept: the variable's folder, else one in the user's state folder."""
    if chosen := os.environ.get(HOME_VARIABLE):
        return Path(chosen)
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(state).expanduser() / "avatar-actors" / "embedded"


class Session:
    """One conversation: its settings and its messages, which are also written to the store."""

    def __init__(self, session_id: str, cwd: str, store: Store) -> None:
        self.id = session_id
        self.cwd = cwd
        self.argv: list[str] = []
        self.model = ""
        self.mode = ""
        self.system = ""
        self.mcp: object = []
        self.always_allowed: set[str] = set()
        self.history: list[Record] = []
        self.cost = 0.0
        self._store = store

    def remember(self, role: str, text: str) -> None:
        """Adds a message, also to the store; a very long one is cut."""
        if not self.history:
            self._store.create(self.id, self.cwd)
        entry: Record = {"role": role, "text": text[:MOST_REMEMBERED]}
        self.history.append(entry)
        self._store.append(self.id, entry)

    def remember_cost(self) -> None:
        """Stores what the conversation has cost so far."""
        if self.cost:
            self._store.append(self.id, {"role": "cost", "cost": self.cost})

    def recall(self, stored: StoredConversation) -> None:
        """Continues a stored conversation."""
        self.history = stored.history
        self.cost = stored.cost


class StoredConversation:
    """A conversation as its file holds it."""

    def __init__(self) -> None:
        self.cwd = ""
        self.history: list[Record] = []
        self.cost = 0.0

    def take(self, entry: Record) -> None:
        """Adds what one line of the file says."""
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
    """The conversations in one folder; a failed write is reported once, and storing stops."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._is_writable = True

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

    def load(self, session_id: str) -> StoredConversation | None:
        """A conversation, if it is known."""
        if not _is_safe(session_id):
            return None
        try:
            lines = self._path(session_id).read_bytes().splitlines()
        except OSError:
            return None
        stored = StoredConversation()
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
        """The rows of `session/list`; a conversation without messages is left out."""
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
        """Starts a conversation with the messages of another."""
        if (loaded := self.load(session_id)) is not None:
            self.create(new_id, loaded.cwd)
            for entry in loaded.history:
                self.append(new_id, entry)

    def delete(self, session_id: str) -> None:
        """Deletes a conversation."""
        if _is_safe(session_id):
            self._path(session_id).unlink(missing_ok=True)

    def _path(self, session_id: str) -> Path:
        return self._home / f"{session_id}.jsonl"


def timestamp(seconds: float | None = None) -> str:
    """The time in UTC, as the agents write it."""
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


def title_of(history: list[Record]) -> str:
    """The first thing that the user said, shortened."""
    said = next((entry["text"] for entry in history if entry.get("role") == "user"), "")
    return str(said)[:60]
