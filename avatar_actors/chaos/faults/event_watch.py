"""Waiting for something to be heard of an avatar, from a moment before it can happen."""

from __future__ import annotations

import time
from collections.abc import Callable

import trio
from msgspec import Struct

from avatar_actors import (
    AvatarEvent,
    BridgeState,
    DiagnosticEvent,
    ErrorEvent,
    OrphansReapedEvent,
    Outcome,
    StateEvent,
    SupervisionEvent,
    ToolEvent,
    ToolStatus,
    TurnEndedEvent,
)

_MOST = 64
_HEALTHY = frozenset({BridgeState.READY, BridgeState.BUSY})
_GONE_WRONG = frozenset({ToolStatus.FAILED, ToolStatus.UNKNOWN})
_WELL = frozenset({Outcome.COMPLETED, Outcome.CANCELLED})


class SeenEvent(Struct, frozen=True):
    """An event, and when it was seen on the system's monotonic clock."""

    at: float
    event: AvatarEvent


class EventWatch:
    """The first events of a kind that come while it stands."""

    def __init__(self, is_it: Callable[[AvatarEvent], bool]) -> None:
        self._is_it = is_it
        self.seen: list[SeenEvent] = []
        self._news = trio.Event()

    def tell(self, event: AvatarEvent) -> None:
        """An event has come."""
        if len(self.seen) < _MOST and self._is_it(event):
            self.seen.append(SeenEvent(time.monotonic(), event))
            self._news.set()

    async def wait(self, count: int = 1) -> SeenEvent:
        """The first, or the first so many."""
        while len(self.seen) < count:
            self._news = trio.Event()
            await self._news.wait()
        return self.seen[count - 1]

    def first_since(self, moment: float) -> float | None:
        """When the first came that was not before the moment."""
        return next((each.at for each in self.seen if each.at >= moment), None)


def is_sign(event: AvatarEvent) -> bool:
    """Whether a host learns from it that something is wrong."""
    match event:
        case TurnEndedEvent(outcome=outcome):
            return outcome not in _WELL
        case StateEvent(new_state=state):
            return state not in _HEALTHY
        case ToolEvent(status=status):
            return status in _GONE_WRONG
        case SupervisionEvent(notice=notice):
            return notice != "ready"
        case DiagnosticEvent() | ErrorEvent() | OrphansReapedEvent():
            return True
        case _:
            return False


def is_state(state: BridgeState) -> Callable[[AvatarEvent], bool]:
    """Whether the connection has come to this state."""
    return lambda event: isinstance(event, StateEvent) and event.new_state is state


def is_lost(event: AvatarEvent) -> bool:
    """Whether there is no session any more."""
    return isinstance(event, StateEvent) and event.new_state not in _HEALTHY


def is_back(event: AvatarEvent) -> bool:
    """Whether a new session is ready; after a turn the old one is, too, which is no news."""
    return (
        isinstance(event, StateEvent)
        and event.new_state is BridgeState.READY
        and event.old_state is not BridgeState.BUSY
    )


def is_crash(words: str) -> Callable[[AvatarEvent], bool]:
    """Whether it is a notice of a crash with these words."""
    return lambda event: (
        isinstance(event, SupervisionEvent) and event.notice == "crashed" and words in event.detail
    )


def is_pause(event: AvatarEvent) -> bool:
    """Whether the session will be started again, after a pause."""
    return (
        isinstance(event, SupervisionEvent)
        and event.notice == "restarting"
        and event.path.endswith("/session")
    )
