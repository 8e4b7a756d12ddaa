"""The stdin writer: puts whole messages on the agent's stdin, so that no two can interleave."""

from __future__ import annotations

import trio

from avatar_actors.errors import AgentDied
from avatar_actors.session_messages import Write
from supervisors import Inbox

_NEWS = 1.0


async def stdin_writer(inbox: Inbox[Write], pipe: trio.abc.SendStream) -> None:
    """One message after the other. A message that was begun is finished, unless the agent dies."""
    try:
        async for write in inbox:
            try:
                await pipe.send_all(write.data)
            except trio.BrokenResourceError as error:
                # If it died, the stdout reader is about to tell how, which says more than this.
                await trio.sleep(_NEWS)
                raise AgentDied("the agent closed its stdin") from error
    finally:
        await trio.aclose_forcefully(pipe)
