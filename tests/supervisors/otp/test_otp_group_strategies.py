"""Cases 35 to 37 and 44 to 46 of supervisor_SUITE: strategies in which others fall with a child."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from supervisors import (
    ChildSpec,
    ExitKind,
    GaveUp,
    Ignore,
    Phase,
    Restart,
    Restarting,
    Stopped,
    Strategy,
)
from supervisors.testing import freeze, nothing_left, watch
from tests.supervisors.otp.actors_for_otp import (
    End,
    StartsBadly,
    end,
    end_and_settle,
    from_start,
    lives,
    obedient,
    open_shop,
    phases,
    story,
)

GROUPS = [Strategy.ONE_FOR_ALL, Strategy.REST_FOR_ONE]


async def test_otp_one_for_all() -> None:
    a, b = ChildSpec("a", obedient), ChildSpec("b", obedient)
    async with nothing_left(), open_shop(Strategy.ONE_FOR_ALL, a, b, intensity=2) as shop:
        await end_and_settle(shop.address(b), End.ABNORMAL)
        assert lives(shop) == {"a": 2, "b": 2}
        await end_and_settle(shop.address(a), End.ABNORMAL)
        assert lives(shop) == {"a": 3, "b": 3}
        with watch(shop) as watching:
            await end_and_settle(shop.address(a), End.ABNORMAL)
        assert story(watching) == ["Crashed a", "GaveUp shop", "Stopped b", "Stopped shop"]
        assert shop.phase is Phase.GONE


async def test_otp_one_for_all__others_stop_in_reverse_then_all_start_in_order() -> None:
    specs = [ChildSpec(name, obedient) for name in "abcd"]
    async with open_shop(Strategy.ONE_FOR_ALL, *specs) as shop:
        with watch(shop) as watching:
            await end_and_settle(shop.address(specs[1]), End.ABNORMAL)
        starts = [f"{kind} {name}" for name in "abcd" for kind in ("Started", "Ready")]
        assert story(watching) == ["Crashed b", "Stopped d", "Stopped c", "Stopped a", *starts]
        stops = [notice for notice in watching.all() if isinstance(notice, Stopped)]
        assert {stop.exit.kind for stop in stops} == {ExitKind.SHUTDOWN}
        assert [type(notice) for notice in watching.all()].count(Restarting) == 1


async def test_otp_one_for_all__who_was_terminated_or_had_finished_starts_too() -> None:
    a, b = ChildSpec("a", obedient), ChildSpec("b", obedient)
    done = ChildSpec("done", obedient, restart=Restart.TRANSIENT)
    async with open_shop(Strategy.ONE_FOR_ALL, a, b, done) as shop:
        await shop.terminate("b")
        await end_and_settle(shop.address(done), End.NORMAL)
        assert phases(shop) == {"a": Phase.RUNNING, "b": Phase.STOPPED, "done": Phase.STOPPED}
        await end_and_settle(shop.address(a), End.ABNORMAL)
        assert lives(shop) == {"a": 2, "b": 2, "done": 2}
        assert set(phases(shop).values()) == {Phase.RUNNING}


@pytest.mark.parametrize("strategy", GROUPS)
async def test_otp_one_for_all__crashes_at_the_same_time_are_one_restart(
    strategy: Strategy,
) -> None:
    a, b = ChildSpec("a", obedient), ChildSpec("b", obedient)
    async with open_shop(strategy, a, b, intensity=1) as shop:
        with freeze(shop):
            await end(shop.address(a), End.ABNORMAL)
            await end(shop.address(b), End.ABNORMAL)
        await wait_all_tasks_blocked()
        assert lives(shop) == {"a": 2, "b": 2}
        assert phases(shop) == {"a": Phase.RUNNING, "b": Phase.RUNNING}


@pytest.mark.parametrize("strategy", GROUPS)
async def test_otp_one_for_all__window_moves_with_time(
    autojump_clock: MockClock, strategy: Strategy
) -> None:
    a, b = ChildSpec("a", obedient), ChildSpec("b", obedient)
    async with open_shop(strategy, a, b, intensity=1, period=8) as shop:
        await end_and_settle(shop.address(a), End.ABNORMAL)
        await trio.sleep_until(8.125)
        await end_and_settle(shop.address(b), End.ABNORMAL)
        assert phases(shop) == {"a": Phase.RUNNING, "b": Phase.RUNNING}
        await trio.sleep_until(16.125)  # exactly one period later
        await end_and_settle(shop.address(a), End.ABNORMAL)
        assert shop.phase is Phase.GONE


@pytest.mark.parametrize("strategy", GROUPS)
async def test_otp_one_for_all__sibling_that_ignores_its_restart_is_kept_resting(
    strategy: Strategy,
) -> None:
    a, b = ChildSpec("a", obedient), ChildSpec("b", StartsBadly({2}, raises=Ignore))
    async with open_shop(strategy, a, b) as shop:
        await end_and_settle(shop.address(a), End.ABNORMAL)
        assert phases(shop) == {"a": Phase.RUNNING, "b": Phase.STOPPED}


async def check_sibling_that_cannot_restart_ends_the_supervisor(strategy: Strategy) -> None:
    bad = StartsBadly(from_start(2))
    a, b = ChildSpec("a", obedient), ChildSpec("b", bad)
    async with nothing_left(), open_shop(strategy, a, b, intensity=4) as shop:
        with watch(shop) as watching:
            await end_and_settle(shop.address(a), End.ABNORMAL)
        [gave_up] = [notice for notice in watching.all() if isinstance(notice, GaveUp)]
        assert (gave_up.path, gave_up.child) == ("root/shop", "root/shop/b")
        assert bad.starts == 1 + 4
        assert story(watching)[-4:] == ["Crashed b", "GaveUp shop", "Stopped a", "Stopped shop"]
        assert shop.phase is Phase.GONE


async def test_otp_one_for_all_escalation() -> None:
    await check_sibling_that_cannot_restart_ends_the_supervisor(Strategy.ONE_FOR_ALL)


async def test_otp_one_for_all_other_child_fails_restart() -> None:
    a, b = ChildSpec("a", obedient), ChildSpec("b", StartsBadly({2}))
    async with open_shop(Strategy.ONE_FOR_ALL, a, b, intensity=2) as shop:
        with watch(shop) as watching:
            await end_and_settle(shop.address(a), End.ABNORMAL)
        assert story(watching) == [
            *("Crashed a", "Stopped b"),
            *("Started a", "Ready a", "Started b", "Crashed b"),
            "Stopped a",
            *("Started a", "Ready a", "Started b", "Ready b"),
        ]
        [_, stop] = [notice for notice in watching.all() if isinstance(notice, Stopped)]
        assert stop.exit.kind is ExitKind.SHUTDOWN
        restarts = [notice for notice in watching.all() if isinstance(notice, Restarting)]
        assert [notice.path for notice in restarts] == ["root/shop/a", "root/shop/b"]
        assert lives(shop) == {"a": 3, "b": 3}


@pytest.mark.parametrize("strategy", GROUPS)
async def test_otp_one_for_all_other_child_fails_restart__each_attempt_is_counted(
    strategy: Strategy,
) -> None:
    a, b = ChildSpec("a", obedient), ChildSpec("b", StartsBadly({2}))
    async with open_shop(strategy, a, b, intensity=1) as shop:
        with watch(shop) as watching:
            await end_and_settle(shop.address(a), End.ABNORMAL)
        assert story(watching)[-4:] == ["Crashed b", "GaveUp shop", "Stopped a", "Stopped shop"]
        assert shop.phase is Phase.GONE


async def test_otp_rest_for_one() -> None:
    a, b, c = (ChildSpec(name, obedient) for name in "abc")
    async with nothing_left(), open_shop(Strategy.REST_FOR_ONE, a, b, c, intensity=2) as shop:
        await end_and_settle(shop.address(b), End.ABNORMAL)
        assert lives(shop) == {"a": 1, "b": 2, "c": 2}
        assert [child.name for child in await shop.children()] == ["c", "b", "a"]
        await end_and_settle(shop.address(c), End.ABNORMAL)
        assert lives(shop) == {"a": 1, "b": 2, "c": 3}
        with watch(shop) as watching:
            await end_and_settle(shop.address(a), End.ABNORMAL)
        assert story(watching) == [
            *("Crashed a", "GaveUp shop"),
            *("Stopped c", "Stopped b", "Stopped shop"),
        ]
        assert shop.phase is Phase.GONE


async def test_otp_rest_for_one__later_ones_stop_in_reverse_then_start_in_order() -> None:
    specs = [ChildSpec(name, obedient) for name in "abcd"]
    async with open_shop(Strategy.REST_FOR_ONE, *specs) as shop:
        with watch(shop) as watching:
            await end_and_settle(shop.address(specs[1]), End.ABNORMAL)
        starts = [f"{kind} {name}" for name in "bcd" for kind in ("Started", "Ready")]
        assert story(watching) == ["Crashed b", "Stopped d", "Stopped c", *starts]
        assert [type(notice) for notice in watching.all()].count(Restarting) == 1


async def test_otp_rest_for_one_escalation() -> None:
    await check_sibling_that_cannot_restart_ends_the_supervisor(Strategy.REST_FOR_ONE)


async def test_otp_rest_for_one_other_child_fails_restart() -> None:
    a, b = ChildSpec("a", obedient), ChildSpec("b", StartsBadly({2}))
    async with open_shop(Strategy.REST_FOR_ONE, a, b, intensity=2) as shop:
        with watch(shop) as watching:
            await end_and_settle(shop.address(a), End.ABNORMAL)
        assert story(watching) == [
            *("Crashed a", "Stopped b"),
            *("Started a", "Ready a", "Started b", "Crashed b"),
            *("Started b", "Ready b"),
        ]
        restarts = [notice for notice in watching.all() if isinstance(notice, Restarting)]
        assert [notice.path for notice in restarts] == ["root/shop/a", "root/shop/b"]
        assert lives(shop) == {"a": 2, "b": 3}
