"""The collector: the actor that keeps the figures, by the feed of all avatars and the notices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import trio
from msgspec import Struct

from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.feed import follow_all
from avatar_actors.avatar.runtime_messages import Follow, HeraldMessage, SlowReaders
from avatar_actors.model.events import AvatarEvent
from avatar_actors.observe.metrics.tally import Tally
from supervisors import Address, Inbox, Notice, NoticeStream

_CAPACITY = 65536


class Listener(Protocol):
    """Whoever makes something of events and notices."""

    def event(self, event: AvatarEvent) -> None:
        """One more event of an avatar."""
        ...

    def notice(self, notice: Notice) -> None:
        """One more notice of the tree."""
        ...


class Sources(Struct, frozen=True):
    """What the collector reads."""

    herald: Address[HeraldMessage]
    notices: Callable[[], AbstractContextManager[NoticeStream]]
    kinds: tuple[type[AvatarEvent], ...]


async def collector(
    inbox: Inbox[SlowReaders], sources: Sources, tally: Tally, others: Sequence[Listener] = ()
) -> None:
    """Three tasks: events, notices, and news of slow subscribers. The meters outlive a crash."""
    stream = EventStream(kinds=sources.kinds, capacity=_CAPACITY)
    follow = Follow(stream, inbox.address)
    listeners: list[Listener] = [tally, *others]
    with sources.notices() as notices:
        async with follow_all(sources.herald, follow), trio.open_nursery() as nursery:
            nursery.start_soon(_read_notices, notices, listeners)
            nursery.start_soon(_read_events, stream, listeners)
            async for slow in inbox:
                tally.slow(slow)


async def _read_notices(notices: NoticeStream, listeners: Sequence[Listener]) -> None:
    async for notice in notices:
        for listener in listeners:
            listener.notice(notice)


async def _read_events(stream: EventStream, listeners: Sequence[Listener]) -> None:
    async for event in stream:
        for listener in listeners:
            listener.event(event)
    raise FeedEnded("the feed of all avatars has ended")


class FeedEnded(Exception):
    """The herald is gone; the collector's next life follows the next one."""
