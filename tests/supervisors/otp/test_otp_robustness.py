"""Cases 59 to 71: naughty children, whole trees, counts, memory, names and restart loops."""

from __future__ import annotations

import gc
import logging
import weakref
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    Address,
    AlreadyPresent,
    AlreadyStarted,
    Backoff,
    ChildCount,
    ChildRestarting,
    ChildSpec,
    Phase,
    Ready,
    Restart,
    Shutdown,
    Strategy,
    Stuck,
    SupervisorSpec,
    WrongStrategy,
    open_supervisor,
)
from supervisors.testing import crash, freeze, nothing_left, watch
from tests.supervisors.otp.actors_for_otp import (
    Boom,
    Deaf,
    End,
    Message,
    StartsBadly,
    end,
    end_and_settle,
    from_start,
    lives,
    obedient,
    phases,
)
from tests.supervisors.otp.cost import Cost, assert_linear, cost_of_block

if TYPE_CHECKING:
    from supervisors import Inbox, Supervisor

ORDERED = [Strategy.ONE_FOR_ONE, Strategy.ONE_FOR_ALL, Strategy.REST_FOR_ONE]
EVERY_TWO_SECONDS = Backoff(minimum=2, maximum=2, jitter=0)


class StartsWhileAllowed:
    """Obedient; while not `allowed`, each start fails after `takes` seconds of trying."""

    def __init__(self, takes: float = 0.0) -> None:
        self.allowed = True
        self.takes = takes

    async def __call__(self, inbox: Inbox[Message]) -> None:
        """One life."""
        if not self.allowed:
            await trio.sleep(self.takes)
            raise Boom("not allowed to start")
        await obedient(inbox)


class Payload:
    """Something big that an actor was given to start with."""


async def carrying(payload: Payload, inbox: Inbox[Message]) -> None:
    """Obedient, and holds what it was given."""
    await obedient(inbox)


@pytest.mark.parametrize("strategy", list(Strategy))
async def test_otp_child_unlink(strategy: Strategy, autojump_clock: trio.abc.Clock) -> None:
    naughty = Deaf()
    async with nothing_left(), open_supervisor("shop", strategy=strategy) as shop:
        with watch(shop) as watching:
            child = await shop.start(ChildSpec("child", naughty, shutdown=1))
            try:
                with trio.fail_after(3):
                    await shop.terminate(child)
            finally:
                naughty.release()
        assert [notice.path for notice in watching.all() if isinstance(notice, Stuck)] == [
            "shop/child"
        ]
        assert (await shop.count()).active == 0


async def test_otp_tree(autojump_clock: trio.abc.Clock) -> None:
    statics = [ChildSpec("child1", obedient), ChildSpec("child2", obedient)]
    only_once = ChildSpec("child3", StartsBadly(from_start(2)))
    async with open_supervisor("top", strategy=Strategy.ONE_FOR_ALL, intensity=4) as top:
        sup1 = await top.start(SupervisorSpec("sup1", intensity=4, children=statics))
        sup2 = await top.start(SupervisorSpec("sup2", intensity=4))
        sup3 = await top.start(SupervisorSpec("sup3", restart=Restart.TRANSIENT))
        await top.terminate("sup3")
        assert await top.count() == ChildCount(specs=3, active=2, supervisors=3, workers=0)
        child3 = await sup2.start(only_once)
        child4 = await sup2.start(ChildSpec("child4", obedient))
        await end_and_settle(child4, End.ABNORMAL)
        assert lives(sup2) == {"child3": 1, "child4": 2}
        assert lives(top) == {"sup1": 1, "sup2": 1, "sup3": 1}
        assert await sup1.count() == ChildCount(specs=2, active=2, supervisors=0, workers=2)

        await end_and_settle(child3, End.ABNORMAL)

        assert lives(top) == {"sup1": 2, "sup2": 2, "sup3": 2}
        assert await top.count() == ChildCount(specs=3, active=3, supervisors=3, workers=0)
        assert phases(sup1) == {"child1": Phase.RUNNING, "child2": Phase.RUNNING}
        assert await sup2.children() == await sup3.children() == []


async def test_otp_count_children() -> None:
    spec = ChildSpec("child", obedient, restart=Restart.TEMPORARY)
    async with open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        first = [await shop.start(spec) for _ in range(500)]
        assert await shop.count() == ChildCount(500, 500, 0, 500)
        second = [await shop.start(spec) for _ in range(500)]
        assert await shop.count() == ChildCount(1000, 1000, 0, 1000)
        listed = await shop.children()
        assert [info.address for info in reversed(listed)] == first + second

        for child in first:
            await child.tell(End.NORMAL)
        await wait_all_tasks_blocked()
        assert await shop.count() == ChildCount(500, 500, 0, 500)
        for child in second:
            await shop.terminate(child)
        assert await shop.count() == ChildCount(0, 0, 0, 0)


async def test_otp_count_children_supervisor() -> None:
    spec = SupervisorSpec("team", restart=Restart.TEMPORARY)
    async with open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        for _ in range(300):
            await shop.start(spec)
        assert await shop.count() == ChildCount(300, 300, 300, 0)
        await shop.start(ChildSpec("worker", obedient))
        assert await shop.count() == ChildCount(301, 301, 300, 1)

        for info in await shop.children():
            if info.strategy is not None:
                await shop.terminate(info.address)
        assert await shop.count() == ChildCount(1, 1, 0, 1)


async def test_otp_count_restarting_children(autojump_clock: trio.abc.Clock) -> None:
    actor = StartsWhileAllowed()
    spec = ChildSpec("child", actor, backoff=EVERY_TWO_SECONDS)
    async with open_supervisor("shop", strategy=Strategy.DYNAMIC, intensity=20, period=10) as shop:
        children = [await shop.start(spec) for _ in range(3)]
        assert await shop.count() == ChildCount(3, 3, 0, 3)

        actor.allowed = False
        for child in children[:2]:
            await end_and_settle(child, End.ABNORMAL)
        await trio.sleep(5)
        assert await shop.count() == ChildCount(3, 1, 0, 3)

        with watch(shop) as watching:
            actor.allowed = True
            await watching.next(Ready)
            await watching.next(Ready)
        assert await shop.count() == ChildCount(3, 3, 0, 3)
        for left, child in zip((2, 1, 0), children, strict=True):
            await shop.terminate(child)
            assert await shop.count() == ChildCount(left, left, 0, left)


async def start_with_payload(shop: Supervisor, restart: Restart) -> weakref.ref[Payload]:
    payload = Payload()
    await shop.start(ChildSpec(restart.value, partial(carrying, payload), restart=restart))
    return weakref.ref(payload)


async def end_by_name(shop: Supervisor, name: str) -> None:
    for info in await shop.children():
        if info.name == name:
            await end(info.address, End.ABNORMAL)


@pytest.mark.parametrize("strategy", list(Strategy))
async def test_otp_do_not_save_start_parameters_for_temporary_children(
    strategy: Strategy, caplog: pytest.LogCaptureFixture
) -> None:
    # A kept log record would keep the traceback, and that the payload.
    caplog.set_level(logging.CRITICAL, logger="supervisors")
    async with open_supervisor("shop", strategy=strategy, intensity=9) as shop:
        payloads = {restart: await start_with_payload(shop, restart) for restart in Restart}

        for restart in Restart:
            await end_by_name(shop, restart.value)
        await shop.count()
        gc.collect()

        kept = [restart for restart, payload in payloads.items() if payload() is not None]
        assert kept == [Restart.PERMANENT, Restart.TRANSIENT]


class Ending(Enum):
    """OTP's ways to end a child of whom its supervisor may keep the spec."""

    KILL = "from outside"
    NORMAL = "by itself, in order"
    ABNORMAL = "by itself, crashing"
    SUPERVISOR = "terminated by its supervisor"


async def end_by(ending: Ending, shop: Supervisor, child: Address[Message]) -> None:
    match ending:
        case Ending.KILL:
            await crash(child)
        case Ending.NORMAL:
            await end(child, End.NORMAL)
        case Ending.ABNORMAL:
            await end(child, End.ABNORMAL)
        case Ending.SUPERVISOR:
            await shop.terminate(child)


@pytest.mark.parametrize("ending", list(Ending))
@pytest.mark.parametrize("strategy", ORDERED)
async def test_otp_do_not_save_child_specs_for_temporary_children(
    strategy: Strategy, ending: Ending
) -> None:
    by_admin = ending is Ending.SUPERVISOR
    refusals: dict[Restart, type[Exception]] = {
        Restart.PERMANENT: AlreadyPresent if by_admin else AlreadyStarted,
        Restart.TRANSIENT: AlreadyPresent
        if by_admin or ending is Ending.NORMAL
        else AlreadyStarted,
    }
    async with open_supervisor("shop", strategy=strategy, intensity=2) as shop:
        for restart, refusal in refusals.items():
            spec = ChildSpec(restart.value, obedient, restart=restart)
            await end_by(ending, shop, await shop.start(spec))
            with pytest.raises(refusal):
                await shop.start(spec)

        temporary = ChildSpec("temporary", obedient, restart=Restart.TEMPORARY)
        await end_by(ending, shop, await shop.start(temporary))
        assert (await shop.start(temporary)).phase is Phase.RUNNING


async def test_otp_simple_one_for_one_scale_many_temporary_children() -> None:
    spec = ChildSpec("child", obedient, restart=Restart.TEMPORARY)
    costs: list[Cost] = []
    async with open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        for number in (100, 1000):
            children = [await shop.start(spec) for _ in range(number)]
            with cost_of_block() as cost:
                for child in children:
                    await shop.terminate(child)
            costs.append(cost)
    assert_linear(costs, times=10)


def named_tree() -> SupervisorSpec:
    server = ChildSpec("server", obedient, register="the server")
    return SupervisorSpec(
        "middle",
        strategy=Strategy.ONE_FOR_ALL,
        intensity=3,
        register="the middle",
        children=[server],
    )


class Blow(Enum):
    """What happens to the tree with names."""

    KILL_SUPERVISOR = "the middle supervisor dies"
    KILL_WORKER = "the worker dies from outside"
    EXIT_WORKER = "the worker returns"
    RESTART_WORKER = "the worker is terminated and restarted"


async def strike(blow: Blow, middle: Supervisor, server: Address[Message]) -> None:
    match blow:
        case Blow.KILL_SUPERVISOR:
            await crash(middle)
        case Blow.KILL_WORKER:
            await crash(server)
        case Blow.EXIT_WORKER:
            await end(server, End.NORMAL)
        case Blow.RESTART_WORKER:
            await middle.terminate("server")
            await middle.restart("server")
    await wait_all_tasks_blocked()


@pytest.mark.parametrize("blow", list(Blow))
async def test_otp_simple_global_supervisor(blow: Blow) -> None:
    async with open_supervisor(
        "top", strategy=Strategy.ONE_FOR_ALL, intensity=3, children=[named_tree()]
    ) as top:
        middle, before = top.supervisor("middle"), top.registered()
        server_lives = lives(middle)["server"]
        with watch(top) as watching:
            await strike(blow, middle, before["the server"])
            reborn = [notice.path for notice in watching.all() if isinstance(notice, Ready)]

        after = top.registered()
        assert list(after) == ["the middle", "the server"]
        if blow is Blow.KILL_SUPERVISOR:
            assert reborn == ["top/middle/server", "top/middle"]
            assert after["the server"] != before["the server"]
        else:
            assert reborn == ["top/middle/server"]
            assert lives(middle)["server"] == server_lives + 1
        await top.stop()
        assert top.registered() == {}


async def assert_all_but_terminate_is_refused(shop: Supervisor, spec: ChildSpec[Any]) -> None:
    with pytest.raises(AlreadyPresent):
        await shop.start(spec)
    with pytest.raises(ChildRestarting):
        await shop.restart(spec.name)
    with pytest.raises(ChildRestarting):
        await shop.delete(spec.name)


async def test_otp_hanging_restart_loop(autojump_clock: trio.abc.Clock) -> None:
    actor = StartsWhileAllowed(takes=2)
    spec = ChildSpec("child", actor, shutdown=Shutdown.BRUTAL)
    async with nothing_left(), open_supervisor("shop", intensity=8, period=10) as shop:
        child = await shop.start(spec)
        actor.allowed = False
        await end(child, End.ABNORMAL)
        await assert_all_but_terminate_is_refused(shop, spec)
        assert [info.phase for info in await shop.children()] == [Phase.RESTARTING]
        assert await shop.count() == ChildCount(1, 0, 0, 1)

        await shop.terminate(child)
        assert [info.phase for info in await shop.children()] == [Phase.STOPPED]
        actor.allowed = True
        await shop.restart("child")

        actor.allowed = False
        await end(child, End.ABNORMAL)
        with trio.fail_after(1):
            await shop.stop()


async def test_otp_hanging_restart_loop_rest_for_one(autojump_clock: trio.abc.Clock) -> None:
    actor = StartsWhileAllowed(takes=2)
    spec = ChildSpec("child2", actor, shutdown=Shutdown.BRUTAL)
    specs = [ChildSpec("child1", obedient), spec, ChildSpec("child3", obedient)]
    async with (
        nothing_left(),
        open_supervisor(
            "shop", strategy=Strategy.REST_FOR_ONE, intensity=8, period=10, children=specs
        ) as shop,
    ):
        actor.allowed = False
        await end(shop.address(spec), End.ABNORMAL)
        await assert_all_but_terminate_is_refused(shop, spec)
        assert await shop.count() == ChildCount(3, 1, 0, 3)
        listed = [info.phase for info in await shop.children()]
        assert listed == [Phase.RESTARTING, Phase.RESTARTING, Phase.RUNNING]

        await shop.terminate("child2")
        listed = [info.phase for info in await shop.children()]
        assert listed == [Phase.STOPPED, Phase.STOPPED, Phase.RUNNING]
        assert lives(shop)["child1"] == 1
        actor.allowed = True
        await shop.restart("child2")

        actor.allowed = False
        await end(shop.address(spec), End.ABNORMAL)
        with trio.fail_after(1):
            await shop.stop()


async def test_otp_hanging_restart_loop_simple(autojump_clock: trio.abc.Clock) -> None:
    actor = StartsWhileAllowed()
    spec = ChildSpec("child", actor, shutdown=Shutdown.BRUTAL, backoff=EVERY_TWO_SECONDS)
    async with (
        nothing_left(),
        open_supervisor("shop", strategy=Strategy.DYNAMIC, intensity=8, period=10) as shop,
    ):
        child = await shop.start(spec)
        actor.allowed = False
        await end(child, End.ABNORMAL)
        await trio.sleep(3)
        with pytest.raises(WrongStrategy):
            await shop.restart(child)
        with pytest.raises(WrongStrategy):
            await shop.delete(child)
        assert [info.phase for info in await shop.children()] == [Phase.RESTARTING]
        assert await shop.count() == ChildCount(1, 0, 0, 1)

        await shop.terminate(child)
        assert await shop.children() == []
        actor.allowed = True
        child = await shop.start(spec)

        actor.allowed = False
        await end(child, End.ABNORMAL)
        with trio.fail_after(1):
            await shop.stop()


async def test_otp_hanging_restart_loop_simple__terminate_during_a_start_attempt(
    autojump_clock: trio.abc.Clock,
) -> None:
    actor = StartsWhileAllowed(takes=2)
    async with nothing_left(), open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        child = await shop.start(ChildSpec("child", actor))
        actor.allowed = False
        await end_and_settle(child, End.ABNORMAL)
        with trio.fail_after(1):
            await shop.terminate(child)
        assert await shop.children() == []


async def test_otp_hanging_restart_loop_simple__terminate_beats_a_crash_behind_it() -> None:
    async with nothing_left(), open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        child = await shop.start(ChildSpec("child", obedient))
        with freeze(shop) as step:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(shop.terminate, child)
                await wait_all_tasks_blocked()
                await end(child, End.ABNORMAL)
                while await step():
                    pass
        assert await shop.children() == []
        assert child.phase is Phase.GONE
