"""What happens in a tree as a stream of facts: their order, slow readers, and no readers at all."""

import logging
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from supervisors import (
    Backoff,
    ChildSpec,
    Crashed,
    ExitKind,
    GaveUp,
    Ignore,
    Inbox,
    Notice,
    NoticeStream,
    Ready,
    Restart,
    Restarting,
    SpecError,
    Started,
    Stopped,
    Strategy,
    Supervisor,
    SupervisorGaveUp,
    SupervisorSpec,
    open_supervisor,
)
from supervisors.testing import crash, watch
from tests.supervisors.till import Break, Close, Jam, crash_and_stay, failing_from_life, idle, till


def story(notices: list[Notice]) -> list[str]:
    """The notices as short texts: "Ready till"."""
    return [f"{type(notice).__name__} {notice.path.rpartition('/')[2]}" for notice in notices]


async def test_a_life_is_told_from_start_to_stop() -> None:
    async with open_supervisor("shop") as shop:
        with shop.notices() as stream:
            await shop.start(ChildSpec("till", till))
            await shop.terminate("till")
            started, ready, stopped = stream.seen_so_far()
        assert isinstance(started, Started)
        assert isinstance(ready, Ready)
        assert isinstance(stopped, Stopped)
        assert {notice.path for notice in (started, ready, stopped)} == {"shop/till"}
        assert (started.life, ready.life, stopped.life) == (1, 1, 1)
        assert stopped.exit.kind is ExitKind.SHUTDOWN


async def test_a_crash_is_told_before_the_restart_and_the_restart_before_the_next_life(
    autojump_clock: MockClock,
) -> None:
    async with open_supervisor("shop") as shop:
        slowly = Backoff(minimum=4, jitter=0)
        address = await shop.start(ChildSpec("till", till, backoff=slowly))
        with shop.notices() as stream:
            began = trio.current_time()
            await address.tell(Break())
            crashed, restarting, started, ready = [await anext(stream) for _ in range(4)]
        assert isinstance(crashed, Crashed)
        assert isinstance(crashed.error, Jam)
        assert crashed.error.__traceback__ is not None
        assert isinstance(restarting, Restarting)
        assert restarting.delay == 4
        assert isinstance(started, Started)
        assert isinstance(ready, Ready)
        assert (crashed.life, started.life, ready.life) == (1, 2, 2)
        times = [notice.time - began for notice in (crashed, restarting, started, ready)]
        assert times == [0, 0, 4, 4]


async def test_a_group_restart_is_told_in_stop_order_and_start_order() -> None:
    specs = [ChildSpec(name, idle) for name in "abc"]
    async with open_supervisor("shop", strategy=Strategy.ONE_FOR_ALL, children=specs) as shop:
        with watch(shop) as watching:
            await crash(shop.address(specs[1]))
            await watching.next(Ready, "shop/c")
        assert story(watching.seen) == [
            "Crashed b", "Restarting b",
            "Stopped c", "Stopped a",
            "Started a", "Ready a", "Started b", "Ready b", "Started c", "Ready c",
        ]  # fmt: skip


async def told_of_the_end(shop: Supervisor, culprit: ChildSpec[Any], told: list[Notice]) -> None:
    """Crash the child, and write down what is told until the tree is over."""
    with watch(shop) as watching:
        try:
            await crash_and_stay(shop.address(culprit), Jam("the last straw"))
        finally:
            told += watching.all()


async def test_giving_up_is_told_before_the_siblings_stop() -> None:
    told: list[Notice] = []
    culprit = ChildSpec("culprit", idle)
    children = [ChildSpec("sibling", idle), culprit]
    with pytest.raises(SupervisorGaveUp):
        async with open_supervisor("shop", intensity=0, children=children) as shop:
            await told_of_the_end(shop, culprit, told)
    assert story(told) == ["Crashed culprit", "GaveUp shop", "Stopped sibling", "Stopped shop"]
    gave_up = told[1]
    assert isinstance(gave_up, GaveUp)
    assert gave_up.child == "shop/culprit"


async def test_every_way_to_end_in_order_is_a_stop_with_its_exit() -> None:
    async def ignoring(_: Inbox[object]) -> None:
        raise Ignore

    async with open_supervisor("shop") as shop:
        with watch(shop) as watching:
            await shop.start(ChildSpec("ignoring", ignoring))
            ignored = await watching.next(Stopped)
            spec = ChildSpec("till", till, restart=Restart.TRANSIENT)
            await (await shop.start(spec)).tell(Close())
            returned = await watching.next(Stopped)
    assert ignored.exit.kind is ExitKind.IGNORED
    assert returned.exit.kind is ExitKind.NORMAL


async def test_each_failed_restart_is_told() -> None:
    told: list[Notice] = []
    frail = ChildSpec("frail", failing_from_life(2))
    with pytest.raises(SupervisorGaveUp):
        async with open_supervisor("shop", intensity=2, children=[frail]) as shop:
            await told_of_the_end(shop, frail, told)
    again = ["Restarting frail", "Started frail", "Crashed frail"]
    assert story(told) == ["Crashed frail", *again, *again, "GaveUp shop", "Stopped shop"]


async def test_notices_of_sub_supervisors_are_in_the_same_stream() -> None:
    async with open_supervisor("shop") as shop:
        with shop.notices() as stream:
            await shop.start(SupervisorSpec("floor", children=[ChildSpec("till", till)]))
            told = story(stream.seen_so_far())
        assert told == ["Started floor", "Started till", "Ready till", "Ready floor"]


async def test_every_reader_gets_everything_from_its_subscription_on() -> None:
    async with open_supervisor("shop") as shop:
        with shop.notices() as early:
            await shop.start(ChildSpec("a", idle))
            with shop.notices() as late:
                await shop.start(ChildSpec("b", idle))
                assert story(late.seen_so_far()) == ["Started b", "Ready b"]
            assert story(early.seen_so_far()) == ["Started a", "Ready a", "Started b", "Ready b"]


async def test_a_slow_reader_loses_the_oldest_and_knows_how_many() -> None:
    async with open_supervisor("shop") as shop:
        with shop.notices(capacity=3) as stream:
            await shop.start(ChildSpec("a", idle))
            assert stream.missed == 0
            await shop.start(ChildSpec("b", idle))
            assert stream.missed == 1
            await shop.start(ChildSpec("c", idle))
            assert stream.missed == 3
            assert story([await anext(stream) for _ in range(3)]) == [
                "Ready b",
                "Started c",
                "Ready c",
            ]


async def test_a_reader_that_waits_is_woken_by_the_next_notice() -> None:
    async with open_supervisor("shop") as shop, trio.open_nursery() as nursery:
        told: list[Notice] = []

        async def read(stream: NoticeStream) -> None:
            async for notice in stream:
                told.append(notice)
                if len(told) == 2:
                    return

        with shop.notices() as stream:
            nursery.start_soon(read, stream)
            await wait_all_tasks_blocked()
            await shop.start(ChildSpec("till", till))
            await wait_all_tasks_blocked()
        assert story(told) == ["Started till", "Ready till"]


async def test_a_reader_that_waits_is_not_hurt_by_one_who_takes_everything() -> None:
    async with open_supervisor("shop") as shop, trio.open_nursery() as nursery:
        with shop.notices() as stream:
            nursery.start_soon(anext, stream)
            await wait_all_tasks_blocked()
            shop.named("nobody").tell_nowait("lost")
            assert story(stream.seen_so_far()) == ["DeadLetter nobody"]
            await wait_all_tasks_blocked()
            shop.named("nobody").tell_nowait("lost too")


@pytest.mark.parametrize("capacity", [0, -1])
async def test_a_stream_without_room_is_refused(capacity: int) -> None:
    async with open_supervisor("shop") as shop:
        with pytest.raises(SpecError, match="capacity"):
            await read_with_capacity(shop, capacity)


async def read_with_capacity(shop: Supervisor, capacity: int) -> None:
    with shop.notices(capacity=capacity):
        pass


async def test_nobody_listening_costs_nothing() -> None:
    async with open_supervisor("shop") as shop:
        with shop.notices() as stream:
            pass
        address = await shop.start(ChildSpec("till", till))
        await crash(address)
        await wait_all_tasks_blocked()
        assert stream.seen_so_far() == []
        assert stream.missed == 0
        with shop.notices() as late:
            assert late.seen_so_far() == []


async def test_a_crash_is_logged_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        await address.tell(Break())
        await wait_all_tasks_blocked()
    (record,) = caplog.records
    assert record.name == "supervisors"
    assert record.levelno == logging.ERROR
    assert record.getMessage() == "shop/till crashed (life 1)"
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], Jam)


async def test_an_orderly_end_and_a_dead_letter_are_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till, restart=Restart.TEMPORARY))
        await address.tell(Close())
        await wait_all_tasks_blocked()
        await address.tell(Close())
    assert caplog.records == []
