"""Cases 47 to 58 of supervisor_SUITE: what each restart type makes of each way to end."""

from __future__ import annotations

import logging
import traceback
from typing import TYPE_CHECKING

import pytest
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    ChildCount,
    ChildSpec,
    Crashed,
    ExitKind,
    Phase,
    Restart,
    Restarting,
    StartFailed,
    Stopped,
    Strategy,
    SupervisorSpec,
    open_supervisor,
)
from supervisors.testing import InjectedCrash, crash, nothing_left, watch
from tests.supervisors.otp.actors_for_otp import (
    Boom,
    End,
    StartsBadly,
    WhichLife,
    end_and_settle,
    from_start,
    lives,
    obedient,
    phases,
    story,
)

if TYPE_CHECKING:
    from supervisors import Notice

NONE_LEFT = ChildCount(specs=0, active=0, supervisors=0, workers=0)
RESTING = ChildCount(specs=1, active=0, supervisors=0, workers=1)
ACTIVE = ChildCount(specs=1, active=1, supervisors=0, workers=1)
ORDERED = [Strategy.ONE_FOR_ONE, Strategy.ONE_FOR_ALL, Strategy.REST_FOR_ONE]
SHUTDOWNS = [End.SHUTDOWN, End.SHUTDOWN_WITH_TERM]


async def test_otp_external_start_no_progress_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "supervisors")
    async with open_supervisor("shop") as shop:
        with watch(shop) as watching:
            await shop.start(ChildSpec("child", obedient))
            await shop.terminate("child")
            await shop.restart("child")
        assert story(watching) == [
            *("Started child", "Ready child", "Stopped child"),
            *("Started child", "Ready child"),
        ]
    assert [record for record in caplog.records if record.name.startswith("supervisors")] == []


async def check_it_comes_back(strategy: Strategy, restart: Restart, how: End) -> list[Notice]:
    async with open_supervisor("shop", strategy=strategy, intensity=1) as shop:
        child = await shop.start(ChildSpec("child", obedient, restart=restart))
        with watch(shop) as watching:
            await end_and_settle(child, how)
        assert await child.ask(WhichLife()) == 2
        assert phases(shop) == {"child": Phase.RUNNING}
        assert await shop.count() == ACTIVE
        return watching.all()


async def check_it_rests(strategy: Strategy, how: End) -> None:
    async with open_supervisor("shop", strategy=strategy, intensity=0) as shop:
        child = await shop.start(ChildSpec("child", obedient, restart=Restart.TRANSIENT))
        with watch(shop) as watching:
            await end_and_settle(child, how)
        assert not any(isinstance(notice, Restarting) for notice in watching.all())
        assert (phases(shop), child.phase) == ({"child": Phase.STOPPED}, Phase.STOPPED)
        assert await shop.count() == RESTING
        await shop.restart(child)
        assert await child.ask(WhichLife()) == 2


async def check_it_is_forgotten(strategy: Strategy, restart: Restart, how: End) -> None:
    async with open_supervisor("shop", strategy=strategy, intensity=0) as shop:
        child = await shop.start(ChildSpec("child", obedient, restart=restart))
        with watch(shop) as watching:
            await end_and_settle(child, how)
        assert len(watching.all()) == 1
        assert child.phase is Phase.GONE
        assert await shop.children() == []
        assert await shop.count() == NONE_LEFT


@pytest.mark.parametrize("strategy", Strategy)
async def test_otp_permanent_normal(strategy: Strategy) -> None:
    notices = await check_it_comes_back(strategy, Restart.PERMANENT, End.NORMAL)
    first = notices[0]
    assert isinstance(first, Stopped)
    assert first.exit.kind is ExitKind.NORMAL


@pytest.mark.parametrize("strategy", ORDERED)
async def test_otp_transient_normal(strategy: Strategy) -> None:
    await check_it_rests(strategy, End.NORMAL)


async def test_otp_transient_normal__dynamic_supervisor_forgets_it() -> None:
    await check_it_is_forgotten(Strategy.DYNAMIC, Restart.TRANSIENT, End.NORMAL)


@pytest.mark.parametrize("strategy", Strategy)
async def test_otp_temporary_normal(strategy: Strategy) -> None:
    await check_it_is_forgotten(strategy, Restart.TEMPORARY, End.NORMAL)


@pytest.mark.parametrize("how", SHUTDOWNS)
@pytest.mark.parametrize("strategy", Strategy)
async def test_otp_permanent_shutdown(strategy: Strategy, how: End) -> None:
    notices = await check_it_comes_back(strategy, Restart.PERMANENT, how)
    first = notices[0]
    assert isinstance(first, Stopped)
    assert first.exit.kind is ExitKind.SHUTDOWN


@pytest.mark.parametrize("how", SHUTDOWNS)
@pytest.mark.parametrize("strategy", ORDERED)
async def test_otp_transient_shutdown(strategy: Strategy, how: End) -> None:
    await check_it_rests(strategy, how)


@pytest.mark.parametrize("how", SHUTDOWNS)
async def test_otp_transient_shutdown__dynamic_supervisor_forgets_it(how: End) -> None:
    await check_it_is_forgotten(Strategy.DYNAMIC, Restart.TRANSIENT, how)


@pytest.mark.parametrize("how", SHUTDOWNS)
@pytest.mark.parametrize("strategy", Strategy)
async def test_otp_temporary_shutdown(strategy: Strategy, how: End) -> None:
    await check_it_is_forgotten(strategy, Restart.TEMPORARY, how)


async def test_otp_faulty_application_shutdown() -> None:
    worker = ChildSpec("worker", StartsBadly(from_start(1)))
    department = SupervisorSpec("department", children=[worker])
    with pytest.raises(StartFailed) as failure:
        async with nothing_left(), open_supervisor("app", children=[department]):
            pass
    outer = failure.value
    middle = outer.__cause__
    assert isinstance(middle, StartFailed)
    inner = middle.__cause__
    assert isinstance(inner, StartFailed)
    assert (outer.path, middle.path) == ("app", "app/department")
    assert inner.path == "app/department/worker"
    assert isinstance(inner.__cause__, Boom)
    assert "start 1 is a bad one" in str(outer)
    assert "raise self.raises(" in "".join(traceback.format_exception(outer))


@pytest.mark.parametrize("strategy", Strategy)
async def test_otp_permanent_abnormal(strategy: Strategy) -> None:
    notices = await check_it_comes_back(strategy, Restart.PERMANENT, End.ABNORMAL)
    first = notices[0]
    assert isinstance(first, Crashed)
    assert isinstance(first.error, Boom)


@pytest.mark.parametrize("strategy", Strategy)
async def test_otp_transient_abnormal(strategy: Strategy) -> None:
    notices = await check_it_comes_back(strategy, Restart.TRANSIENT, End.ABNORMAL)
    first = notices[0]
    assert isinstance(first, Crashed)
    assert isinstance(first.error, Boom)


@pytest.mark.parametrize("strategy", Strategy)
async def test_otp_temporary_abnormal(strategy: Strategy, caplog: pytest.LogCaptureFixture) -> None:
    await check_it_is_forgotten(strategy, Restart.TEMPORARY, End.ABNORMAL)
    assert [record.getMessage() for record in caplog.records] == ["shop/child crashed (life 1)"]


@pytest.mark.parametrize("restart", [Restart.PERMANENT, Restart.TRANSIENT])
async def test_otp_transient_abnormal__crash_from_outside_counts_alike(restart: Restart) -> None:
    child = ChildSpec("child", obedient, restart=restart)
    async with open_supervisor("shop", children=[child]) as shop:
        with watch(shop) as watching:
            await crash(shop.address(child))
            await wait_all_tasks_blocked()
        first = watching.all()[0]
        assert isinstance(first, Crashed)
        assert isinstance(first.error, InjectedCrash)
        assert lives(shop) == {"child": 2}


@pytest.mark.parametrize("strategy", [Strategy.ONE_FOR_ALL, Strategy.REST_FOR_ONE])
@pytest.mark.parametrize("how", End)
async def test_otp_temporary_bystander(strategy: Strategy, how: End) -> None:
    victim = ChildSpec("victim", obedient)
    bystander = ChildSpec("bystander", obedient, restart=Restart.TEMPORARY)
    children = [victim, bystander]
    async with open_supervisor("shop", strategy=strategy, children=children) as shop:
        address = shop.address(bystander)
        monitor = address.monitor()
        await end_and_settle(shop.address(victim), how)
        down = await monitor.down()
        assert down.exit is not None
        assert down.exit.kind is ExitKind.SHUTDOWN
        assert address.phase is Phase.GONE
        assert lives(shop) == {"victim": 2}
        assert await shop.count() == ACTIVE
