"""Delayed restarts: how the delay grows, what happens meanwhile, and what cancels it."""

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from supervisors import (
    AlreadyPresent,
    Backoff,
    ChildCount,
    ChildRestarting,
    ChildSpec,
    Inbox,
    Phase,
    Ready,
    Restart,
    Restarting,
    Strategy,
    Supervisor,
    SupervisorGaveUp,
    SupervisorSpec,
    open_supervisor,
)
from supervisors.testing import crash, nothing_left, watch
from tests.supervisors.till import Actor, Jam, idle

EVERY_STRATEGY = pytest.mark.parametrize("strategy", list(Strategy))
TEN = Backoff(minimum=10, maximum=10, jitter=0)


def fragile_for(seconds: float) -> Actor:
    """An actor each life of which crashes that long after it was ready."""

    async def actor(inbox: Inbox[object]) -> None:
        inbox.ready()
        await trio.sleep(seconds)
        raise Jam("again")

    return actor


async def delays(shop: Supervisor, backoff: Backoff, lifetime: float, count: int) -> list[float]:
    """The first delays of a child whose lives all last that long."""
    with watch(shop) as watching:
        await shop.start(ChildSpec("fragile", fragile_for(lifetime), backoff=backoff))
        return [(await watching.next(Restarting)).delay for _ in range(count)]


@EVERY_STRATEGY
async def test_the_delay_grows_up_to_the_maximum(
    strategy: Strategy, autojump_clock: MockClock
) -> None:
    backoff = Backoff(minimum=1, maximum=9, factor=2, jitter=0)
    async with open_supervisor("shop", strategy=strategy, intensity=100) as shop:
        assert await delays(shop, backoff, lifetime=1, count=6) == [1, 2, 4, 8, 9, 9]


async def test_the_delay_is_waited_for(autojump_clock: MockClock) -> None:
    backoff = Backoff(minimum=1, maximum=100, factor=10, jitter=0)
    async with open_supervisor("shop", intensity=100) as shop:
        with watch(shop) as watching:
            began = trio.current_time()
            await shop.start(ChildSpec("fragile", fragile_for(1), backoff=backoff))
            ready_at = [(await watching.next(Ready)).time - began for _ in range(4)]
    assert ready_at == [0, 2, 13, 114]


async def test_jitter_makes_the_delay_longer_by_at_most_its_share(
    autojump_clock: MockClock,
) -> None:
    backoff = Backoff(minimum=10, maximum=10, jitter=0.5)
    async with open_supervisor("shop", intensity=1000) as shop:
        drawn = await delays(shop, backoff, lifetime=1, count=200)
    assert min(drawn) >= 10
    assert max(drawn) < 15
    assert max(drawn) - min(drawn) > 1


async def test_a_life_of_reset_after_seconds_starts_the_row_anew(
    autojump_clock: MockClock,
) -> None:
    backoff = Backoff(minimum=1, maximum=100, jitter=0, reset_after=5)
    async with open_supervisor("shop", intensity=100) as shop:
        assert await delays(shop, backoff, lifetime=5, count=3) == [1, 1, 1]
    async with open_supervisor("shop", intensity=100) as shop:
        assert await delays(shop, backoff, lifetime=4.9, count=3) == [1, 2, 4]


async def test_a_failed_restart_is_delayed_again(autojump_clock: MockClock) -> None:
    async def ready_in_its_fourth_life(inbox: Inbox[object]) -> None:
        if inbox.life in (2, 3):
            raise Jam("not yet")
        await idle(inbox)

    backoff = Backoff(minimum=1, maximum=100, factor=10, jitter=0)
    async with open_supervisor("shop", intensity=100) as shop:
        spec = ChildSpec("late", ready_in_its_fourth_life, backoff=backoff)
        address = await shop.start(spec)
        with watch(shop) as watching:
            await crash(address)
            began = trio.current_time()
            ready = await watching.next(Ready)
        assert ready.life == 4
        assert ready.time - began == 1 + 10 + 100


@EVERY_STRATEGY
async def test_meanwhile_the_child_is_restarting_and_its_supervisor_answers(
    strategy: Strategy, autojump_clock: MockClock
) -> None:
    async with open_supervisor("shop", strategy=strategy) as shop:
        address = await shop.start(ChildSpec("slow", idle, backoff=TEN))
        await crash(address)
        await wait_all_tasks_blocked()
        assert address.phase is Phase.RESTARTING
        assert [child.phase for child in await shop.children()] == [Phase.RESTARTING]
        assert await shop.count() == ChildCount(specs=1, active=0, supervisors=0, workers=1)
        await trio.sleep(10.1)
        assert (await shop.count()).active == 1


async def test_a_pending_restart_refuses_what_would_cross_it() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("slow", idle, backoff=TEN))
        await crash(address)
        await wait_all_tasks_blocked()
        with pytest.raises(AlreadyPresent, match=r"shop/slow is known \(restarting\)"):
            await shop.start(ChildSpec("slow", idle))
        with pytest.raises(ChildRestarting):
            await shop.restart("slow")
        with pytest.raises(ChildRestarting):
            await shop.delete("slow")


@pytest.mark.parametrize("strategy", [Strategy.ONE_FOR_ONE, Strategy.REST_FOR_ONE])
async def test_terminate_cancels_a_pending_restart(
    strategy: Strategy, autojump_clock: MockClock
) -> None:
    async with open_supervisor("shop", strategy=strategy) as shop:
        address = await shop.start(ChildSpec("slow", idle, backoff=TEN))
        await crash(address)
        await wait_all_tasks_blocked()
        await shop.terminate("slow")
        assert address.phase is Phase.STOPPED
        with watch(shop) as watching:
            await trio.sleep(100)
            assert watching.all() == []
        await shop.restart("slow")
        assert lives(shop) == {"slow": (2, UP)}


async def test_terminate_cancels_a_pending_restart_of_a_dynamic_child(
    autojump_clock: MockClock,
) -> None:
    async with open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        address = await shop.start(ChildSpec("slow", idle, backoff=TEN))
        await crash(address)
        await wait_all_tasks_blocked()
        await shop.terminate(address)
        assert (await shop.count()).specs == 0
        with watch(shop) as watching:
            await trio.sleep(100)
            assert watching.all() == []


async def test_a_delay_that_ends_after_a_terminate_and_restart_starts_nothing_twice(
    autojump_clock: MockClock,
) -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("slow", idle, backoff=TEN))
        await crash(address)
        await wait_all_tasks_blocked()
        await shop.terminate("slow")
        await shop.restart("slow")
        await trio.sleep(100)
        assert shop.tree().children[0].life == 2


@EVERY_STRATEGY
async def test_the_end_of_the_tree_does_not_wait_for_a_pending_restart(
    strategy: Strategy, autojump_clock: MockClock
) -> None:
    began = trio.current_time()
    async with nothing_left(), open_supervisor("shop", strategy=strategy) as shop:
        await crash(await shop.start(ChildSpec("slow", idle, backoff=TEN)))
        await wait_all_tasks_blocked()
    assert trio.current_time() - began < 1


class Group:
    """A tree of the children a, b and c, of which `slow` waits 10 s before a restart."""

    def __init__(self, strategy: Strategy, slow: str, intensity: int = 5) -> None:
        self.specs = {
            name: ChildSpec(name, idle, backoff=TEN if name in slow else None) for name in "abc"
        }
        self.open = open_supervisor(
            "shop", strategy=strategy, intensity=intensity, children=list(self.specs.values())
        )


def lives(shop: Supervisor) -> dict[str, tuple[int, Phase]]:
    return {node.name: (node.life, node.phase) for node in shop.tree().children}


UP, WAITING = Phase.RUNNING, Phase.RESTARTING


async def test_rest_for_one_holds_the_later_ones_back_with_the_delayed(
    autojump_clock: MockClock,
) -> None:
    group = Group(Strategy.REST_FOR_ONE, slow="b")
    async with group.open as shop:
        await crash(shop.address(group.specs["b"]))
        await trio.sleep(9)
        assert lives(shop) == {"a": (1, UP), "b": (1, WAITING), "c": (1, WAITING)}
        await trio.sleep(2)
        assert lives(shop) == {"a": (1, UP), "b": (2, UP), "c": (2, UP)}


async def test_rest_for_one_restarts_the_delayed_with_an_earlier_one_that_failed_since(
    autojump_clock: MockClock,
) -> None:
    group = Group(Strategy.REST_FOR_ONE, slow="b")
    async with group.open as shop:
        await crash(shop.address(group.specs["b"]))
        await trio.sleep(5)
        await crash(shop.address(group.specs["a"]))
        await wait_all_tasks_blocked()
        assert lives(shop) == {"a": (2, UP), "b": (2, UP), "c": (2, UP)}
        await trio.sleep(100)
        assert lives(shop) == {"a": (2, UP), "b": (2, UP), "c": (2, UP)}


async def test_rest_for_one_waits_for_the_earlier_one_when_both_are_delayed(
    autojump_clock: MockClock,
) -> None:
    group = Group(Strategy.REST_FOR_ONE, slow="ab")
    async with group.open as shop:
        await crash(shop.address(group.specs["b"]))
        await trio.sleep(5)
        await crash(shop.address(group.specs["a"]))
        await trio.sleep(9)
        assert lives(shop) == {"a": (1, WAITING), "b": (1, WAITING), "c": (1, WAITING)}
        await trio.sleep(2)
        assert lives(shop) == {"a": (2, UP), "b": (2, UP), "c": (2, UP)}


@pytest.mark.parametrize("strategy", [Strategy.REST_FOR_ONE, Strategy.ONE_FOR_ALL])
async def test_one_that_fails_while_an_earlier_one_is_delayed_comes_back_with_it(
    strategy: Strategy, autojump_clock: MockClock
) -> None:
    group = Group(strategy, slow="a", intensity=1)
    async with group.open as shop:
        await crash(shop.address(group.specs["a"]))
        await wait_all_tasks_blocked()
        late = await shop.start(ChildSpec("late", idle))
        await crash(late)
        await trio.sleep(5)
        assert late.phase is WAITING
        await trio.sleep(6)
        assert lives(shop) == {"a": (2, UP), "b": (2, UP), "c": (2, UP), "late": (2, UP)}


async def test_one_that_runs_when_the_delay_is_over_is_left_alone(
    autojump_clock: MockClock,
) -> None:
    group = Group(Strategy.ONE_FOR_ALL, slow="a")
    async with group.open as shop:
        await crash(shop.address(group.specs["a"]))
        await wait_all_tasks_blocked()
        await shop.start(ChildSpec("late", idle))
        await trio.sleep(11)
        assert lives(shop) == {"a": (2, UP), "b": (2, UP), "c": (2, UP), "late": (1, UP)}


async def test_terminating_the_delayed_one_puts_those_it_held_back_to_rest(
    autojump_clock: MockClock,
) -> None:
    group = Group(Strategy.REST_FOR_ONE, slow="b")
    async with group.open as shop:
        await crash(shop.address(group.specs["b"]))
        await wait_all_tasks_blocked()
        await shop.terminate("b")
        stopped = (1, Phase.STOPPED)
        assert lives(shop) == {"a": (1, UP), "b": stopped, "c": stopped}
        await trio.sleep(100)
        assert lives(shop) == {"a": (1, UP), "b": stopped, "c": stopped}


async def test_terminating_one_that_is_held_back_leaves_the_delayed_one_pending(
    autojump_clock: MockClock,
) -> None:
    group = Group(Strategy.REST_FOR_ONE, slow="a")
    async with group.open as shop:
        await crash(shop.address(group.specs["a"]))
        await wait_all_tasks_blocked()
        await shop.terminate("b")
        assert lives(shop)["c"] == (1, WAITING)
        await trio.sleep(11)
        assert lives(shop)["a"] == (2, UP)
        assert lives(shop)["c"] == (2, UP)


async def test_a_delayed_restart_of_a_supervisor_brings_its_children_back(
    autojump_clock: MockClock,
) -> None:
    floor = SupervisorSpec("floor", children=[ChildSpec("till", idle)], backoff=TEN)
    async with open_supervisor("shop", children=[floor]) as shop:
        await crash(shop.supervisor("floor"))
        await trio.sleep(9)
        assert all(node.phase is not UP for node in shop.tree().children[0].walk())
        await trio.sleep(2)
        assert [node.phase for node in shop.tree().walk()] == [UP, UP, UP]


async def test_a_temporary_child_has_no_use_for_a_backoff(autojump_clock: MockClock) -> None:
    async with open_supervisor("shop") as shop:
        spec = ChildSpec("once", idle, restart=Restart.TEMPORARY, backoff=TEN)
        await crash(await shop.start(spec))
        await trio.sleep(100)
        assert (await shop.count()).specs == 0


async def test_the_restart_budget_counts_delayed_restarts_too(autojump_clock: MockClock) -> None:
    began = trio.current_time()
    spec = ChildSpec("fragile", fragile_for(1), backoff=TEN)
    with pytest.raises(SupervisorGaveUp):
        async with open_supervisor("shop", intensity=3, period=1000, children=[spec]):
            await trio.sleep_forever()
    assert trio.current_time() - began == 4 * 1 + 3 * 10
