"""The event logger: what it still writes when it is stopped."""

import logging
from functools import partial

import pytest

from avatar_actors.avatar.messages import EventRouterMessage, FollowAll
from avatar_actors.model.events import StateEvent
from avatar_actors.model.values import BridgeState
from avatar_actors.observe.event_logger import event_logger
from avatar_actors.session.messages import Nothing
from supervisors import ChildSpec
from tests.avatar.actor_tree import Recorder, open_tree


async def test_what_waits_at_a_stop_is_still_written(caplog: pytest.LogCaptureFixture) -> None:
    router = Recorder[EventRouterMessage]()
    caplog.set_level(logging.DEBUG, "avatar_actors")
    async with open_tree() as tree:
        routes = await tree.start("event router", router)
        logger = await tree.root.start(
            ChildSpec[Nothing]("event logger", partial(event_logger, router=routes))
        )
        await tree.settle()
        [asked] = [each for each in router.heard if isinstance(each, FollowAll)]
        # More than the logger takes between two checkpoints, so that its stop finds some waiting.
        count = 2000
        ready = StateEvent(avatar="aria", new_state=BridgeState.READY)
        asked.follow.stream.push([ready] * count)
        await tree.root.terminate(logger)
    written = [each for each in caplog.records if "aria" in each.getMessage()]
    assert len(written) == count
