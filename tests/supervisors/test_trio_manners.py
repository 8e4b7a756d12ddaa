"""What trio adds to OTP's list: cancellation from outside, errors for the host, groups, nesting."""

import signal
import time
from contextvars import ContextVar
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from supervisors import (
    Address,
    Backoff,
    ChildSpec,
    Crashed,
    ExitKind,
    Ignore,
    Inbox,
    OrderlyExit,
    Phase,
    Ready,
    Request,
    Restart,
    Shutdown,
    Stopped,
    Strategy,
    Stuck,
    Supervisor,
    SupervisorGaveUp,
    SupervisorSpec,
    open_supervisor,
)
from supervisors.testing import InjectedCrash, crash, nothing_left, watch
from tests.supervisors.till import Add, Close, Jam, cleaning_for, crash_and_stay, idle, till

EVERY_STRATEGY = pytest.mark.parametrize("strategy", list(Strategy))


async def test_a_cancelled_host_stops_its_tree_in_order(autojump_clock: MockClock) -> None:
    log: list[str] = []
    children = [ChildSpec(name, cleaning_for(1, log, name)) for name in "abc"]
    async with nothing_left():
        began = trio.current_time()
        with trio.move_on_after(10) as host:
            async with open_supervisor("shop", children=children):
                await trio.sleep_forever()
        assert host.cancelled_caught
        assert log == ["c", "b", "a"]
        assert trio.current_time() - began == 10 + 3


async def test_a_host_that_is_cancelled_already_starts_nothing_that_stays() -> None:
    log: list[str] = []
    async with nothing_left():
        with trio.CancelScope() as host:
            host.cancel()
            async with open_supervisor(
                "shop", children=[ChildSpec("a", cleaning_for(0, log, "a"))]
            ):
                raise AssertionError("the block must not run")
        assert host.cancelled_caught


@EVERY_STRATEGY
async def test_a_cancelled_host_mid_start_stops_what_was_started(
    strategy: Strategy, autojump_clock: MockClock
) -> None:
    log: list[str] = []

    async def dawdling(_: Inbox[object]) -> None:
        await trio.sleep(20)

    children = [ChildSpec("a", cleaning_for(1, log, "a")), ChildSpec("dawdling", dawdling)]
    async with nothing_left():
        with trio.move_on_after(10) as host:
            async with open_supervisor("shop", strategy=strategy, children=children):
                raise AssertionError("the block must not run")
        assert host.cancelled_caught
    assert log == ["a"]


@pytest.mark.parametrize("strategy", [Strategy.ONE_FOR_ALL, Strategy.REST_FOR_ONE])
async def test_a_cancelled_host_mid_restart_stops_what_is_up(
    strategy: Strategy, autojump_clock: MockClock
) -> None:
    log: list[str] = []

    async def slow_to_return(inbox: Inbox[object]) -> None:
        if inbox.life > 1:
            await trio.sleep(20)
        await idle(inbox)

    children = [
        ChildSpec("a", cleaning_for(1, log, "a")),
        ChildSpec("slow", slow_to_return),
        ChildSpec("b", cleaning_for(1, log, "b")),
    ]
    async with nothing_left():
        with trio.move_on_after(10) as host:
            async with open_supervisor("shop", strategy=strategy, children=children) as shop:
                await crash(shop.address(children[0]))
                await trio.sleep_forever()
        assert host.cancelled_caught
    assert log == ["a", "b", "a"]


@EVERY_STRATEGY
async def test_a_cancelled_host_mid_backoff_does_not_wait_for_it(
    strategy: Strategy, autojump_clock: MockClock
) -> None:
    spec = ChildSpec("slow", idle, backoff=Backoff(minimum=100, maximum=100))
    async with nothing_left():
        began = trio.current_time()
        with trio.move_on_after(10) as host:
            async with open_supervisor("shop", strategy=strategy, children=[spec]) as shop:
                await crash(shop.address(spec))
                await trio.sleep_forever()
        assert host.cancelled_caught
        assert trio.current_time() - began == 10


async def test_an_error_of_the_host_leaves_its_block_after_the_ordered_stop() -> None:
    log: list[str] = []
    async with nothing_left():
        with pytest.raises(Jam, match="of the host"):
            async with open_supervisor(
                "shop", children=[ChildSpec("a", cleaning_for(0, log, "a"))]
            ):
                raise Jam("of the host")
    assert log == ["a"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), GeneratorExit()])
@EVERY_STRATEGY
async def test_what_is_no_exception_stops_the_tree_and_reaches_the_host(
    strategy: Strategy, error: BaseException, autojump_clock: MockClock
) -> None:
    log: list[str] = []

    async def interrupted(inbox: Inbox[object]) -> None:
        await inbox.receive()
        raise error

    bad = ChildSpec("bad", interrupted)
    children = [*(ChildSpec(name, cleaning_for(1, log, name)) for name in "ab"), bad]
    async with nothing_left():
        with pytest.raises(type(error)) as raised:
            async with open_supervisor("shop", strategy=strategy, children=children) as shop:
                await close_and_stay(shop.address(bad))
    assert raised.value is error
    assert sorted(log) == ["a", "b"]


async def test_what_is_no_exception_reaches_the_host_from_deep_in_the_tree_and_mid_start() -> None:
    async def interrupted(_: Inbox[object]) -> None:
        raise KeyboardInterrupt

    log: list[str] = []
    children = [ChildSpec("a", cleaning_for(0, log, "a")), ChildSpec("bad", interrupted)]
    async with nothing_left():
        with pytest.raises(KeyboardInterrupt):
            async with open_supervisor(
                "shop", children=[SupervisorSpec("floor", children=children)]
            ):
                raise AssertionError("the block must not run")
    assert log == ["a"]


async def test_the_first_of_two_errors_for_the_host_is_raised() -> None:
    async def interrupted(inbox: Inbox[object]) -> None:
        try:
            await idle(inbox)
        finally:
            raise SystemExit(inbox.address.path)

    children = [ChildSpec(name, interrupted) for name in "ab"]
    with pytest.raises(SystemExit, match="shop/b"):
        async with open_supervisor("shop", children=children):
            pass


async def test_a_real_interrupt_while_a_child_computes_stops_the_tree_in_order() -> None:
    log: list[str] = []

    async def computing(inbox: Inbox[object]) -> None:
        await inbox.receive()
        signal.raise_signal(signal.SIGINT)
        for _ in range(1000):
            log.append("computed on")
        await trio.sleep_forever()

    busy = ChildSpec("computing", computing)
    children = [ChildSpec("a", cleaning_for(0, log, "a")), busy]
    async with nothing_left():
        with pytest.raises(KeyboardInterrupt):
            async with open_supervisor("shop", children=children) as shop:
                await close_and_stay(shop.address(busy))
    assert log == ["a"]


async def test_an_interrupt_of_the_host_stops_the_tree_in_order() -> None:
    log: list[str] = []
    async with nothing_left():
        with pytest.raises(KeyboardInterrupt):
            async with open_supervisor(
                "shop", children=[ChildSpec("a", cleaning_for(0, log, "a"))]
            ):
                signal.raise_signal(signal.SIGINT)
    assert log == ["a"]


async def close_and_stay(address: Address[Any]) -> None:
    await address.tell(Close())
    await trio.sleep_forever()


def nursery_of(*errors: BaseException) -> ChildSpec[Close]:
    """A child whose own nursery ends with these errors."""

    async def fail(error: BaseException) -> None:
        raise error

    async def actor(inbox: Inbox[Close]) -> None:
        await inbox.receive()
        async with trio.open_nursery() as nursery:
            for error in errors:
                nursery.start_soon(fail, error)

    return ChildSpec("parent", actor, restart=Restart.TRANSIENT)


async def test_one_error_of_a_childs_own_nursery_is_unwrapped() -> None:
    async with open_supervisor("shop") as shop:
        with watch(shop) as watching:
            await (await shop.start(nursery_of(Jam("alone")))).tell(Close())
            crashed = await watching.next(Crashed)
            await watching.next(Ready)
    assert isinstance(crashed.error, Jam)


async def test_several_errors_of_a_childs_own_nursery_stay_a_group() -> None:
    async with open_supervisor("shop") as shop:
        with watch(shop) as watching:
            await (await shop.start(nursery_of(Jam("one"), Jam("two")))).tell(Close())
            crashed = await watching.next(Crashed)
    with pytest.RaisesGroup(Jam, Jam):
        raise crashed.error or AssertionError


async def test_an_orderly_exit_in_a_childs_own_nursery_is_an_orderly_exit() -> None:
    async with open_supervisor("shop") as shop:
        with watch(shop) as watching:
            await (await shop.start(nursery_of(OrderlyExit("done")))).tell(Close())
            stopped = await watching.next(Stopped)
            await wait_all_tasks_blocked()
        assert stopped.exit.kind is ExitKind.SHUTDOWN
        assert shop.tree().children[0].phase is Phase.STOPPED


async def test_an_orderly_exit_beside_a_crash_is_a_crash() -> None:
    async with open_supervisor("shop") as shop:
        with watch(shop) as watching:
            await (await shop.start(nursery_of(OrderlyExit("done"), Jam("not done")))).tell(Close())
            assert isinstance((await watching.next(Crashed)).error, ExceptionGroup)


async def test_an_interrupt_in_a_childs_own_nursery_reaches_the_host() -> None:
    with pytest.raises(KeyboardInterrupt):
        async with open_supervisor("shop") as shop:
            await close_and_stay(await shop.start(nursery_of(KeyboardInterrupt())))
    with pytest.raises(BaseExceptionGroup) as several:
        async with open_supervisor("shop") as shop:
            await close_and_stay(await shop.start(nursery_of(KeyboardInterrupt(), Jam("too"))))
    assert several.group_contains(KeyboardInterrupt)


async def test_an_ignore_in_a_childs_own_nursery_is_an_ignore() -> None:
    async def ignoring(_: Inbox[object]) -> None:
        async with trio.open_nursery():
            raise Ignore

    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("hint", ignoring))
        assert address.phase is Phase.STOPPED


async def test_an_error_of_a_child_never_cancels_its_siblings() -> None:
    async with open_supervisor("shop", intensity=100) as shop:
        sibling = await shop.start(ChildSpec("sibling", till))
        await sibling.ask(Add(5))
        for number in range(50):
            await crash(await shop.start(ChildSpec(f"crasher {number}", idle)))
        await wait_all_tasks_blocked()
        assert await sibling.ask(Add(0)) == 5


async def test_a_child_that_blocks_the_loop_past_its_deadline_is_not_reported_stuck() -> None:
    async def blocking(inbox: Inbox[object]) -> None:
        inbox.ready()
        try:
            await trio.sleep_forever()
        finally:
            time.sleep(0.05)  # noqa: ASYNC251  the point of this test

    for shutdown in (0.01, 0, Shutdown.BRUTAL):
        async with open_supervisor("shop") as shop:
            await shop.start(ChildSpec("blocking", blocking, shutdown=shutdown))
            with watch(shop) as watching:
                await shop.terminate("blocking")
                assert not any(isinstance(notice, Stuck) for notice in watching.all())


async def test_a_crash_of_a_supervisor_stops_its_children_in_order_and_restarts_it(
    autojump_clock: MockClock,
) -> None:
    log: list[str] = []
    static = [ChildSpec(name, cleaning_for(1, log, name)) for name in "ab"]
    async with open_supervisor("shop", children=[SupervisorSpec("floor", children=static)]) as shop:
        floor = shop.supervisor("floor")
        await floor.start(ChildSpec("added", cleaning_for(1, log, "added")))
        with watch(shop) as watching:
            await crash(floor)
            crashed = await watching.next(Crashed, "shop/floor")
            await watching.next(Ready, "shop/floor")
        assert isinstance(crashed.error, InjectedCrash)
        assert log == ["added", "b", "a"]
        assert [child.name for child in await floor.children()] == ["b", "a"]


async def test_a_crash_of_the_root_reaches_the_host_after_the_ordered_stop() -> None:
    log: list[str] = []
    children = [ChildSpec("a", cleaning_for(0, log, "a"))]
    with pytest.raises(Jam, match="at the top"):
        async with open_supervisor("shop", children=children) as shop:
            await crash_and_stay(shop, Jam("at the top"))
    assert log == ["a"]


async def test_giving_up_cancels_the_block_and_names_the_crash_as_its_cause() -> None:
    spec = ChildSpec("till", idle)
    async with nothing_left():
        with pytest.raises(SupervisorGaveUp) as gave_up:
            async with open_supervisor("shop", intensity=0, period=7, children=[spec]) as shop:
                await crash_and_stay(shop.address(spec), Jam("the last straw"))
    assert "shop gave up: shop/till needed more" in str(gave_up.value)
    assert "0 restarts within 7 s" in str(gave_up.value)
    assert isinstance(gave_up.value.__cause__, Jam)


CUSTOMER: ContextVar[str] = ContextVar("CUSTOMER", default="nobody")


class WhoIsThere(Request[str]):
    """Answered with the customer in the actor's context."""


async def doorman(inbox: Inbox[WhoIsThere]) -> None:
    async for request in inbox:
        inbox.reply(request, CUSTOMER.get())


@EVERY_STRATEGY
async def test_context_variables_of_the_host_reach_its_actors(strategy: Strategy) -> None:
    CUSTOMER.set("aria")
    first = ChildSpec("first", doorman)
    async with open_supervisor("shop", strategy=strategy, children=[first]) as shop:
        later = await shop.start(ChildSpec("later", doorman))
        assert await shop.address(first).ask(WhoIsThere()) == "aria"
        assert await later.ask(WhoIsThere()) == "aria"
        await crash(later)
        await wait_all_tasks_blocked()
        assert await later.ask(WhoIsThere()) == "aria"


async def test_an_actor_can_have_a_tree_of_its_own(autojump_clock: MockClock) -> None:
    log: list[str] = []
    inner: list[Supervisor] = []

    async def hosting(inbox: Inbox[object]) -> None:
        children = [ChildSpec(name, cleaning_for(1, log, name)) for name in "ab"]
        async with open_supervisor("annex", children=children) as annex:
            inner.append(annex)
            await idle(inbox)

    async with nothing_left(), open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("host", hosting))
        await crash(address)
        await wait_all_tasks_blocked()
        assert log == ["b", "a"]
        assert (inner[0].phase, inner[1].phase) == (Phase.STOPPED, Phase.RUNNING)
    assert log == ["b", "a", "b", "a"]


async def test_a_tree_that_gives_up_inside_an_actor_is_a_matter_of_its_supervisor() -> None:
    async def hosting(inbox: Inbox[Close]) -> None:
        async with open_supervisor("annex", intensity=0) as annex:
            address = await annex.start(ChildSpec("till", till))
            await inbox.receive()
            await crash(address)
            await trio.sleep_forever()

    async with nothing_left(), open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("host", hosting))
        with watch(shop) as watching:
            await address.tell(Close())
            stopped = await watching.next(Stopped, "shop/host")
            await watching.next(Ready, "shop/host")
        assert isinstance(stopped.exit.error, SupervisorGaveUp)
