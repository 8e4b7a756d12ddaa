"""The collector: the actor that keeps the figures, by events, notices and the supervision tree."""

from __future__ import annotations

import queue
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import trio
from msgspec import Struct

from avatar_actors.avatar.actor_client import follow_all
from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.messages import EventRouterMessage, Follow, SlowReaders
from avatar_actors.model.events import AvatarEvent
from avatar_actors.observe.metrics.tally import MetricsAccount
from supervisors import Address, Inbox, Notice, NoticeStream, Phase, TreeNode

_CAPACITY = 65536


class MetricsListener(Protocol):
    """Whoever makes something of events and notices."""

    def event(self, event: AvatarEvent) -> None:
        """One more event of an avatar."""
        ...

    def notice(self, notice: Notice) -> None:
        """One more notice of the tree."""
        ...


class Sources(Struct, frozen=True):
    """What the collector reads."""

    event_router: Address[EventRouterMessage]
    notices: Callable[[], AbstractContextManager[NoticeStream]]
    kinds: tuple[type[AvatarEvent], ...]


async def collector(
    inbox: Inbox[SlowReaders],
    sources: Sources,
    tally: MetricsAccount,
    others: Sequence[MetricsListener] = (),
) -> None:
    """Three tasks: events, notices, and news of slow subscribers. The meters outlive a crash."""
    stream = EventStream(kinds=sources.kinds, capacity=_CAPACITY)
    follow = Follow(stream, inbox.address)
    listeners: list[MetricsListener] = [tally, *others]
    with sources.notices() as notices:
        async with follow_all(sources.event_router, follow), trio.open_nursery() as nursery:
            nursery.start_soon(_read_notices, notices, listeners)
            nursery.start_soon(_read_events, stream, listeners)
            async for slow in inbox:
                tally.slow(slow)


async def _read_notices(notices: NoticeStream, listeners: Sequence[MetricsListener]) -> None:
    async for notice in notices:
        for listener in listeners:
            listener.notice(notice)


async def _read_events(stream: EventStream, listeners: Sequence[MetricsListener]) -> None:
    async for event in stream:
        for listener in listeners:
            listener.event(event)
    raise FeedEnded("the feed of all avatars has ended")


class FeedEnded(Exception):
    """The event router is gone; the collector's next life follows the next one."""


# What an exporter's thread waits for the loop; then it gets what was read last.
_PATIENCE = 1.0
_AVATAR = 3


class Figures(Struct, frozen=True):
    """The tree at one moment: sessions that are up, messages that wait by kind of actor."""

    sessions: int = 0
    depths: Mapping[str, int] = {}


class TreeFigures:
    """Made in the loop that the tree lives in."""

    def __init__(self, tree: Callable[[], TreeNode]) -> None:
        self._tree = tree
        self._loop = trio.lowlevel.current_trio_token()
        self._last = self._read()

    def now(self) -> Figures:
        """The tree as it is; a loop that does not answer in time leaves it as it was."""
        if self._is_here():
            return self._read()
        answer: queue.SimpleQueue[Figures] = queue.SimpleQueue()
        try:
            self._loop.run_sync_soon(lambda: answer.put(self._read()))
            return answer.get(timeout=_PATIENCE)
        except (trio.RunFinishedError, queue.Empty):
            return self._last

    def _is_here(self) -> bool:
        try:
            return trio.lowlevel.current_trio_token() is self._loop
        except RuntimeError:
            return False

    def _read(self) -> Figures:
        self._last = figures_of(self._tree())
        return self._last


def figures_of(tree: TreeNode) -> Figures:
    """The sums over the whole tree."""
    sessions, depths = 0, Counter[str]()
    for node in tree.walk():
        is_avatar = len(node.path.split("/")) == _AVATAR
        depths["avatar" if is_avatar else node.name] += node.waiting
        sessions += node.name == "session" and not is_avatar and node.phase is Phase.RUNNING
    return Figures(sessions, dict(depths))
