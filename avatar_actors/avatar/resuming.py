"""Taking up another stored session, or a fork: the agent is ended and started anew for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import trio

from avatar_actors.avatar.control import Contact
from avatar_actors.avatar.ending import start_error
from avatar_actors.avatar.messages import GetHealth
from avatar_actors.avatar.resume_messages import ResumeImpossible, ResumeThis
from avatar_actors.avatar.tree import Actors
from avatar_actors.model.errors import AgentRefused, UnknownRequest, Unsupported
from avatar_actors.model.settings import Timeouts
from avatar_actors.wire.commands import Beginning
from supervisors import StartFailed

# On top of what a restart may take by the settings.
_SLACK = 20.0


Stop: TypeAlias = Callable[[], Awaitable[None]]


async def take_up(contact: Contact, wanted: ResumeThis, timeouts: Timeouts, stop: Stop) -> str:
    """Go on with a stored session, or with a fork of it; the id of the session that it is now."""
    await contact.ask(contact.actors.turn_queue, wanted)
    await _switch(contact.actors, timeouts, stop)
    return await present_session(contact)


async def fork_wanted(contact: Contact, session_id: str) -> ResumeThis:
    """The fork of a session, or of the present one; Unsupported where the agent cannot."""
    agent = (await contact.session()).capabilities
    if not agent.can_fork_session:
        raise Unsupported(f"{agent.agent or contact.name} cannot fork a session")
    source = session_id or await present_session(contact)
    if not source:
        raise UnknownRequest("nothing was said in this session yet: there is nothing to fork")
    return ResumeThis(source, Beginning.FORK)


async def present_session(contact: Contact) -> str:
    """The id of the session now, as far as the agent has told it."""
    return (await contact.ask(contact.actors.turn_queue, GetHealth())).session_id


async def _switch(actors: Actors, timeouts: Timeouts, stop: Stop) -> None:
    """Restart the session; if it cannot be, once more with a fresh one, else the avatar stops."""
    limit = 2 * timeouts.start + timeouts.stop + _SLACK
    # Not to be left half-way: without a session nobody would start one.
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
