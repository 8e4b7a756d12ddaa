"""Claude Code's store (2.1.325): `<config>/projects/<key of the directory>/<session>.jsonl`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from avatar_actors.model.values import JsonObject, StoredMessage, StoredSession
from avatar_actors.providers.stores.store import (
    JsonlStore,
    SessionListing,
    SessionSearch,
    StoreFile,
    texts_of,
    title_from,
    without_context,
)
from avatar_actors.wire.json_values import at, text_at, time_text

# A longer key is cut here, and a hash added to it.
LONGEST_KEY: Final = 200
# Given by the user, made by a model, made at a compaction; the first prompt comes after these.
TITLES: Final = (("custom-title", "customTitle"), ("ai-title", "aiTitle"), ("summary", "summary"))
# What the CLI says in the user's name begins so: <command-name>, <local-command-stdout>, …
NOT_SAID: Final = re.compile(r"\s*<[a-z][a-z-]*>")


def claude_store(search: SessionSearch) -> SessionListing:
    """The sessions that Claude Code can take up again."""
    config = Path(search.env.get("CLAUDE_CONFIG_DIR") or search.home / ".claude")
    store = JsonlStore()
    keys = {re.sub(r"[^a-zA-Z0-9]", "-", each) for each in search.directories()}
    files = [
        file
        for folder in store.folders(config / "projects")
        if not keys or any(_is_named(folder.name, key) for key in keys)
        for file in store.files(folder)
        # Older versions kept the transcripts of sub-agents beside the sessions.
        if not file.path.name.startswith("agent-")
    ]
    return store.collect(files, lambda file: _session(store, file), search)


def _is_named(folder: str, key: str) -> bool:
    if len(key) > LONGEST_KEY:
        return folder.startswith(f"{key[:LONGEST_KEY]}-")
    return folder == key


def _session(store: JsonlStore, file: StoreFile) -> StoredSession | None:
    beginning = _Beginning()
    beginning.read(store.head(file.path))
    if not beginning.lines:
        store.note(file.path, "no line of a session can be read in it")
        return None
    end = store.tail(file.path)
    title = _title(end) or beginning.title or beginning.prompt or _said_last(end)
    if not title:
        return None  # nothing was said in it
    return StoredSession(
        session_id=file.path.stem,
        title=title_from(title),
        working_dir=beginning.working_dir,
        updated_at=time_text(file.modified),
        created_at=beginning.created_at,
        file=str(file.path),
    )


def claude_transcript(lines: Iterable[JsonObject]) -> Iterator[StoredMessage]:
    """What the user and Claude said; not what its sub-agents or tools did."""
    for line in lines:
        moment = text_at(line, "timestamp")
        if prompt := _prompt(line):
            yield StoredMessage("user", prompt, moment)
        elif line.get("type") == "assistant" and not line.get("isSidechain"):
            for text in texts_of(at(line, "message", "content")):
                yield StoredMessage("assistant", text, moment)


class _Beginning:
    """What the first lines tell."""

    def __init__(self) -> None:
        self.lines = 0
        self.prompt = self.title = self.working_dir = self.created_at = ""

    def read(self, lines: Iterable[JsonObject]) -> None:
        """Up to the first prompt."""
        for line in lines:
            self.lines += 1
            self.title = self.title or _title([line])
            self.working_dir = self.working_dir or text_at(line, "cwd")
            self.created_at = self.created_at or text_at(line, "timestamp")
            self.prompt = _prompt(line)
            if self.prompt and self.working_dir:
                return


def _title(lines: list[JsonObject]) -> str:
    for kind, field in TITLES:
        for line in lines:
            if line.get("type") == kind and (title := text_at(line, field)):
                return title
    return ""


def _said_last(lines: list[JsonObject]) -> str:
    said = (text_at(line, "lastPrompt") for line in lines if line.get("type") == "last-prompt")
    return next(filter(None, said), "")


def _prompt(line: JsonObject) -> str:
    if line.get("type") != "user" or line.get("isMeta") or line.get("isSidechain"):
        return ""
    said = texts_of(at(line, "message", "content"))
    return next((text for text in said if not NOT_SAID.match(without_context(text))), "")
