"""A monitor gives exactly one Down, whatever ends the life that it watches."""

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from supervisors import (
    Address,
    ChildSpec,
    Down,
    ExitKind,
    Monitor,
    Restart,
    Shutdown,
    Strategy,
    Supervisor,
    SupervisorGaveUp,
    open_supervisor,
)
from supervisors.testing import crash, freeze
from tests.supervisors.till import Break, Close, Jam, Message, crash_and_stay, idle, till


async def test_a_crash_of_the_actor_is_a_down_with_its_error() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        watching = address.monitor()
        await address.tell(Break())
        down = await watching.down()
        assert down.path == "shop/till"
        assert down.exit is not None
        assert down.exit.kind is ExitKind.CRASHED
        assert isinstance(down.exit.error, Jam)


async def test_a_return_and_a_termination_are_downs_too() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        returned = address.monitor()
        await address.tell(Close())
        assert kind_of(await returned.down()) is ExitKind.NORMAL
        await wait_all_tasks_blocked()
        terminated = address.monitor()
        await shop.terminate("till")
        assert kind_of(await terminated.down()) is ExitKind.SHUTDOWN


def kind_of(down: Down) -> ExitKind | None:
    return None if down.exit is None else down.exit.kind


async def test_a_monitor_watches_one_life_and_no_later_one() -> None:
    async with open_supervisor("shop", intensity=2) as shop:
        address = await shop.start(ChildSpec("till", till))
        watching = address.monitor()
        await crash(address, Jam("first"))
        first = await watching.down()
        await wait_all_tasks_blocked()
        await crash(address, Jam("second"))
        assert await watching.down() is first
        assert first.exit is not None
        assert str(first.exit.error) == "first"


async def test_monitors_stack_and_each_gets_its_own_down() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        monitors = [address.monitor() for _ in range(3)]
        downs: list[Down] = []

        async def collect(monitor: Monitor) -> None:
            downs.append(await monitor.down())

        async with trio.open_nursery() as nursery:
            for monitor in monitors:
                nursery.start_soon(collect, monitor)
            await crash(address)
        assert len(downs) == 3


async def test_monitoring_an_actor_that_is_dead_already_is_a_down_at_once() -> None:
    async with open_supervisor("shop") as shop:
        address: Address[Message] = await shop.start(
            ChildSpec("till", till, restart=Restart.TEMPORARY)
        )
        await crash(address)
        await wait_all_tasks_blocked()
        assert await address.monitor().down() == Down("shop/till", None)


async def test_monitoring_between_a_death_and_its_handling_is_a_down_at_once() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        with freeze(shop):
            await crash(address)
            assert await address.monitor().down() == Down("shop/till", None)


async def test_a_cancelled_monitor_stays_silent(autojump_clock: MockClock) -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        silent, other = address.monitor(), address.monitor()
        silent.cancel()
        silent.cancel()
        await crash(address)
        await other.down()
        with trio.move_on_after(60) as patience:
            await silent.down()
        assert patience.cancelled_caught


async def test_cancelling_a_monitor_after_its_down_changes_nothing() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        watching = address.monitor()
        await crash(address)
        watching.cancel()
        assert kind_of(await watching.down()) is ExitKind.CRASHED


async def test_the_end_of_the_tree_is_a_down_for_every_actor() -> None:
    async with open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        spec = ChildSpec("idle", idle, shutdown=Shutdown.BRUTAL)
        brutal = (await shop.start(spec)).monitor()
        gentle = (await shop.start(ChildSpec("idle", idle))).monitor()
    assert kind_of(await brutal.down()) is ExitKind.KILLED
    assert kind_of(await gentle.down()) is ExitKind.SHUTDOWN


async def test_giving_up_is_a_down_for_the_siblings() -> None:
    sibling, culprit = ChildSpec("sibling", idle), ChildSpec("culprit", idle)
    monitors: list[Monitor] = []

    async def give_up(shop: Supervisor) -> None:
        monitors.append(shop.address(sibling).monitor())
        await crash_and_stay(shop.address(culprit), Jam("the last straw"))

    with pytest.raises(SupervisorGaveUp):
        async with open_supervisor("shop", intensity=0, children=[sibling, culprit]) as shop:
            await give_up(shop)
    assert kind_of(await monitors[0].down()) is ExitKind.SHUTDOWN
