"""What a store of sessions is: searches, listings, transcripts, and files of JSON lines."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from avatar_actors.model.command_line import is_session_id
from avatar_actors.model.values import JsonObject, StoredMessage, StoredSession
from avatar_actors.wire.json_values import decoded, is_array, is_object, text_at, timestamp_of

LONGEST_TITLE = 100


class SessionListing(Struct, frozen=True):
    """The sessions, the last used first; and what of the store could not be read."""

    sessions: tuple[StoredSession, ...] = ()
    diagnostics: tuple[str, ...] = ()


class SessionSearch(Struct, frozen=True, kw_only=True):
    """What an agent with this environment has kept of a directory, or of all (None)."""

    env: Mapping[str, str]
    working_dir: Path | None = None
    limit: int = 100

    @property
    def home(self) -> Path:
        """The agent's home directory."""
        return Path(self.env.get("HOME") or Path.home())

    def directories(self) -> set[str]:
        """The names of the directory; an agent sees it without symbolic links."""
        if self.working_dir is None:
            return set()
        return {os.path.abspath(self.working_dir), os.path.realpath(self.working_dir)}  # noqa: PTH100 - also of what is gone

    def covers(self, working_dir: str) -> bool:
        """Whether a session of this directory is looked for."""
        return self.working_dir is None or working_dir in self.directories()


Store: TypeAlias = Callable[[SessionSearch], SessionListing]
"""Reads one agent's store. It blocks; what is wrong with the store is told, not raised."""


def newest_first(sessions: list[StoredSession]) -> tuple[StoredSession, ...]:
    """In the order of their last use."""
    return tuple(sorted(sessions, key=lambda each: timestamp_of(each.updated_at), reverse=True))


def without_context(text: str) -> str:
    """What a person said, without the block of context that a host puts in front of it."""
    _, mark, words = text.partition("\n</context>")
    return words.strip() or text if mark and text.startswith("<context>\n") else text


def title_from(text: str) -> str:
    """A title of one line, in the words of the person."""
    text = without_context(text)
    words = " ".join(text[: 10 * LONGEST_TITLE].split())
    return words if len(words) <= LONGEST_TITLE else f"{words[: LONGEST_TITLE - 1]}…"


# The first prompt of codex-acp 2.6.0 stands behind 60 KB of tools; a pasted image has more.
HEAD: Final = 1024 * 1024
TAIL: Final = 64 * 1024
BLOCK: Final = 64 * 1024
# Files that are looked into to find those of one directory, and remarks that are kept.
MOST_FILES: Final = 1000
MOST_REMARKS: Final = 20


class StoreFile(Struct, frozen=True):
    """A file as its folder shows it."""

    path: Path
    modified: float


class JsonlStore:
    """Reads the files of one store. Nothing of it raises; `remarks` tell what was wrong."""

    def __init__(self) -> None:
        self._remarks: list[str] = []

    @property
    def remarks(self) -> tuple[str, ...]:
        """What could not be read, and how much more."""
        rest = len(self._remarks) - MOST_REMARKS
        more = [f"… and {rest} more of this store"] if rest > 0 else []
        return (*self._remarks[:MOST_REMARKS], *more)

    def note(self, path: Path, why: OSError | str) -> None:
        """Something is wrong with this file."""
        words = why if isinstance(why, str) else why.strerror or str(why)
        self._remarks.append(f"{path}: {words}")

    def folders(self, folder: Path) -> list[Path]:
        """The folders in a folder."""
        return [path for path, mode, _ in self._entries(folder) if stat.S_ISDIR(mode)]

    def files(self, folder: Path) -> list[StoreFile]:
        """The files of JSON lines in a folder."""
        return [
            StoreFile(path, modified)
            for path, mode, modified in self._entries(folder)
            if stat.S_ISREG(mode) and path.suffix == ".jsonl"
        ]

    def collect(
        self,
        files: Iterable[StoreFile],
        read: Callable[[StoreFile], StoredSession | None],
        search: SessionSearch,
    ) -> SessionListing:
        """The sessions of the newest files, as far as they are looked for."""
        newest = sorted(files, key=lambda file: file.modified, reverse=True)
        # By its id: links can lead to a file by two ways.
        found: dict[str, StoredSession] = {}
        for number, file in enumerate(newest):
            if len(found) >= search.limit:
                break
            if number == max(MOST_FILES, search.limit):
                self._remarks.append(f"only the newest {number} of {len(newest)} files were read")
                break
            session = read(file)
            if session is not None and not is_session_id(session.session_id):
                self.note(file.path, "a session of this name cannot be asked for")
            elif session is not None and search.covers(session.working_dir):
                found.setdefault(session.session_id, session)
        return SessionListing(tuple(found.values()), self.remarks)

    def head(self, path: Path) -> Iterator[JsonObject]:
        """The JSON objects at the beginning; a line that is none is passed over."""
        rest, size = b"", 0
        try:
            with _opened(path) as descriptor:
                while size < HEAD and (block := os.read(descriptor, BLOCK)):
                    size += len(block)
                    *lines, rest = (rest + block).split(b"\n")
                    yield from _objects(lines)
        except OSError as error:
            self.note(path, error)
        yield from _objects([rest])

    def tail(self, path: Path) -> list[JsonObject]:
        """The JSON objects at the end, the last first."""
        lines, _ = self.last_lines(path, TAIL)
        return lines[::-1]

    def last_lines(self, path: Path, size: int) -> tuple[list[JsonObject], bool]:
        """The JSON objects in so many bytes at the end, and whether that is the whole file."""
        try:
            with _opened(path) as descriptor:
                start = max(0, os.fstat(descriptor).st_size - size)
                lines = os.pread(descriptor, size, start).split(b"\n")
        except OSError as error:
            self.note(path, error)
            return [], True
        # The first line is cut, unless this is the whole file.
        return list(_objects(lines[1:] if start else lines)), not start

    def text(self, path: Path) -> str:
        """A small file; empty when there is none."""
        try:
            with _opened(path) as descriptor:
                return os.read(descriptor, BLOCK).decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
        except OSError as error:
            self.note(path, error)
            return ""

    def _entries(self, folder: Path) -> Iterator[tuple[Path, int, float]]:
        try:
            paths = list(folder.iterdir())
        except FileNotFoundError:
            return  # nothing was ever stored
        except OSError as error:
            self.note(folder, error)
            return
        for path in paths:
            try:
                facts = path.stat()
            except OSError as error:
                self.note(path, error)
            else:
                yield path, facts.st_mode, facts.st_mtime


@contextmanager
def _opened(path: Path) -> Generator[int]:
    # A pipe in the place of a file must not hold us up.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _objects(lines: list[bytes]) -> Iterator[JsonObject]:
    for line in lines:
        value = decoded(line) if line.startswith(b"{") else None
        if is_object(value):
            yield value


# A longer file is read from here on: what was said last counts most.
LONGEST: Final = 16 * 1024 * 1024

Transcript: TypeAlias = Callable[[Iterable[JsonObject]], Iterable[StoredMessage]]
"""Makes the messages of a session's lines, in their order. Pure."""


class SessionTranscript(Struct, frozen=True):
    """The messages, oldest first; and what of the session is left out or could not be read."""

    messages: tuple[StoredMessage, ...] = ()
    diagnostics: tuple[str, ...] = ()


def last_said(path: Path, transcript: Transcript, limit: int) -> SessionTranscript:
    """The last messages of the session in this file."""
    store = JsonlStore()
    lines, is_whole = store.last_lines(path, LONGEST)
    messages = [each for each in transcript(lines) if each.text.strip()]
    remarks = [*store.remarks]
    if not is_whole:
        remarks.append(f"{path}: only the last {LONGEST // 2**20} MB were read")
    if (earlier := len(messages) - limit) > 0:
        remarks.append(f"{earlier} earlier messages are left out")
    return SessionTranscript(tuple(messages[-limit:]) if limit else (), tuple(remarks))


def texts_of(content: object) -> Iterator[str]:
    """The pieces of text in a message's content: a text, or a list of parts."""
    for part in content if is_array(content) else [content]:
        text = text_at(part, "text") if is_object(part) else part
        if isinstance(text, str) and text.strip():
            yield text
