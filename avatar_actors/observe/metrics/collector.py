"""The collector: the actor that updates the metrics from events, notices and the tree.

How they are exported is left to `prometheus` and `otel`.
"""

from __future__ import annotations

import queue
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

import trio
from msgspec import Struct

from avatar_actors.avatar.actor_client import follow_all
from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.messages import EventRouterMessage, Follow, SlowReaders
from avatar_actors.model.events import AvatarEvent
from avatar_actors.observe.metrics.account import MetricsAccount
from supervisors import Address, Inbox, Notice, NoticeStream, Phase, Supervisor, TreeNode

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_CAPACITY = 65536


class MetricsOffer(Struct, frozen=True, kw_only=True):
    """Where a host finds the metrics."""

    url: str = ""
    """Of the endpoint; empty if there is none."""
    registry: CollectorRegistry | None = None
    """For an exporter of the host's own."""


Actor = Callable[[Inbox[Any]], Awaitable[None]]


class Metering(Protocol):
    """An exporter that is open: Prometheus or OpenTelemetry."""

    @property
    def offer(self) -> MetricsOffer:
        """Where the host finds the metrics."""
        ...

    def actors(self, root: Supervisor, router: Address[EventRouterMessage]) -> Mapping[str, Actor]:
        """The actors that do the work, by name."""
        ...


class MetricsListener(Protocol):
    """Something that is updated with events and notices."""

    def event(self, event: AvatarEvent) -> None:
        """Take an avatar's event into account."""
        ...

    def notice(self, notice: Notice) -> None:
        """Take a supervisor's notice into account."""
        ...


class Sources(Struct, frozen=True):
    """What the collector reads."""

    router: Address[EventRouterMessage]
    notices: Callable[[], AbstractContextManager[NoticeStream]]
    kinds: tuple[type[AvatarEvent], ...]


async def collector(
    inbox: Inbox[SlowReaders],
    sources: Sources,
    account: MetricsAccount,
    others: Sequence[MetricsListener] = (),
) -> None:
    """Reads events, notices and reports of slow subscribers. The metrics outlive its crash."""
    stream = EventStream(kinds=sources.kinds, capacity=_CAPACITY)
    follow = Follow(stream, inbox.address)
    listeners: list[MetricsListener] = [account, *others]
    with sources.notices() as notices:
        async with follow_all(sources.router, follow), trio.open_nursery() as nursery:
            nursery.start_soon(_read_notices, notices, listeners)
            nursery.start_soon(_read_events, stream, listeners)
            async for slow in inbox:
                account.slow(slow)


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
    """The event router is gone; the restarted collector follows the next one."""


# Seconds that an exporter's thread waits for the loop; then it gets what was read last.
_PATIENCE = 1.0
_AVATAR = 3


class Figures(Struct, frozen=True):
    """The tree at one moment: running sessions, and waiting messages by kind of actor."""

    sessions: int = 0
    depths: Mapping[str, int] = {}


class TreeFigures:
    """Reads the tree from any thread. To be made in the tree's own loop."""

    def __init__(self, tree: Callable[[], TreeNode]) -> None:
        self._tree = tree
        self._loop = trio.lowlevel.current_trio_token()
        self._last = self._read()

    def now(self) -> Figures:
        """The tree now, or as it was last if the loop does not answer in time."""
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
    """Sums over the whole tree."""
    sessions, depths = 0, Counter[str]()
    for node in tree.walk():
        is_avatar = len(node.path.split("/")) == _AVATAR
        depths["avatar" if is_avatar else node.name] += node.waiting
        sessions += node.name == "session" and not is_avatar and node.phase is Phase.RUNNING
    return Figures(sessions, dict(depths))
