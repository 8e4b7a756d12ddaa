"""The event router: notices of the tree as events of the avatar they concern."""

import gc
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial

import trio

from avatar_actors.avatar.messages import AvatarBorn, EventRouterMessage, TrackerMessage
from avatar_actors.model.events import SupervisionEvent
from avatar_actors.runtime.event_router import event_of, event_router
from avatar_actors.session.messages import Publish
from supervisors import (
    Address,
    ChildSpec,
    Crashed,
    GaveUp,
    Inbox,
    NoticeStream,
    Ready,
    Stopped,
    Strategy,
    Supervisor,
    SupervisorSpec,
)
from supervisors.exits import SHUT_DOWN
from supervisors.testing import crash
from tests.avatar.actor_tree import ActorTree, Recorder, open_tree


async def part(inbox: Inbox[object]) -> None:
    async for _ in inbox:
        pass


class Routed:
    def __init__(self) -> None:
        self.avatars: Supervisor
        self.at: Address[EventRouterMessage]
        self.ended: list[str] = []
        self.restarted: set[str] = set()

    async def open(
        self,
        tree: ActorTree,
        notices: Callable[[], AbstractContextManager[NoticeStream]] | None = None,
    ) -> None:
        self.avatars = await tree.root.start(SupervisorSpec("avatars", strategy=Strategy.DYNAMIC))
        root = tree.root
        routing = partial(
            event_router, notices=notices or root.notices, tree=root.tree, let_go=self._let_go
        )
        self.at = await tree.start("event router", routing)

    def _let_go(self, name: str) -> bool:
        self.ended.append(name)
        return name not in self.restarted

    async def add_avatar(self, name: str, tracker: Recorder[TrackerMessage]) -> Address[object]:
        """An avatar of one part, with its tracker."""
        avatar = await self.avatars.start(SupervisorSpec(name, intensity=5))
        tracker_at = await avatar.start(ChildSpec("activity tracker", tracker))
        await self.at.tell(AvatarBorn(avatar.path, tracker_at))
        return await avatar.start(ChildSpec("part", part))


def routed_to(tracker: Recorder[TrackerMessage]) -> list[SupervisionEvent]:
    told = [event for each in tracker.heard if isinstance(each, Publish) for event in each.events]
    return [event for event in told if isinstance(event, SupervisionEvent)]


async def test_a_crash_is_told_to_its_own_avatar_alone() -> None:
    routed, aria, bert = Routed(), Recorder[TrackerMessage](), Recorder[TrackerMessage]()
    async with open_tree() as tree:
        await routed.open(tree)
        mine = await routed.add_avatar("aria", aria)
        await routed.add_avatar("bert", bert)
        await tree.settle()
        await crash(mine, ValueError("broken"))
        await tree.settle()
        assert [event.notice for event in routed_to(aria)][:1] == ["crashed"]
        assert routed_to(aria)[0].detail == "ValueError: broken"
        assert routed_to(aria)[0].path == mine.path
        assert routed_to(bert) == []


async def test_an_avatar_that_was_stopped_is_forgotten() -> None:
    routed = Routed()
    async with open_tree() as tree:
        await routed.open(tree)
        for number in range(20):
            await routed.add_avatar(f"a{number}", Recorder[TrackerMessage]())
            await routed.avatars.terminate(f"a{number}")
        await tree.settle()
        gc.collect()
        assert sum(isinstance(each, Recorder) for each in gc.get_objects()) <= 2


async def test_the_end_of_an_avatar_is_told_by_its_name() -> None:
    routed = Routed()
    async with open_tree() as tree:
        await routed.open(tree)
        mine = await routed.add_avatar("aria", Recorder[TrackerMessage]())
        await crash(mine, ValueError("broken"))
        await tree.settle()
        assert routed.ended == []
        await routed.avatars.terminate("aria")
        await tree.settle()
        assert routed.ended == ["aria"]


async def test_late_notice_of_an_end_takes_nothing_from_the_next_avatar_of_that_name() -> None:
    routed, aria = Routed(), Recorder[TrackerMessage]()
    swarm = NoticeStream(1024)
    async with open_tree() as tree:
        await routed.open(tree, lambda: nullcontext(swarm))
        mine = await routed.add_avatar("aria", aria)
        routed.restarted.add("aria")
        swarm.push(Stopped("runtime/avatars/aria", 0.0, 1, SHUT_DOWN))
        await tree.settle()
        swarm.push(Crashed(mine.path, 0.0, 1, ValueError("broken")))
        await tree.settle()
        assert [event.detail for event in routed_to(aria)] == ["ValueError: broken"]


async def test_ends_among_the_notices_that_were_lost_are_found() -> None:
    routed, few = Routed(), NoticeStream(2)
    async with open_tree() as tree:
        await routed.open(tree, lambda: nullcontext(few))
        for name in ("aria", "bert"):
            await routed.add_avatar(name, Recorder[TrackerMessage]())
        await tree.settle()
        few.push(Stopped("runtime/avatars/aria", 0.0, 1, SHUT_DOWN))
        for number in range(2):
            few.push(Ready(f"runtime/avatars/other-{number}", 0.0, 1))
        await tree.settle()
        assert sorted(routed.ended) == ["aria", "bert"]


def test_the_end_of_a_session_is_no_giving_up_but_that_of_its_avatar_is() -> None:
    assert event_of(GaveUp("runtime/avatars/aria/session", 0.0, "bridge")) is None
    told = event_of(GaveUp("runtime/avatars/aria", 0.0, "session"))
    assert told is not None
    assert (told.notice, told.detail) == ("gave_up", "session")


async def test_a_crash_is_told_at_once_though_a_swarm_of_notices_is_before_it() -> None:
    routed, aria, rounds = Routed(), Recorder[TrackerMessage](), 0
    swarm = NoticeStream(1024)

    async def keep_the_loop_busy() -> None:
        nonlocal rounds
        while not routed_to(aria):
            await trio.lowlevel.checkpoint()
            rounds += 1

    async with open_tree() as tree:
        await routed.open(tree, lambda: nullcontext(swarm))
        mine = await routed.add_avatar("aria", aria)
        await tree.settle()
        for number in range(500):
            swarm.push(Ready(f"runtime/avatars/other-{number}", 0.0, 1))
        swarm.push(Crashed(mine.path, 0.0, 1, ValueError("broken")))
        await keep_the_loop_busy()
    assert routed_to(aria)[0].detail == "ValueError: broken"
    assert rounds < 20
