"""Records every event of one avatar, for the oracle, the downtime figures and waiting faults."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

import trio
from msgspec import Struct

from avatar_actors import (
    AvatarEvent,
    BridgeState,
    DiagnosticEvent,
    ErrorEvent,
    EventStream,
    OrphansReapedEvent,
    Outcome,
    StateEvent,
    SupervisionEvent,
    ToolEvent,
    ToolStatus,
    TurnEndedEvent,
)
from avatar_actors.chaos.oracle import Breaches, Oracle
from avatar_actors.chaos.report.statistics import RunCounters

_MOST = 64
UP = frozenset({BridgeState.READY, BridgeState.BUSY})
_GONE_WRONG = frozenset({ToolStatus.FAILED, ToolStatus.UNKNOWN})
_WELL = frozenset({Outcome.COMPLETED, Outcome.CANCELLED})


class SeenEvent(Struct, frozen=True):
    """An event and the monotonic time at which it was seen."""

    at: float
    event: AvatarEvent


class EventWatch:
    """Collects the first events of a kind from now on."""

    def __init__(self, is_it: Callable[[AvatarEvent], bool]) -> None:
        self._is_it = is_it
        self.seen: list[SeenEvent] = []
        self._news = trio.Event()

    def tell(self, event: AvatarEvent) -> None:
        """Takes in an event."""
        if len(self.seen) < _MOST and self._is_it(event):
            self.seen.append(SeenEvent(time.monotonic(), event))
            self._news.set()

    async def wait(self, count: int = 1) -> SeenEvent:
        """Waits until so many were seen and gives the last of them."""
        while len(self.seen) < count:
            self._news = trio.Event()
            await self._news.wait()
        return self.seen[count - 1]

    def first_since(self, moment: float) -> float | None:
        """When the first event came at or after this moment."""
        return next((each.at for each in self.seen if each.at >= moment), None)


def is_sign(event: AvatarEvent) -> bool:
    """Whether the event tells a host that something is wrong."""
    match event:
        case TurnEndedEvent(outcome=outcome):
            return outcome not in _WELL
        case StateEvent(new_state=state):
            return state not in UP
        case ToolEvent(status=status):
            return status in _GONE_WRONG
        case SupervisionEvent(notice=notice):
            return notice != "ready"
        case DiagnosticEvent() | ErrorEvent() | OrphansReapedEvent():
            return True
        case _:
            return False


def is_state(state: BridgeState) -> Callable[[AvatarEvent], bool]:
    """A test for events that announce this state."""
    return lambda event: isinstance(event, StateEvent) and event.new_state is state


def is_lost(event: AvatarEvent) -> bool:
    """Whether the event says that the session is lost."""
    return isinstance(event, StateEvent) and event.new_state not in UP


def is_back(event: AvatarEvent) -> bool:
    """Whether a new session is ready, not just the old one after a turn."""
    return (
        isinstance(event, StateEvent)
        and event.new_state is BridgeState.READY
        and event.old_state is not BridgeState.BUSY
    )


def is_crash(words: str) -> Callable[[AvatarEvent], bool]:
    """A test for notices of a crash with these words."""
    return lambda event: (
        isinstance(event, SupervisionEvent) and event.notice == "crashed" and words in event.detail
    )


def is_pause(event: AvatarEvent) -> bool:
    """Whether the event says that the session will be restarted after a pause."""
    return (
        isinstance(event, SupervisionEvent)
        and event.notice == "restarting"
        and event.path.endswith("/session")
    )


class EventRecorder:
    """The recorder of one slot, whichever avatar is in it; its counts only grow."""

    def __init__(self, name: str, counters: RunCounters) -> None:
        self.breaches = Breaches()
        self.oracle = Oracle(name, self.breaches)
        self.restarts = 0
        self.down_seconds = 0.0
        self._counters = counters
        self._watches: list[EventWatch] = []
        self._down_since: float | None = None

    @contextmanager
    def watching(self, is_it: Callable[[AvatarEvent], bool]) -> Generator[EventWatch]:
        """Watches for such events from now on."""
        watch = EventWatch(is_it)
        self._watches.append(watch)
        try:
            yield watch
        finally:
            self._watches.remove(watch)

    async def read(self, stream: EventStream, ended: trio.Event) -> None:
        """Records the events of one avatar until its stream ends."""
        try:
            while events := await stream.take():
                for event in events:
                    self._hear(event)
        finally:
            self._state(BridgeState.DISCONNECTED)
            ended.set()

    def restarted(self) -> None:
        """Counts a new session or a new avatar."""
        self.restarts += 1
        self._counters.restarts += 1

    def _hear(self, event: AvatarEvent) -> None:
        self.oracle.heard(event)
        if isinstance(event, StateEvent):
            self._state(event.new_state)
        elif is_pause(event):
            self.restarted()
        for watch in self._watches:
            watch.tell(event)

    def _state(self, state: BridgeState) -> None:
        now = time.monotonic()
        if state in UP:
            if self._down_since is not None:
                self.down_seconds += now - self._down_since
            self._down_since = None
        elif self._down_since is None:
            self._down_since = now
