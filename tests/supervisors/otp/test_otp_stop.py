"""Cases 16 to 24 of supervisor_SUITE: how children end when their supervisor does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from supervisors import (
    ChildSpec,
    Crashed,
    ExitKind,
    Restart,
    Restarting,
    Shutdown,
    Started,
    Stopped,
    Strategy,
    open_supervisor,
)
from supervisors.testing import crash, freeze, nothing_left, watch
from tests.supervisors.otp.actors_for_otp import (
    Boom,
    End,
    end,
    ends_when_stopped,
    obedient,
    slow_to_stop,
)

if TYPE_CHECKING:
    from supervisors import Address, Inbox
    from supervisors.testing import Watch
    from tests.supervisors.otp.actors_for_otp import Message


def ends(watching: Watch) -> list[tuple[str, ExitKind, float]]:
    """Who stopped, how and when, in order."""
    return [
        (notice.path, notice.exit.kind, notice.time)
        for notice in watching.all()
        if isinstance(notice, Stopped)
    ]


async def test_otp_sup_stop_infinity(autojump_clock: MockClock) -> None:
    children = [
        ChildSpec("a", slow_to_stop(1000), shutdown=Shutdown.INFINITE),
        ChildSpec("b", slow_to_stop(1000), shutdown=Shutdown.INFINITE),
    ]
    async with nothing_left(), open_supervisor("shop", children=children) as shop:
        with watch(shop) as watching:
            await shop.stop()
    assert ends(watching) == [
        ("shop/b", ExitKind.SHUTDOWN, 1000),
        ("shop/a", ExitKind.SHUTDOWN, 2000),
        ("shop", ExitKind.SHUTDOWN, 2000),
    ]


async def test_otp_sup_stop_timeout(autojump_clock: MockClock) -> None:
    children = [
        ChildSpec("quick", obedient, shutdown=1),
        ChildSpec("slow", slow_to_stop(1000), shutdown=1),
    ]
    async with nothing_left(), open_supervisor("shop", children=children) as shop:
        with watch(shop) as watching:
            await shop.stop()
    assert ends(watching) == [
        ("shop/slow", ExitKind.KILLED, 1),
        ("shop/quick", ExitKind.SHUTDOWN, 1),
        ("shop", ExitKind.SHUTDOWN, 1),
    ]


async def test_otp_sup_stop_timeout__clean_up_within_the_time_is_no_kill(
    autojump_clock: MockClock,
) -> None:
    child = ChildSpec("slow", slow_to_stop(1), shutdown=2)
    async with open_supervisor("shop", children=[child]) as shop:
        with watch(shop) as watching:
            await shop.stop()
    assert ends(watching)[0] == ("shop/slow", ExitKind.SHUTDOWN, 1)


async def test_otp_sup_stop_timeout_dynamic(autojump_clock: MockClock) -> None:
    children = [
        ChildSpec("quick", obedient, shutdown=1),
        ChildSpec("slow", slow_to_stop(1000), shutdown=1),
        ChildSpec("slow", slow_to_stop(1000), shutdown=1),
    ]
    dynamic = open_supervisor("shop", strategy=Strategy.DYNAMIC, children=children)
    async with nothing_left(), dynamic as shop:
        with watch(shop) as watching:
            await shop.stop()
    assert {path: (kind, at) for path, kind, at in ends(watching)[:-1]} == {
        "shop/quick": (ExitKind.SHUTDOWN, 0),
        "shop/slow": (ExitKind.KILLED, 1),
        "shop/slow#2": (ExitKind.KILLED, 1),
    }
    assert ends(watching)[-1] == ("shop", ExitKind.SHUTDOWN, 1)


async def test_otp_sup_stop_brutal_kill(autojump_clock: MockClock) -> None:
    children = [
        ChildSpec("gentle", slow_to_stop(1)),
        ChildSpec("brutal", slow_to_stop(1), shutdown=Shutdown.BRUTAL),
    ]
    async with nothing_left(), open_supervisor("shop", children=children) as shop:
        with watch(shop) as watching:
            await shop.stop()
    assert ends(watching) == [
        ("shop/brutal", ExitKind.KILLED, 0),
        ("shop/gentle", ExitKind.SHUTDOWN, 1),
        ("shop", ExitKind.SHUTDOWN, 1),
    ]


async def test_otp_sup_stop_brutal_kill__leaves_no_time_to_clean_up() -> None:
    cleaned: list[str] = []

    async def tidy(inbox: Inbox[Message]) -> None:
        try:
            await obedient(inbox)
        finally:
            with inbox.grace():
                await trio.lowlevel.checkpoint()
                cleaned.append(inbox.address.path)

    children = [
        ChildSpec("gentle", tidy, shutdown=1),
        ChildSpec("brutal", tidy, shutdown=Shutdown.BRUTAL),
    ]
    async with open_supervisor("shop", children=children):
        pass
    assert cleaned == ["shop/gentle"]


async def test_otp_sup_stop_brutal_kill_dynamic(autojump_clock: MockClock) -> None:
    brutal = ChildSpec("brutal", slow_to_stop(1), shutdown=Shutdown.BRUTAL)
    async with nothing_left(), open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        monitors = [(await shop.start(brutal)).monitor() for _ in range(10)]
        await shop.stop()
    assert trio.current_time() == 0
    downs = [await monitor.down() for monitor in monitors]
    assert [down.exit and down.exit.kind for down in downs] == [ExitKind.KILLED] * 10


REASONS = [End.NORMAL, End.SHUTDOWN, End.ABNORMAL, None]


async def leave(child: Address[Message], reason: End | None) -> None:
    """End a child by its own doing, or for None by something like an exit signal from outside."""
    if reason is None:
        await crash(child)
    else:
        await end(child, reason)


@pytest.mark.parametrize("restart", Restart)
@pytest.mark.parametrize("reason", REASONS)
async def test_otp_sup_stop_race(
    autojump_clock: MockClock, restart: Restart, reason: End | None
) -> None:
    racer = ChildSpec("racer", obedient, restart=restart)
    last = ChildSpec("last", slow_to_stop(1))
    supervisor = open_supervisor("shop", intensity=0, children=[racer, last])
    async with nothing_left(), supervisor as shop, trio.open_nursery() as nursery:
        with watch(shop) as watching:
            nursery.start_soon(shop.stop)
            await wait_all_tasks_blocked()  # the stop waits for `last`
            await leave(shop.address(racer), reason)
            await shop.wait()
    assert not any(isinstance(notice, Restarting | Started) for notice in watching.all())
    assert ends(watching)[-1] == ("shop", ExitKind.SHUTDOWN, 1)


@pytest.mark.parametrize("restart", Restart)
@pytest.mark.parametrize("reason", REASONS)
async def test_otp_sup_stop_race__exit_is_not_yet_handled_when_the_stop_comes(
    restart: Restart, reason: End | None
) -> None:
    racer = ChildSpec("racer", obedient, restart=restart)
    supervisor = open_supervisor("shop", intensity=0, children=[racer])
    async with nothing_left(), supervisor as shop:
        with watch(shop) as watching, freeze(shop):
            await leave(shop.address(racer), reason)
            await shop.stop()
    assert not any(isinstance(notice, Restarting | Started) for notice in watching.all())
    assert ends(watching)[-1][:2] == ("shop", ExitKind.SHUTDOWN)


async def test_otp_sup_stop_non_shutdown_exit_dynamic() -> None:
    children = [ChildSpec(how.name, ends_when_stopped(how)) for how in End]
    dynamic = open_supervisor("shop", strategy=Strategy.DYNAMIC, intensity=0, children=children)
    async with nothing_left(), dynamic as shop:
        with watch(shop) as watching:
            await shop.stop()
    assert {path: kind for path, kind, _ in ends(watching)} == {
        "shop/NORMAL": ExitKind.NORMAL,
        "shop/SHUTDOWN": ExitKind.SHUTDOWN,
        "shop/SHUTDOWN_WITH_TERM": ExitKind.SHUTDOWN,
        "shop": ExitKind.SHUTDOWN,
    }
    [crashed] = [notice for notice in watching.all() if isinstance(notice, Crashed)]
    assert crashed.path == "shop/ABNORMAL"
    assert isinstance(crashed.error, Boom)


async def test_otp_sup_stop_manual(autojump_clock: MockClock) -> None:
    children = [
        ChildSpec("gentle", slow_to_stop(3), shutdown=10),
        ChildSpec("brutal", slow_to_stop(3), shutdown=Shutdown.BRUTAL),
    ]
    went_on = False
    async with nothing_left(), open_supervisor("shop", children=children) as shop:
        with watch(shop) as watching:
            await shop.stop()
        await trio.lowlevel.checkpoint()  # the host asked for the stop, so its block goes on
        went_on = True
    assert went_on
    assert ends(watching) == [
        ("shop/brutal", ExitKind.KILLED, 0),
        ("shop/gentle", ExitKind.SHUTDOWN, 3),
        ("shop", ExitKind.SHUTDOWN, 3),
    ]


async def test_otp_sup_stop_manual_timeout(autojump_clock: MockClock) -> None:
    child = ChildSpec("slow", slow_to_stop(5), shutdown=Shutdown.INFINITE)
    async with nothing_left(), open_supervisor("shop", children=[child]) as shop:
        with watch(shop) as watching:
            with pytest.raises(trio.TooSlowError), trio.fail_after(1):
                await shop.stop()
            assert trio.current_time() == 1
            assert ends(watching) == []
            await shop.wait()
    assert ends(watching) == [
        ("shop/slow", ExitKind.SHUTDOWN, 5),
        ("shop", ExitKind.SHUTDOWN, 5),
    ]
