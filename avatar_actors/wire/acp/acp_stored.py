"""The stored sessions that an ACP agent lists."""

from __future__ import annotations

from avatar_actors.model.values import JsonObject
from avatar_actors.wire.json_values import at, is_array, text_at
from avatar_actors.wire.moments import moment_of


def session_rows(result: object) -> list[JsonObject]:
    """The sessions of an answer to session/list, with the field names of StoredSession."""
    sessions = at(result, "sessions")
    return [
        {
            "session_id": text_at(row, "sessionId"),
            "title": text_at(row, "title"),
            "working_dir": text_at(row, "cwd"),
            "updated_at": text_at(row, "updatedAt"),
        }
        for row in (sessions if is_array(sessions) else [])
        if text_at(row, "sessionId")
    ]


def last_of(result: object, cwd: str) -> str:
    """The id of the session that was used last in a directory, if there is one."""
    here = [row for row in session_rows(result) if row["working_dir"] == cwd]
    last = max(here, key=lambda row: moment_of(text_at(row, "updated_at")), default=None)
    return text_at(last, "session_id")
