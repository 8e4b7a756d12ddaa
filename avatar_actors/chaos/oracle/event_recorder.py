"""Records every event of one avatar, for the oracle and the downtime figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

import trio

from avatar_actors import AvatarEvent, BridgeState, EventStream, StateEvent
from avatar_actors.chaos.counters import RunCounters
from avatar_actors.chaos.faults.event_watch import EventWatch, is_pause
from avatar_actors.chaos.oracle.oracle import Breaches, Oracle

UP = frozenset({BridgeState.READY, BridgeState.BUSY})


class EventRecorder:
    """One for a place, whoever plays there; its counts only grow."""

    def __init__(self, name: str, tally: RunCounters) -> None:
        self.breaches = Breaches()
        self.ledger = Oracle(name, self.breaches)
        self.restarts = 0
        self.down_seconds = 0.0
        self._tally = tally
        self._watches: list[EventWatch] = []
        self._down_since: float | None = None

    @contextmanager
    def watching(self, is_it: Callable[[AvatarEvent], bool]) -> Generator[EventWatch]:
        """From now on, hear of such events."""
        watch = EventWatch(is_it)
        self._watches.append(watch)
        try:
            yield watch
        finally:
            self._watches.remove(watch)

    async def read(self, stream: EventStream, ended: trio.Event) -> None:
        """One avatar, to the end of all that is told of it."""
        try:
            while events := await stream.take():
                for event in events:
                    self._hear(event)
        finally:
            self._state(BridgeState.DISCONNECTED)
            ended.set()

    def restarted(self) -> None:
        """A session, or the whole avatar, begins anew."""
        self.restarts += 1
        self._tally.restarts += 1

    def _hear(self, event: AvatarEvent) -> None:
        self.ledger.heard(event)
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
