"""An engine's room, in a runtime of the test's own trio run."""

from pathlib import Path
from typing import Any, cast

import trio
from trio.testing import wait_all_tasks_blocked

from avatar_actors import AvatarEvent, EventEmitter, open_runtime
from avatar_actors.hosting.engine_avatar import EngineAvatar, Wish
from avatar_actors.hosting.runtime_thread import RuntimeContext
from avatar_actors.providers.registry import provider_named
from tests.hosting.engines import PATIENCE, Ear
from tests.runtime.home import Home


class LateNursery:
    """Starts a task no sooner than it may."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery, self.may_start = nursery, trio.Event()

    def start_soon(self, function: Any, *arguments: object) -> None:
        async def start() -> None:
            await self.may_start.wait()
            await function(*arguments)

        self._nursery.start_soon(start)


async def test_a_room_is_closed_when_its_feed_has_delivered_everything(tmp_path: Path) -> None:
    emitter, ear = EventEmitter(), Ear()
    emitter.on(AvatarEvent, ear)
    wish = Wish(provider_named("embedded"), "aria", Home(tmp_path).options())
    room = EngineAvatar(wish, emitter, None)
    with trio.fail_after(PATIENCE):
        async with open_runtime() as runtime, trio.open_nursery() as nursery:
            late = LateNursery(nursery)
            inside = RuntimeContext(runtime, nursery, cast("trio.Nursery", late))
            avatar = await room.start(inside)
            nursery.start_soon(room.close, inside)
            await avatar.wait()
            await wait_all_tasks_blocked(0.05)
            assert not room.closed.is_rung
            late.may_start.set()
            await room.closed.hear()
    assert emitter.flush_sync(PATIENCE)
    assert ear.heard
