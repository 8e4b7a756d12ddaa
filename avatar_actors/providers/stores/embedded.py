"""The embedded agent's store: a file of JSON lines for each conversation in one folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from avatar_actors.model.values import JsonObject, StoredMessage, StoredSession
from avatar_actors.providers.stores.store import (
    JsonlStore,
    SessionListing,
    SessionSearch,
    StoreFile,
    title_from,
)
from avatar_actors.wire.json_values import at, text_at, time_text


def embedded_store(search: SessionSearch) -> SessionListing:
    """The conversations of the embedded agent, in all of its dialects."""
    env = search.env
    state = Path(env.get("XDG_STATE_HOME") or search.home / ".local" / "state")
    home = Path(env.get("AVATAR_EMBEDDED_HOME") or state / "avatar-actors" / "embedded")
    store = JsonlStore()
    return store.collect(store.files(home), lambda file: _session(store, file), search)


def _session(store: JsonlStore, file: StoreFile) -> StoredSession | None:
    directory, created_at, has_begun = "", "", False
    for line in store.head(file.path):
        match line.get("role"):
            case "session":
                has_begun = True
                directory = text_at(line, "cwd")
                created = at(line, "created")
                created_at = time_text(created) if isinstance(created, int | float) else ""
            case "user" if text_at(line, "text"):
                return StoredSession(
                    session_id=file.path.stem,
                    title=title_from(text_at(line, "text")),
                    working_dir=directory,
                    updated_at=time_text(file.modified),
                    created_at=created_at,
                    file=str(file.path),
                )
            case _:
                pass
    if not has_begun:
        store.note(file.path, "no line of a session can be read in it")
    return None


def delete_embedded(session: StoredSession) -> None:
    """Delete a conversation; OSError if that cannot be done."""
    Path(session.file).unlink(missing_ok=True)


def embedded_transcript(lines: Iterable[JsonObject]) -> Iterator[StoredMessage]:
    """What was said by both."""
    for line in lines:
        role = text_at(line, "role")
        if role in {"user", "assistant"}:
            yield StoredMessage(role, text_at(line, "text"))
