"""Cases 33, 34 and 38 to 43 of supervisor_SUITE: strategies in which a child falls alone."""

from __future__ import annotations

import gc
import logging
import weakref
from typing import TYPE_CHECKING

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from supervisors import (
    ChildCount,
    ChildSpec,
    ExitKind,
    GaveUp,
    Ignore,
    Phase,
    Restart,
    Restarting,
    Stopped,
    Strategy,
    SupervisorGaveUp,
    open_supervisor,
)
from supervisors.testing import nothing_left, watch
from tests.supervisors.otp.actors_for_otp import (
    Boom,
    End,
    StartsBadly,
    WhichLife,
    end,
    end_and_settle,
    from_start,
    lives,
    obedient,
    open_shop,
    slow_to_stop,
    story,
)

if TYPE_CHECKING:
    from supervisors import Inbox, Notice, Supervisor
    from tests.supervisors.otp.actors_for_otp import Message

ALONE = [Strategy.ONE_FOR_ONE, Strategy.DYNAMIC]


def assert_gave_up(notices: list[Notice], child: str) -> None:
    """The shop gave up over the child, ended all others in order, and left as "shutdown"."""
    [gave_up] = [notice for notice in notices if isinstance(notice, GaveUp)]
    assert (gave_up.path, gave_up.child) == ("root/shop", f"root/shop/{child}")
    last = notices[-1]
    assert isinstance(last, Stopped)
    assert (last.path, last.exit.kind) == ("root/shop", ExitKind.SHUTDOWN)
    assert isinstance(last.exit.error, SupervisorGaveUp)
    assert isinstance(last.exit.error.__cause__, Boom)


async def check_victim_alone_comes_back(strategy: Strategy) -> None:
    a, b = ChildSpec("a", obedient), ChildSpec("b", obedient)
    async with nothing_left(), open_shop(strategy, a, b, intensity=2) as shop:
        with watch(shop) as watching:
            await end_and_settle(shop.address(a), End.ABNORMAL)
            assert lives(shop) == {"a": 2, "b": 1}
            await end_and_settle(shop.address(a), End.ABNORMAL)
            assert lives(shop) == {"a": 3, "b": 1}
            await end_and_settle(shop.address(b), End.ABNORMAL)
        assert shop.phase is Phase.GONE
        assert story(watching)[-4:] == ["Crashed b", "GaveUp shop", "Stopped a", "Stopped shop"]
        assert_gave_up(watching.all(), "b")


async def check_failing_restart_ends_supervisor_and_sibling(strategy: Strategy) -> None:
    bad = StartsBadly(from_start(2))
    a, b = ChildSpec("a", bad), ChildSpec("b", obedient)
    async with nothing_left(), open_shop(strategy, a, b, intensity=4) as shop:
        monitor = shop.address(b).monitor()
        with watch(shop) as watching:
            await end_and_settle(shop.address(a), End.ABNORMAL)
        assert bad.starts == 1 + 4
        assert sum(isinstance(notice, Restarting) for notice in watching.all()) == 4
        down = await monitor.down()
        assert down.exit is not None
        assert down.exit.kind is ExitKind.SHUTDOWN
        assert shop.phase is Phase.GONE
        assert_gave_up(watching.all(), "a")


async def test_otp_one_for_one() -> None:
    await check_victim_alone_comes_back(Strategy.ONE_FOR_ONE)


async def test_otp_one_for_one__children_keep_their_order() -> None:
    specs = [ChildSpec(name, obedient) for name in "abc"]
    async with open_shop(Strategy.ONE_FOR_ONE, *specs) as shop:
        await end_and_settle(shop.address(specs[1]), End.ABNORMAL)
        assert [child.name for child in await shop.children()] == ["c", "b", "a"]
        assert lives(shop) == {"a": 1, "b": 2, "c": 1}


@pytest.mark.parametrize("strategy", Strategy)
async def test_otp_one_for_one__intensity_zero_allows_no_restart(strategy: Strategy) -> None:
    spec = ChildSpec("child", obedient)
    async with open_shop(strategy, spec, intensity=0) as shop:
        with watch(shop) as watching:
            await end_and_settle(shop.address(spec), End.ABNORMAL)
        assert story(watching) == ["Crashed child", "GaveUp shop", "Stopped shop"]


@pytest.mark.parametrize("strategy", ALONE)
async def test_otp_one_for_one__window_moves_with_time(
    autojump_clock: MockClock, strategy: Strategy
) -> None:
    spec = ChildSpec("child", obedient)
    async with open_shop(strategy, spec, intensity=2, period=8) as shop:
        for due in (0, 4, 8.5, 12.5, 17):
            await trio.sleep_until(due)
            await end_and_settle(shop.address(spec), End.ABNORMAL)
            assert shop.phase is Phase.RUNNING
        await trio.sleep_until(20.5)  # at 12.5, exactly one period ago, and at 17
        await end_and_settle(shop.address(spec), End.ABNORMAL)
        assert shop.phase is Phase.GONE


async def test_otp_one_for_one_escalation() -> None:
    await check_failing_restart_ends_supervisor_and_sibling(Strategy.ONE_FOR_ONE)


async def test_otp_simple_one_for_one() -> None:
    await check_victim_alone_comes_back(Strategy.DYNAMIC)


async def test_otp_simple_one_for_one_shutdown(autojump_clock: MockClock) -> None:
    async with nothing_left(), open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        for seconds in range(1, 6):
            await shop.start(ChildSpec("slow", slow_to_stop(seconds), shutdown=10))
        with watch(shop) as watching:
            await shop.stop()
    assert [notice.time for notice in watching.all()] == [1, 2, 3, 4, 5, 5]
    assert all(isinstance(notice, Stopped) for notice in watching.all())


async def test_otp_simple_one_for_one_shutdown__deadlines_run_side_by_side(
    autojump_clock: MockClock,
) -> None:
    too_slow = ChildSpec("too slow", slow_to_stop(1000), shutdown=2)
    async with nothing_left(), open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        for _ in range(5):
            await shop.start(too_slow)
        await shop.stop()
    assert trio.current_time() == 2


async def test_otp_simple_one_for_one_extra() -> None:
    async def informative(inbox: Inbox[Message]) -> None:
        inbox.ready(f"info of life {inbox.life}")
        await obedient(inbox)

    async with open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        one = await shop.start(ChildSpec("child", informative))
        two = await shop.start(ChildSpec("child", informative))
        assert (one.info, two.info) == ("info of life 1", "info of life 1")
        await end_and_settle(one, End.ABNORMAL)
        assert (one.info, two.info) == ("info of life 2", "info of life 1")
        assert await one.ask(WhichLife()) == 2


async def test_otp_simple_one_for_one_escalation() -> None:
    await check_failing_restart_ends_supervisor_and_sibling(Strategy.DYNAMIC)


class Burdened:
    """An obedient actor with something heavy as its argument."""

    async def __call__(self, inbox: Inbox[Message]) -> None:
        await obedient(inbox)


async def start_and_crash(shop: Supervisor, restart: Restart) -> weakref.ref[Burdened]:
    """What a child was started with, when only its supervisor can still hold it."""
    actor = Burdened()
    child = await shop.start(ChildSpec("child", actor, restart=restart))
    await end(child, End.ABNORMAL)
    return weakref.ref(actor)


async def test_otp_simple_one_for_one_corruption(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "supervisors")  # a logged traceback would hold the frames
    async with open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        forgotten = await start_and_crash(shop, Restart.TEMPORARY)
        retained = await start_and_crash(shop, Restart.PERMANENT)
        await wait_all_tasks_blocked()
        gc.collect()
        assert forgotten() is None
        assert retained() is not None


async def test_otp_simple_one_for_one_restart_ignore() -> None:
    fickle = StartsBadly({2}, raises=Ignore)
    async with open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        child = await shop.start(ChildSpec("child", fickle))
        await end_and_settle(child, End.ABNORMAL)
        assert fickle.starts == 2
        assert child.phase is Phase.GONE
        assert await shop.children() == []
        assert await shop.count() == ChildCount(specs=0, active=0, supervisors=0, workers=0)
