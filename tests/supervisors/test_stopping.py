"""How children end: in which order, with how much time, and what happens when that is over."""

import pytest
import trio
from trio.testing import MockClock

from supervisors import (
    ChildNotFound,
    ChildSpec,
    Crashed,
    ExitKind,
    Inbox,
    Phase,
    Shutdown,
    Spec,
    Stopped,
    Strategy,
    SupervisorSpec,
    open_supervisor,
)
from supervisors.testing import nothing_left, watch
from tests.supervisors.till import Add, Jam, cleaning_for, idle, till

ORDERED = pytest.mark.parametrize(
    "strategy", [Strategy.ONE_FOR_ONE, Strategy.ONE_FOR_ALL, Strategy.REST_FOR_ONE]
)


@ORDERED
async def test_children_end_one_by_one_the_last_started_first(
    strategy: Strategy, autojump_clock: MockClock
) -> None:
    log: list[str] = []
    specs = [ChildSpec(name, cleaning_for(1, log, name)) for name in "abc"]
    async with nothing_left():
        async with open_supervisor("shop", strategy=strategy, children=specs) as shop:
            await shop.start(ChildSpec("d", cleaning_for(1, log, "d")))
            began = trio.current_time()
        assert log == ["d", "c", "b", "a"]
        assert trio.current_time() - began == 4


async def test_a_subtree_ends_whole_before_what_was_started_earlier(
    autojump_clock: MockClock,
) -> None:
    log: list[str] = []
    inner = [ChildSpec(name, cleaning_for(1, log, name)) for name in ("inner 1", "inner 2")]
    children: list[Spec] = [
        ChildSpec("first", cleaning_for(1, log, "first")),
        SupervisorSpec("middle", children=inner),
        ChildSpec("last", cleaning_for(1, log, "last")),
    ]
    async with open_supervisor("shop", children=children):
        pass
    assert log == ["last", "inner 2", "inner 1", "first"]


async def stop_one(
    shutdown: float | Shutdown, needs: float, log: list[str]
) -> tuple[ExitKind, float]:
    """Terminate a child that needs so many seconds to clean up: how it ended, after how long."""
    async with open_supervisor("shop") as shop:
        await shop.start(ChildSpec("tidy", cleaning_for(needs, log, "clean"), shutdown=shutdown))
        with watch(shop) as watching:
            began = trio.current_time()
            await shop.terminate("tidy")
            stopped = await watching.next(Stopped)
        return stopped.exit.kind, trio.current_time() - began


async def test_a_child_that_cleans_up_in_time_was_shut_down(autojump_clock: MockClock) -> None:
    log: list[str] = []
    assert await stop_one(shutdown=5, needs=3, log=log) == (ExitKind.SHUTDOWN, 3)
    assert log == ["clean"]


async def test_a_child_that_needs_longer_is_killed_when_its_time_is_over(
    autojump_clock: MockClock,
) -> None:
    log: list[str] = []
    assert await stop_one(shutdown=2, needs=3, log=log) == (ExitKind.KILLED, 2)
    assert log == []


async def test_no_time_at_all_is_legal(autojump_clock: MockClock) -> None:
    log: list[str] = []
    assert await stop_one(shutdown=0, needs=1, log=log) == (ExitKind.KILLED, 0)
    assert log == []


async def test_a_brutal_kill_runs_no_grace(autojump_clock: MockClock) -> None:
    log: list[str] = []
    assert await stop_one(Shutdown.BRUTAL, needs=1, log=log) == (ExitKind.KILLED, 0)
    assert log == []


async def test_infinite_waits_as_long_as_it_takes(autojump_clock: MockClock) -> None:
    log: list[str] = []
    assert await stop_one(Shutdown.INFINITE, needs=9999, log=log) == (ExitKind.SHUTDOWN, 9999)
    assert log == ["clean"]


async def test_a_kill_reaches_a_grace_that_is_open_already(autojump_clock: MockClock) -> None:
    graces: list[str] = []

    async def nested(inbox: Inbox[object]) -> None:
        with inbox.grace():
            inbox.ready()
            with inbox.grace():
                await trio.sleep_forever()
            graces.append("inner")
        graces.append("outer")
        await trio.sleep_forever()

    async with open_supervisor("shop", children=[ChildSpec("nested", nested, shutdown=2)]) as shop:
        began = trio.current_time()
        await shop.terminate("nested")
        assert trio.current_time() - began == 2
    assert graces == ["inner", "outer"]


async def test_grace_is_not_in_the_way_of_a_life_that_nobody_stops() -> None:
    async def careful(inbox: Inbox[Add]) -> None:
        async for request in inbox:
            with inbox.grace():
                inbox.reply(request, request.amount)

    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("careful", careful))
        assert await address.ask(Add(5)) == 5
        assert await address.ask(Add(6)) == 6


async def test_a_crash_while_cleaning_up_is_told_and_holds_up_nothing() -> None:
    async def clumsy(inbox: Inbox[object]) -> None:
        try:
            await idle(inbox)
        finally:
            raise Jam("on the way out")

    log: list[str] = []
    children: list[Spec] = [
        ChildSpec("tidy", cleaning_for(0, log, "tidy")),
        ChildSpec("clumsy", clumsy),
    ]
    async with open_supervisor("shop", children=children) as shop:
        with watch(shop) as watching:
            await shop.terminate("clumsy")
            assert isinstance((await watching.next(Crashed)).error, Jam)
        assert [child.phase for child in await shop.children()] == [Phase.STOPPED, Phase.RUNNING]
    assert log == ["tidy"]


async def test_an_actor_that_is_stopped_handles_no_further_message(
    autojump_clock: MockClock,
) -> None:
    handled: list[int] = []

    async def careful(inbox: Inbox[int]) -> None:
        async for number in inbox:
            with inbox.grace():
                await trio.sleep(1)
                handled.append(number)

    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("careful", careful))
        for number in range(10):
            await address.tell(number)
        await trio.sleep(2.5)
        await shop.terminate("careful")
        assert handled == [0, 1, 2]
        assert shop.dead_letters == 7


async def test_terminating_twice_is_fine() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        await shop.terminate(address)
        await shop.terminate(address)
        assert address.phase is Phase.STOPPED


async def test_stop_ends_the_tree_and_the_block_goes_on() -> None:
    async with nothing_left(), open_supervisor("shop", children=[ChildSpec("till", till)]) as shop:
        await shop.stop()
        assert shop.phase is Phase.STOPPED
        await trio.lowlevel.checkpoint()
        await shop.stop()


async def test_a_stop_that_takes_too_long_for_its_caller_goes_on(
    autojump_clock: MockClock,
) -> None:
    log: list[str] = []
    async with open_supervisor("shop") as shop:
        slow = cleaning_for(10, log, "slow")
        await shop.start(ChildSpec("slow", slow, shutdown=Shutdown.INFINITE))
        began = trio.current_time()
        with trio.move_on_after(3) as patience:
            await shop.stop()
        assert patience.cancelled_caught
        assert trio.current_time() - began == 3
        await shop.wait()
        assert trio.current_time() - began == 10
    assert log == ["slow"]


async def test_only_a_root_can_be_stopped() -> None:
    async with open_supervisor("shop", children=[SupervisorSpec("floor")]) as shop:
        with pytest.raises(ChildNotFound, match=r"its parent can terminate\(\) it"):
            await shop.supervisor("floor").stop()


async def test_a_supervisor_that_is_killed_in_its_stop_kills_what_is_left(
    autojump_clock: MockClock,
) -> None:
    log: list[str] = []
    inner = [
        ChildSpec(name, cleaning_for(10, log, name), shutdown=Shutdown.INFINITE) for name in "ab"
    ]
    floor = SupervisorSpec("floor", children=inner, shutdown=3)
    async with nothing_left(), open_supervisor("shop", children=[floor]) as shop:
        began = trio.current_time()
        await shop.terminate("floor")
        assert trio.current_time() - began == 3
    assert log == []


async def test_a_supervisor_that_is_killed_brutally_leaves_nobody() -> None:
    floor = SupervisorSpec(
        "floor", children=[ChildSpec(name, idle) for name in "ab"], shutdown=Shutdown.BRUTAL
    )
    async with nothing_left(), open_supervisor("shop", children=[floor]) as shop:
        await shop.terminate("floor")


async def test_a_dynamic_supervisor_that_is_killed_in_its_stop_kills_what_is_left(
    autojump_clock: MockClock,
) -> None:
    log: list[str] = []
    slow = ChildSpec("slow", cleaning_for(10, log, "slow"), shutdown=Shutdown.INFINITE)
    pool = SupervisorSpec("pool", strategy=Strategy.DYNAMIC, children=[slow, slow], shutdown=3)
    async with nothing_left(), open_supervisor("shop", children=[pool]) as shop:
        began = trio.current_time()
        await shop.terminate("pool")
        assert trio.current_time() - began == 3
    assert log == []
