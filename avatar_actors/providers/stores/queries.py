"""The stored sessions of an agent: from its protocol, from its store, from both together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import trio

from avatar_actors.avatar import messages as avatar_messages
from avatar_actors.avatar.control import Contact
from avatar_actors.model.errors import UnknownRequest, Unsupported
from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.identifiers import is_session_id, unusable_session
from avatar_actors.model.values import Level, StoredSession
from avatar_actors.providers.provider import Provider
from avatar_actors.providers.registry import provider_named
from avatar_actors.providers.stores.listing import (
    SessionListing,
    SessionSearch,
    newest_first,
    title_from,
)
from avatar_actors.providers.stores.transcript import SessionTranscript, last_said
from avatar_actors.session import messages as session_messages
from avatar_actors.session.launch import Launcher, passed_to


def list_sessions(
    provider: str | Provider,
    working_dir: str | Path | None = Path(),
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


async def sessions_of(contact: Contact, launcher: Launcher) -> tuple[StoredSession, ...]:
    """Those of the working directory, told by the agent and found in its store, each once."""
    session = await contact.session()
    can_list = session.capabilities.can_list_sessions
    if not can_list and launcher.provider.store is None:
        raise Unsupported(f"{launcher.provider.name} lists no sessions, and has no known store")
    stored = await trio.to_thread.run_sync(launcher.stored_sessions, abandon_on_cancel=True)
    told: tuple[StoredSession, ...] = ()
    remarks = stored.diagnostics
    if can_list:
        try:
            told = await _told(contact, launcher, session)
            unusable = [each.session_id for each in told if not is_session_id(each.session_id)]
            remarks = (*remarks, *map(unusable_session, unusable))
            told = tuple(each for each in told if each.session_id not in unusable)
        except Unsupported as error:
            remarks = (*remarks, f"the agent did not list its sessions: {error}")
    await _publish(contact, remarks)
    return merged(told, stored.sessions)


async def last_other(contact: Contact, launcher: Launcher) -> StoredSession:
    """The session that was used last, besides the present one."""
    health = await contact.ask(contact.actors.turn_queue, avatar_messages.GetHealth())
    for session in await sessions_of(contact, launcher):
        if session.session_id != health.session_id:
            return session
    raise UnknownRequest(f"there is no other session of {launcher.settings.working_dir}")


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


async def _told(
    contact: Contact, launcher: Launcher, session: avatar_messages.SessionReady
) -> tuple[StoredSession, ...]:
    directory = launcher.settings.working_dir
    call = session_messages.CallAgent("list_sessions", {"cwd": str(directory)})
    rows = msgspec.convert(await contact.ask(session.bridge, call), list[StoredSession])
    here = SessionSearch(env={}, working_dir=directory)
    # Not every agent looks at `cwd`.
    return tuple(each for each in rows if not each.working_dir or here.covers(each.working_dir))


async def _publish(contact: Contact, remarks: tuple[str, ...]) -> None:
    events = [
        DiagnosticEvent(message=remark, level=Level.WARNING, source="sessions")
        for remark in remarks
    ]
    if events:
        await contact.actors.hub.tell(avatar_messages.Publish(0, events))
