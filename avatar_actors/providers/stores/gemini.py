"""Gemini CLI's store (0.61.0): `~/.gemini/tmp/<project>/chats/session-<minute>-<id>.jsonl`."""

from __future__ import annotations

import hashlib
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
)
from avatar_actors.wire.json_values import at, is_array, is_object, text_at, time_text

# The CLI's own first message; each process stores a session that has nothing else.
NOT_SAID: Final = "<session_context>"
ROLES: Final = {"user": "user", "gemini": "assistant"}


def gemini_store(search: SessionSearch) -> SessionListing:
    """The sessions that Gemini CLI can load."""
    home = Path(search.env.get("GEMINI_CLI_HOME") or search.home)
    store = JsonlStore()
    roots = {
        folder / "chats": _directory(store, folder, search)
        for folder in store.folders(home / ".gemini" / "tmp")
    }
    files = [
        file
        for chats, directory in roots.items()
        if search.covers(directory)
        for file in store.files(chats)
    ]

    def read(file: StoreFile) -> StoredSession | None:
        return _session(store, file, roots[file.path.parent])

    return store.collect(files, read, search)


def _directory(store: JsonlStore, folder: Path, search: SessionSearch) -> str:
    """Whose project it is. Older versions named the folder by a hash, for who knows the rest."""
    if told := store.text(folder / ".project_root").strip():
        return told
    hashes = {hashlib.sha256(each.encode()).hexdigest(): each for each in search.directories()}
    return hashes.get(folder.name, "")


def _session(store: JsonlStore, file: StoreFile, directory: str) -> StoredSession | None:
    session_id = created_at = prompt = ""
    for line in store.head(file.path):
        if not session_id and (session_id := text_at(line, "sessionId")):
            created_at = text_at(line, "startTime")
            if text_at(line, "kind") not in {"", "main"}:
                return None  # a sub-agent's
        if prompt := next(_prompts(line), ""):
            break
    if not session_id:
        store.note(file.path, "no line of a session can be read in it")
    if not session_id or not prompt:
        return None
    summaries = (text_at(line, "$set", "summary") for line in store.tail(file.path))
    return StoredSession(
        session_id=session_id,
        title=title_from(next(filter(None, summaries), prompt)),
        working_dir=directory,
        updated_at=time_text(file.modified),
        created_at=created_at,
        file=str(file.path),
    )


def gemini_transcript(lines: Iterable[JsonObject]) -> Iterator[StoredMessage]:
    """What the user and Gemini said; of a message that was written again, the last form."""
    messages: dict[str, JsonObject] = {}
    for number, line in enumerate(lines):
        replaced = at(line, "$set", "messages")
        if is_array(replaced):
            messages = {}
        for place, each in enumerate(replaced if is_array(replaced) else [line]):
            if is_object(each) and text_at(each, "type") in ROLES:
                messages[text_at(each, "id") or f"{number}-{place}"] = each
    for message in messages.values():
        role, moment = ROLES[text_at(message, "type")], text_at(message, "timestamp")
        yield from (StoredMessage(role, text, moment) for text in _said(message))


def _prompts(line: JsonObject) -> Iterator[str]:
    """What the user says in a message, or in the messages that replace those before."""
    replaced = at(line, "$set", "messages")
    for message in replaced if is_array(replaced) else [line]:
        if text_at(message, "type") == "user":
            yield from _said(message)


def _said(message: object) -> Iterator[str]:
    texts = texts_of(at(message, "content"))
    return (text for text in texts if not text.startswith(NOT_SAID))
