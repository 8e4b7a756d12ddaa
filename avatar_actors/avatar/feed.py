"""The feed: one stream of the events of all avatars of a runtime, those to come included."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.runtime_messages import Follow, FollowAll, HeraldMessage, UnfollowAll
from supervisors import Address, MailboxFull


@asynccontextmanager
async def follow_all(herald: Address[HeraldMessage], follow: Follow) -> AsyncGenerator[EventStream]:
    """Its stream is filled for the length of a block; it ends by itself with the herald."""
    stream = follow.stream
    try:
        await herald.ask(FollowAll(follow))
        yield stream
    finally:
        stream.close()
        with suppress(MailboxFull):
            herald.tell_nowait(UnfollowAll(stream))
