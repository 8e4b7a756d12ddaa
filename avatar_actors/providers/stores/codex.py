"""Codex's store (0.137.0, 0.166.0): `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from avatar_actors.model.values import JsonObject, StoredMessage, StoredSession
from avatar_actors.providers.stores.store import (
    JsonlStore,
    SessionListing,
    SessionSearch,
    StoreFile,
    texts_of,
    title_from,
)
from avatar_actors.wire.json_values import at, text_at, time_text


def codex_store(search: SessionSearch) -> SessionListing:
    """The sessions that Codex can take up again, by either adapter."""
    home = Path(search.env.get("CODEX_HOME") or search.home / ".codex")
    store = JsonlStore()
    files = [
        file
        for year in store.folders(home / "sessions")
        for month in store.folders(year)
        for day in store.folders(month)
        for file in store.files(day)
    ]
    return store.collect(files, lambda file: _session(store, file, search), search)


def _session(store: JsonlStore, file: StoreFile, search: SessionSearch) -> StoredSession | None:
    lines = store.head(file.path)
    meta = next((at(line, "payload") for line in lines if line.get("type") == "session_meta"), None)
    session_id, directory = text_at(meta, "id"), text_at(meta, "cwd")
    if not session_id:
        store.note(file.path, "no line of a session can be read in it")
        return None
    if not search.covers(directory) or at(meta, "source", "subagent") is not None:
        return None
    prompt = next((text for line in lines for text in _prompts(line) if text.strip()), "")
    if not prompt:
        return None  # nothing was said in it
    return StoredSession(
        session_id=session_id,
        title=title_from(prompt),
        working_dir=directory,
        updated_at=time_text(file.modified),
        created_at=text_at(meta, "timestamp"),
        file=str(file.path),
    )


def codex_transcript(lines: Iterable[JsonObject]) -> Iterator[StoredMessage]:
    """What the user and Codex said."""
    for line in lines:
        moment = text_at(line, "timestamp")
        for text in _prompts(line):
            yield StoredMessage("user", text, moment)
        payload = at(line, "payload")
        # Both versions also write an event for it, each of another form.
        if line.get("type") == "response_item" and text_at(payload, "role") == "assistant":
            for text in texts_of(at(payload, "content")):
                yield StoredMessage("assistant", text, moment)


def _prompts(line: JsonObject) -> Iterator[str]:
    """What the user said, as 0.137.0 writes it and as 0.166.0 does."""
    payload = at(line, "payload")
    if text_at(payload, "type") == "user_message":
        yield text_at(payload, "message")
    elif text_at(payload, "item", "type") == "UserMessage":
        yield from texts_of(at(payload, "item", "content"))
