"""The herald: turns what happens in the supervision tree into events of the avatar it concerns."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress

import trio

from avatar_actors.events import SupervisionEvent
from avatar_actors.messages import AvatarBorn, HubMessage, Publish
from supervisors import (
    Address,
    Crashed,
    GaveUp,
    Inbox,
    MailboxFull,
    Notice,
    NoticeStream,
    Ready,
    Restarting,
    Stopped,
    Stuck,
)


async def herald(
    inbox: Inbox[AvatarBorn], notices: Callable[[], AbstractContextManager[NoticeStream]]
) -> None:
    """One task takes the names of the avatars, one reads the notices."""
    hubs: dict[str, Address[HubMessage]] = {}
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_proclaim, notices, hubs)
        async for born in inbox:
            hubs[born.path] = born.hub


async def _proclaim(
    notices: Callable[[], AbstractContextManager[NoticeStream]],
    hubs: dict[str, Address[HubMessage]],
) -> None:
    with notices() as stream:
        async for notice in stream:
            event = event_of(notice)
            path = "/".join(notice.path.split("/")[:3])
            hub = hubs.get(path)
            if event is not None and hub is not None:
                _tell(hub, event)
            if notice.path == path and isinstance(notice, Stopped | Crashed | Stuck):
                hubs.pop(path, None)


def _tell(hub: Address[HubMessage], event: SupervisionEvent) -> None:
    # A hub that has no room has more important things to tell.
    with suppress(MailboxFull):
        hub.tell_nowait(Publish(0, [event]))


def event_of(notice: Notice) -> SupervisionEvent | None:
    """The event for a notice; None for the everyday ones."""
    match notice:
        case Crashed(path=path, error=error):
            return SupervisionEvent(notice="crashed", path=path, detail=_words(error))
        case Restarting(path=path, delay=delay):
            return SupervisionEvent(notice="restarting", path=path, delay=delay)
        # A session has one life and its avatar decides about the next: that is no giving up.
        case GaveUp(path=path, child=child) if not path.endswith("/session"):
            return SupervisionEvent(notice="gave_up", path=path, detail=child)
        case Stuck(path=path):
            return SupervisionEvent(notice="stuck", path=path)
        case Ready(path=path) if path.endswith("/session"):
            return SupervisionEvent(notice="ready", path=path)
        case _:
            return None


def _words(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {error}" if error is not None else ""
