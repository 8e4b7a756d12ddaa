"""The stored sessions of an agent, without running it: listed, read, and merged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from avatar_actors.model.checks import checked
from avatar_actors.model.fields import FilePath
from avatar_actors.model.values import StoredSession
from avatar_actors.providers.provider import Provider, passed_to
from avatar_actors.providers.registry import provider_named
from avatar_actors.providers.stores.store import (
    SessionListing,
    SessionSearch,
    SessionTranscript,
    last_said,
    newest_first,
    title_from,
)


@checked
def list_sessions(
    provider: str | Provider,
    working_dir: FilePath | None = Path(),
    env: Mapping[str, str] | None = None,
    limit: int = 100,
) -> SessionListing:
    """What the agent's store has of a directory, or of all (None), without running the agent.

    It blocks for a moment. `env` is as in the settings of an avatar.
    """
    kind = provider_named(provider) if isinstance(provider, str) else provider
    if kind.store is None:
        why = f"{kind.name} has no store that can be read; ask a running one: avatar.sessions()"
        return SessionListing((), (why,))
    around = {**passed_to(kind), **(env or {})}
    directory = None if working_dir is None else Path(working_dir)
    return kind.store(SessionSearch(env=around, working_dir=directory, limit=limit))


@checked
def read_session(
    provider: str | Provider, session: StoredSession, limit: int = 1000
) -> SessionTranscript:
    """What was said in a session that `list_sessions` found: its last messages, oldest first.

    It blocks for a moment, and reads no more than the last 16 MB of the file.
    """
    kind = provider_named(provider) if isinstance(provider, str) else provider
    if kind.transcript is None or not session.file:
        return SessionTranscript((), (f"what was said is not to be read from {kind.name}'s store",))
    return last_said(Path(session.file), kind.transcript, limit)


def merged(
    told: tuple[StoredSession, ...], stored: tuple[StoredSession, ...]
) -> tuple[StoredSession, ...]:
    """Each session once: as the agent tells it, with what only its store knows."""
    found = {each.session_id: each for each in stored}
    for each in told:
        known = found.get(each.session_id, each)
        found[each.session_id] = StoredSession(
            session_id=each.session_id,
            title=title_from(each.title or known.title),
            working_dir=each.working_dir or known.working_dir,
            updated_at=each.updated_at or known.updated_at,
            created_at=each.created_at or known.created_at,
            file=known.file,
        )
    return newest_first(list(found.values()))
