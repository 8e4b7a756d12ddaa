"""Cases 25 to 32 of supervisor_SUITE: requests about children, specs and options, and idleness."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from supervisors import (
    ActorDown,
    AlreadyPresent,
    AlreadyStarted,
    AutoShutdown,
    ChildCount,
    ChildNotFound,
    ChildRunning,
    ChildSpec,
    GaveUp,
    Phase,
    Restart,
    Shutdown,
    SpecError,
    Strategy,
    SupervisorSpec,
    WrongStrategy,
    open_supervisor,
)
from supervisors.testing import watch
from tests.supervisors.otp.actors_for_otp import (
    End,
    WhichLife,
    end,
    end_and_settle,
    lives,
    obedient,
    open_shop,
    phases,
)

if TYPE_CHECKING:
    from supervisors import Inbox
    from tests.supervisors.otp.actors_for_otp import Message


async def test_otp_child_adm() -> None:
    spec = ChildSpec("child", obedient)
    async with open_supervisor("shop") as shop:
        child = await shop.start(spec)
        with pytest.raises(AlreadyStarted):
            await shop.start(spec)
        await shop.terminate("child")
        assert await shop.count() == ChildCount(specs=1, active=0, supervisors=0, workers=1)
        await shop.terminate("child")
        with pytest.raises(AlreadyPresent):
            await shop.start(spec)
        await shop.restart("child")
        assert await child.ask(WhichLife()) == 2
        with pytest.raises(ChildRunning):
            await shop.restart("child")
        with pytest.raises(ChildRunning):
            await shop.delete("child")
        await shop.terminate("child")
        await shop.delete("child")
        assert await shop.children() == []


async def test_otp_child_adm__who_is_unknown_is_not_found() -> None:
    async with open_supervisor("shop") as shop:
        child = await shop.start(ChildSpec("child", obedient))
        await shop.terminate(child)
        await shop.delete(child)
        for request in (shop.terminate, shop.restart, shop.delete, shop.spec):
            with pytest.raises(ChildNotFound, match="shop has no child nobody"):
                await request("nobody")
            with pytest.raises(ChildNotFound):
                await request(child)


async def test_otp_child_adm__start_after_delete_is_a_new_child() -> None:
    spec = ChildSpec("child", obedient)
    async with open_supervisor("shop") as shop:
        old = await shop.start(spec)
        await shop.terminate(old)
        await shop.delete(old)
        new = await shop.start(spec)
        assert await new.ask(WhichLife()) == 1
        assert old.phase is Phase.GONE


async def test_otp_child_adm__supervisor_that_is_gone_answers_no_request() -> None:
    async with open_supervisor("root") as root:
        shop = await root.start(SupervisorSpec("shop"))
        await root.terminate("shop")
        for request in (shop.terminate, shop.restart, shop.delete, shop.spec):
            with pytest.raises(ActorDown, match="root/shop is down"):
                await request("child")
        with pytest.raises(ActorDown):
            await shop.start(ChildSpec("child", obedient))
        with pytest.raises(ActorDown):
            await shop.count()
        with pytest.raises(ActorDown):
            await shop.children()


async def test_otp_child_adm_simple() -> None:
    spec = ChildSpec("child", obedient)
    async with open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        one, two = await shop.start(spec), await shop.start(spec)
        for refused in (shop.restart, shop.delete):
            with pytest.raises(WrongStrategy):
                await refused(one)
        assert phases(shop) == {"child": Phase.RUNNING, "child#2": Phase.RUNNING}
        await shop.terminate(two)
        assert [info.address for info in await shop.children()] == [one]
        assert await shop.count() == ChildCount(specs=1, active=1, supervisors=0, workers=1)


async def test_otp_child_adm_simple__foreign_address_is_not_found() -> None:
    async with open_supervisor("root") as root:
        shop = await root.start(SupervisorSpec("shop", strategy=Strategy.DYNAMIC))
        await shop.start(ChildSpec("child", obedient))
        stranger = await root.start(ChildSpec("child", obedient))
        with pytest.raises(ChildNotFound):
            await shop.terminate(stranger)
        assert stranger.phase is Phase.RUNNING
        assert await shop.count() == ChildCount(specs=1, active=1, supervisors=0, workers=1)


async def test_otp_child_adm_simple__dead_address_is_terminated_already() -> None:
    async with open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        child = await shop.start(ChildSpec("child", obedient))
        await shop.terminate(child)
        await shop.terminate(child)
        assert await shop.children() == []


async def test_otp_child_adm_simple__dead_address_does_not_reach_a_new_child_of_that_name() -> None:
    spec = ChildSpec("child", obedient)
    async with open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        old = await shop.start(spec)
        await shop.terminate(old)
        new = await shop.start(spec)
        await shop.terminate(old)
        assert new.phase is Phase.RUNNING
        assert [info.address for info in await shop.children()] == [new]


async def test_otp_extra_return() -> None:
    async def informative(inbox: Inbox[Message]) -> None:
        inbox.ready(f"info of life {inbox.life}")
        await obedient(inbox)

    async with open_supervisor("shop") as shop:
        child = await shop.start(ChildSpec("child", informative))
        assert child.info == "info of life 1"
        await end_and_settle(child, End.ABNORMAL)
        assert child.info == "info of life 2"
        await shop.terminate(child)
        assert child.info is None
        await shop.restart(child)
        assert child.info == "info of life 3"


BAD_CHILD_KEYS: list[tuple[str, object]] = [
    ("restart", "permanent"),
    ("restart", None),
    ("shutdown", -1),
    ("shutdown", -0.001),
    ("shutdown", "brutal"),
    ("shutdown", math.inf),
    ("shutdown", math.nan),
    ("shutdown", True),
    ("significant", "yes"),
    ("significant", 1),
    ("start_timeout", 0),
    ("backoff", 3),
    ("register", ""),
]


@pytest.mark.parametrize(("key", "value"), BAD_CHILD_KEYS)
def test_otp_child_specs(key: str, value: object) -> None:
    bad: dict[str, Any] = {key: value}
    with pytest.raises(SpecError, match=f"{key} of 'child' must be"):
        ChildSpec("child", obedient, **bad)
    with pytest.raises(SpecError, match=f"{key} of 'child' must be"):
        SupervisorSpec("child", **bad)


@pytest.mark.parametrize("shutdown", [0, 0.5, 5, *Shutdown])
def test_otp_child_specs__every_way_to_stop_is_for_workers_and_supervisors(
    shutdown: float | Shutdown,
) -> None:
    assert ChildSpec("child", obedient, shutdown=shutdown).shutdown == shutdown
    assert SupervisorSpec("child", shutdown=shutdown).shutdown == shutdown


async def test_otp_child_specs__duplicates_start_nothing() -> None:
    twice = [ChildSpec("child", obedient), ChildSpec("child", obedient)]
    with pytest.raises(SpecError, match="two children of 'shop' are called 'child'"):
        SupervisorSpec("shop", children=twice)
    async with open_supervisor("root") as root:
        with watch(root) as watching, pytest.raises(SpecError):
            await root.start(SupervisorSpec("shop", children=twice))
        assert watching.all() == []


async def test_otp_child_specs__dynamic_children_may_share_a_name_and_be_none_at_all() -> None:
    twice = [ChildSpec("child", obedient), ChildSpec("child", obedient)]
    async with open_supervisor("shop", strategy=Strategy.DYNAMIC, children=twice) as shop:
        assert phases(shop) == {"child": Phase.RUNNING, "child#2": Phase.RUNNING}
    async with open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        assert await shop.children() == []


COMBINATIONS = list(itertools.product(Restart, AutoShutdown))


@pytest.mark.parametrize(("restart", "auto_shutdown"), COMBINATIONS)
async def test_otp_child_specs_map(restart: Restart, auto_shutdown: AutoShutdown) -> None:
    plain = ChildSpec("plain", obedient, restart=restart, significant=False)
    async with open_supervisor("shop", auto_shutdown=auto_shutdown, children=[plain]) as shop:
        await shop.start(SupervisorSpec("sub", restart=restart, significant=False))
        assert phases(shop) == {"plain": Phase.RUNNING, "sub": Phase.RUNNING}


@pytest.mark.parametrize("restart", [Restart.TRANSIENT, Restart.TEMPORARY])
@pytest.mark.parametrize("mode", [AutoShutdown.ANY_SIGNIFICANT, AutoShutdown.ALL_SIGNIFICANT])
async def test_otp_child_specs_map__significant_where_it_can_matter(
    restart: Restart, mode: AutoShutdown
) -> None:
    first = ChildSpec("first", obedient, restart=restart, significant=True)
    async with open_supervisor("shop", auto_shutdown=mode, children=[first]) as shop:
        await shop.start(SupervisorSpec("second", restart=restart, significant=True))
        assert phases(shop) == {"first": Phase.RUNNING, "second": Phase.RUNNING}


@pytest.mark.parametrize("restart", [Restart.TRANSIENT, Restart.TEMPORARY])
@pytest.mark.parametrize("strategy", Strategy)
async def test_otp_child_specs_map__significant_without_auto_shutdown_is_refused(
    restart: Restart, strategy: Strategy
) -> None:
    child = ChildSpec("child", obedient, restart=restart, significant=True)
    with pytest.raises(SpecError, match="auto_shutdown of 'shop' is NEVER"):
        SupervisorSpec("shop", strategy=strategy, children=[child])
    async with open_supervisor("shop", strategy=strategy) as shop:
        with pytest.raises(SpecError, match="auto_shutdown of 'shop' is NEVER"):
            await shop.start(child)
        assert await shop.children() == []


def test_otp_child_specs_map__significant_and_permanent_is_refused() -> None:
    with pytest.raises(SpecError, match="cannot be significant and PERMANENT"):
        ChildSpec("child", obedient, significant=True)
    with pytest.raises(SpecError, match="cannot be significant and PERMANENT"):
        SupervisorSpec("child", significant=True)


BAD_FLAGS: list[tuple[str, object]] = [
    ("strategy", "one_for_one"),
    ("strategy", None),
    ("strategy", Restart.PERMANENT),
    ("intensity", -1),
    ("intensity", 1.5),
    ("intensity", True),
    ("intensity", math.inf),
    ("period", 0),
    ("period", -1),
    ("period", "5"),
    ("period", math.inf),
    ("period", math.nan),
    ("auto_shutdown", "never"),
    ("auto_shutdown", False),
]


@pytest.mark.parametrize(("flag", "value"), BAD_FLAGS)
async def test_otp_sup_flags(flag: str, value: object) -> None:
    bad: dict[str, Any] = {flag: value}
    with pytest.raises(SpecError, match=f"^{flag} must be"):
        SupervisorSpec("shop", **bad)
    with pytest.raises(SpecError, match=f"^{flag} must be"):
        async with open_supervisor("shop", **bad):
            pass


def test_otp_sup_flags__intensity_zero_and_a_broken_period_are_legal() -> None:
    assert SupervisorSpec("shop", intensity=0, period=0.001).intensity == 0


async def test_otp_sup_flags__unknown_flag_is_refused_not_ignored() -> None:
    unknown: dict[str, Any] = {"silly_flag": True}
    with pytest.raises(TypeError, match="silly_flag"):
        async with open_supervisor("shop", **unknown):
            pass


async def test_otp_multiple_restarts(autojump_clock: MockClock) -> None:
    spec = ChildSpec("child", obedient)
    async with open_shop(Strategy.ONE_FOR_ONE, spec, intensity=1, period=1) as shop:
        for life in (2, 3, 4, 5):
            await end_and_settle(shop.address(spec), End.ABNORMAL)
            assert lives(shop) == {"child": life}
            await trio.sleep(1.125)
        assert shop.phase is Phase.RUNNING


async def test_otp_multiple_restarts__exactly_one_period_old_still_counts(
    autojump_clock: MockClock,
) -> None:
    spec = ChildSpec("child", obedient)
    async with open_shop(Strategy.ONE_FOR_ONE, spec, intensity=1, period=1) as shop:
        with watch(shop) as watching:
            await end_and_settle(shop.address(spec), End.ABNORMAL)
            await trio.sleep(1)
            await end_and_settle(shop.address(spec), End.ABNORMAL)
        assert [type(notice) for notice in watching.all()].count(GaveUp) == 1
        assert (shop.phase, trio.current_time()) == (Phase.GONE, 1)


class Steps(trio.abc.Instrument):
    """Counts how often a task other than the one that made it gets to run."""

    def __init__(self) -> None:
        self.count = 0
        self._me = trio.lowlevel.current_task()

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.count += task is not self._me


@pytest.mark.parametrize("strategy", Strategy)
async def test_otp_auto_hibernate(autojump_clock: MockClock, strategy: Strategy) -> None:
    spec = ChildSpec("child", obedient)
    async with open_supervisor("shop", strategy=strategy, children=[spec]) as shop:
        await end_and_settle(shop.address(spec), End.ABNORMAL)
        steps = Steps()
        trio.lowlevel.add_instrument(steps)
        await trio.sleep(24 * 3600)
        assert steps.count == 0
        assert (await shop.count()).active == 1
        await end(shop.address(spec), End.ABNORMAL)
        await wait_all_tasks_blocked()
        assert lives(shop) == {"child": 3}
        assert steps.count > 0
