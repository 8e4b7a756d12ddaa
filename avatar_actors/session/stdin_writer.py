"""The stdin writer: puts whole messages on the agent's stdin, so that no two can interleave."""

from __future__ import annotations

import trio

from avatar_actors.model.errors import AgentDied
from avatar_actors.session.messages import StreamEnded, Write
from supervisors import Inbox

_NEWS = 1.0


async def stdin_writer(
    inbox: Inbox[Write],
    pipe: trio.abc.SendStream,
    news: trio.MemorySendChannel[bytes | StreamEnded],
) -> None:
    """One message after the other. A message that was begun is finished, unless the agent dies.

    That nobody reads them any more is for the bridge to know, which has the turn.
    """
    with news:
        try:
            async for write in inbox:
                await pipe.send_all(write.data)
        except trio.BrokenResourceError:
            # If it died, the stdout reader is about to tell how, which says more than this.
            await trio.sleep(_NEWS)
            await news.send(StreamEnded(None, AgentDied("the agent closed its input")))
            await trio.sleep_forever()
        finally:
            await trio.aclose_forcefully(pipe)
