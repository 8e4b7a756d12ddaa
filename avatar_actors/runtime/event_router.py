"""Routes supervisor notices to each avatar's hub, and attaches runtime-wide subscribers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress

import trio

from avatar_actors.avatar.messages import (
    AvatarBorn,
    EventRouterMessage,
    Follow,
    FollowAll,
    HubMessage,
    UnfollowAll,
    Unsubscribe,
)
from avatar_actors.model.events import SupervisionEvent
from avatar_actors.session.messages import Publish
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
    TreeNode,
)


async def event_router(
    inbox: Inbox[EventRouterMessage],
    notices: Callable[[], AbstractContextManager[NoticeStream]],
    tree: Callable[[], TreeNode],
) -> None:
    """One task takes messages, one reads the notices; when it ends, the streams of all end."""
    # A next life, after a crash, finds the avatars that are up.
    hubs = {node.path.rpartition("/")[0]: node.address for node in tree().walk() if _is_hub(node)}
    follows: list[Follow] = []
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_proclaim, notices, hubs)
            async for message in inbox:
                match message:
                    case AvatarBorn(path, hub):
                        hubs[path] = hub
                        for follow in follows:
                            await hub.tell(follow)
                        inbox.reply(message, None)
                    case FollowAll(follow):
                        follows.append(follow)
                        for hub in tuple(hubs.values()):
                            await hub.tell(follow)
                        inbox.reply(message, None)
                    case UnfollowAll(stream):
                        follows = [other for other in follows if other.stream is not stream]
                        for hub in tuple(hubs.values()):
                            await hub.tell(Unsubscribe(stream))
    finally:
        for follow in follows:
            follow.stream.close()


def _is_hub(node: TreeNode) -> bool:
    return node.name == "event hub" and node.strategy is None


async def _proclaim(
    notices: Callable[[], AbstractContextManager[NoticeStream]],
    hubs: dict[str, Address[HubMessage]],
) -> None:
    with notices() as stream:
        async for first in stream:
            # All that is here: restarts come in swarms, and one notice for each turn of a busy loop
            # would tell of a crash seconds late, or lose it to the stream's bound.
            for notice in (first, *stream.seen_so_far()):
                _pass_on(notice, hubs)


def _pass_on(notice: Notice, hubs: dict[str, Address[HubMessage]]) -> None:
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
