"""Taking up another stored session: the agent's session is ended and started anew for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

from avatar_actors import messages
from avatar_actors.avatar import Actors
from avatar_actors.ending import start_error
from avatar_actors.errors import AgentRefused
from avatar_actors.settings import Timeouts
from supervisors import StartFailed

# On top of what a restart may take by the settings.
_SLACK = 20.0


async def switch_session(
    actors: Actors, timeouts: Timeouts, stop: Callable[[], Awaitable[None]]
) -> None:
    """Restart the session; if it cannot be, once more with a fresh one, else the avatar stops."""
    limit = 2 * timeouts.start + timeouts.stop + _SLACK
    # Not to be left half-way: without a session nobody would start one.
    with trio.CancelScope(shield=True, deadline=trio.current_time() + limit):
        await actors.supervisor.terminate("session")
        try:
            await actors.supervisor.restart("session")
        except StartFailed as failed:
            error = start_error(failed)
            await actors.turn_queue.tell(messages.ResumeImpossible(str(error)))
            await _start_afresh(actors, stop)
            raise error from failed
        return
    await stop()
    raise AgentRefused("the agent did not come back in time")


async def _start_afresh(actors: Actors, stop: Callable[[], Awaitable[None]]) -> None:
    try:
        await actors.supervisor.restart("session")
    except StartFailed as failed:
        await stop()
        raise start_error(failed) from failed
