"""The event router: supervisor notices to each avatar, and streams that follow all avatars."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress

import trio

from avatar_actors.avatar.messages import (
    AvatarBorn,
    EventRouterMessage,
    Follow,
    FollowAll,
    TrackerMessage,
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
    let_go: Callable[[str], bool],
) -> None:
    """One task takes messages, one reads the notices; when it ends, the streams of all end.

    `let_go` is called with the name of an avatar that has ended; False if another has it by now.
    """
    # A next life, after a crash, finds the avatars that are up.
    trackers = {
        node.path.rpartition("/")[0]: node.address for node in tree().walk() if _is_tracker(node)
    }
    follows: list[Follow] = []
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_route_notices, notices, trackers, let_go)
            async for message in inbox:
                match message:
                    case AvatarBorn(path, tracker):
                        trackers[path] = tracker
                        for follow in follows:
                            await tracker.tell(follow)
                        inbox.reply(message, None)
                    case FollowAll(follow):
                        follows.append(follow)
                        for tracker in tuple(trackers.values()):
                            await tracker.tell(follow)
                        inbox.reply(message, None)
                    case UnfollowAll(stream):
                        follows = [other for other in follows if other.stream is not stream]
                        for tracker in tuple(trackers.values()):
                            await tracker.tell(Unsubscribe(stream))
    finally:
        for follow in follows:
            follow.stream.close()


def _is_tracker(node: TreeNode) -> bool:
    return node.name == "activity tracker" and node.strategy is None


async def _route_notices(
    notices: Callable[[], AbstractContextManager[NoticeStream]],
    trackers: dict[str, Address[TrackerMessage]],
    let_go: Callable[[str], bool],
) -> None:
    missed = 0
    with notices() as stream:
        async for first in stream:
            # All that is here: restarts come in swarms, and one notice for each turn of a busy loop
            # would tell of a crash seconds late, or lose it to the stream's bound.
            here = (first, *stream.seen_so_far())
            ended = [_pass_on(notice, trackers) for notice in here]
            if stream.missed > missed:
                # Ends may be among what was lost, as when a thousand avatars stop at once.
                missed, ended = stream.missed, list(trackers)
            for path in filter(None, ended):
                if let_go(path.rpartition("/")[2]):
                    trackers.pop(path, None)


def _pass_on(notice: Notice, trackers: dict[str, Address[TrackerMessage]]) -> str:
    """Tell the avatar's tracker; the avatar's path if this is its end, else nothing."""
    event = event_of(notice)
    path = "/".join(notice.path.split("/")[:3])
    tracker = trackers.get(path)
    if event is not None and tracker is not None:
        _tell(tracker, event)
    is_end = notice.path == path and isinstance(notice, Stopped | Crashed | Stuck)
    return path if is_end else ""


def _tell(tracker: Address[TrackerMessage], event: SupervisionEvent) -> None:
    # A tracker without room has more important events to publish.
    with suppress(MailboxFull):
        tracker.tell_nowait(Publish(0, [event]))


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
