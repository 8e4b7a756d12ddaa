"""Lists the stored sessions of an avatar's working directory, and switches the avatar to one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import msgspec
import trio

from avatar_actors.avatar.actor_client import ActorClient, start_error
from avatar_actors.avatar.messages import Actors, GetHealth, ResumeThis
from avatar_actors.model.command_line import is_session_id, unusable_session
from avatar_actors.model.errors import AgentRefused, UnknownRequest, Unsupported
from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.settings import Timeouts
from avatar_actors.model.values import Level, StoredSession
from avatar_actors.providers.stores.queries import merged
from avatar_actors.providers.stores.store import SessionSearch
from avatar_actors.session.launch import Launcher
from avatar_actors.session.messages import CallAgent, Publish, ResumeImpossible, SessionReady
from avatar_actors.wire.commands import Beginning
from supervisors import StartFailed

# On top of what a restart may take by the settings.
_SLACK = 20.0

Stop: TypeAlias = Callable[[], Awaitable[None]]


async def sessions_of(client: ActorClient, launcher: Launcher) -> tuple[StoredSession, ...]:
    """Those of the working directory, listed by the agent and found in its store, each once."""
    session = await client.session()
    can_list = session.capabilities.can_list_sessions
    if not can_list and launcher.provider.store is None:
        raise Unsupported(f"{launcher.provider.name} lists no sessions, and has no known store")
    stored = await trio.to_thread.run_sync(launcher.stored_sessions, abandon_on_cancel=True)
    listed: tuple[StoredSession, ...] = ()
    remarks = stored.diagnostics
    if can_list:
        try:
            listed = await _listed_by_agent(client, launcher, session)
            unusable = [each.session_id for each in listed if not is_session_id(each.session_id)]
            remarks = (*remarks, *map(unusable_session, unusable))
            listed = tuple(each for each in listed if each.session_id not in unusable)
        except Unsupported as error:
            remarks = (*remarks, f"the agent did not list its sessions: {error}")
    await _publish(client, remarks)
    return merged(listed, stored.sessions)


async def last_other(client: ActorClient, launcher: Launcher) -> StoredSession:
    """The session that was used last, besides the present one."""
    present = await present_session(client)
    for session in await sessions_of(client, launcher):
        if session.session_id != present:
            return session
    raise UnknownRequest(f"there is no other session of {launcher.settings.working_dir}")


async def present_session(client: ActorClient) -> str:
    """The id of the present session, as far as the agent has told it."""
    return (await client.ask(client.actors.turn_queue, GetHealth())).session_id


async def fork_of(client: ActorClient, session_id: str) -> ResumeThis:
    """Ask for a fork of a session, or of the present one; Unsupported if the agent cannot."""
    agent = (await client.session()).capabilities
    if not agent.can_fork_session:
        raise Unsupported(f"{agent.agent or client.name} cannot fork a session")
    source = session_id or await present_session(client)
    if not source:
        raise UnknownRequest("nothing was said in this session yet: there is nothing to fork")
    return ResumeThis(source, Beginning.FORK)


async def switch_session(
    client: ActorClient, wanted: ResumeThis, timeouts: Timeouts, stop: Stop
) -> str:
    """Continue a stored session, or a fork of it; returns the id of the session it is now."""
    await client.ask(client.actors.turn_queue, wanted)
    await _restart_session(client.actors, timeouts, stop)
    return await present_session(client)


async def _listed_by_agent(
    client: ActorClient, launcher: Launcher, session: SessionReady
) -> tuple[StoredSession, ...]:
    directory = launcher.settings.working_dir
    call = CallAgent("list_sessions", {"cwd": str(directory)})
    rows = msgspec.convert(await client.ask(session.bridge, call), list[StoredSession])
    here = SessionSearch(env={}, working_dir=directory)
    # Not every agent looks at `cwd`.
    return tuple(each for each in rows if not each.working_dir or here.covers(each.working_dir))


async def _publish(client: ActorClient, remarks: tuple[str, ...]) -> None:
    events = [
        DiagnosticEvent(message=remark, level=Level.WARNING, source="sessions")
        for remark in remarks
    ]
    if events:
        await client.actors.tracker.tell(Publish(0, events))


async def _restart_session(actors: Actors, timeouts: Timeouts, stop: Stop) -> None:
    """Restart it; if that fails, once more with a fresh session, else the avatar stops."""
    limit = 2 * timeouts.start + timeouts.stop + _SLACK
    # Shielded: left half-way, the avatar would have no session and nobody to start one.
    with trio.CancelScope(shield=True, deadline=trio.current_time() + limit):
        await actors.supervisor.terminate("session")
        try:
            await actors.supervisor.restart("session")
        except StartFailed as failed:
            error = start_error(failed)
            await actors.turn_queue.tell(ResumeImpossible(str(error)))
            await _start_afresh(actors, stop)
            raise error from failed
        return
    await stop()
    raise AgentRefused("the agent did not come back in time")


async def _start_afresh(actors: Actors, stop: Stop) -> None:
    try:
        await actors.supervisor.restart("session")
    except StartFailed as failed:
        await stop()
        raise start_error(failed) from failed
