"""When a start is over: at the first receive or at a word; or by its failure, or its deadline."""

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from supervisors import (
    ChildSpec,
    Crashed,
    ExitKind,
    Ignore,
    Inbox,
    OrderlyExit,
    Phase,
    Ready,
    Restart,
    StartFailed,
    Strategy,
    Stuck,
    SupervisorSpec,
    open_supervisor,
)
from supervisors.testing import crash, nothing_left, watch
from tests.supervisors.till import Add, Jam, cleaning_for, failing_from_life, idle, till

EVERY_STRATEGY = pytest.mark.parametrize("strategy", list(Strategy))


@EVERY_STRATEGY
async def test_a_start_is_over_at_the_first_receive(
    strategy: Strategy, autojump_clock: MockClock
) -> None:
    async def preparing(inbox: Inbox[object]) -> None:
        await trio.sleep(3)
        await idle(inbox)

    async with open_supervisor("shop", strategy=strategy) as shop:
        began = trio.current_time()
        address = await shop.start(ChildSpec("clerk", preparing))
        assert trio.current_time() - began == 3
        assert address.phase is Phase.RUNNING


async def test_a_start_is_over_when_the_actor_says_so(autojump_clock: MockClock) -> None:
    async def quick(inbox: Inbox[object]) -> None:
        await trio.sleep(1)
        inbox.ready({"port": 80})
        inbox.ready("said twice, heard once")
        await trio.sleep(100)

    async with open_supervisor("shop") as shop:
        began = trio.current_time()
        address = await shop.start(ChildSpec("door", quick))
        assert trio.current_time() - began == 1
        assert address.info == {"port": 80}


async def test_a_child_that_is_ready_may_take_its_time_to_receive(
    autojump_clock: MockClock,
) -> None:
    async def slow(inbox: Inbox[object]) -> None:
        inbox.ready()
        await trio.sleep(100)
        await idle(inbox)

    async with open_supervisor("shop") as shop:
        began = trio.current_time()
        await shop.start(ChildSpec("slow", slow, start_timeout=1))
        assert trio.current_time() == began
        await trio.sleep(50)
        assert (await shop.count()).active == 1


async def test_each_child_is_ready_before_the_next_one_starts(autojump_clock: MockClock) -> None:
    log: list[str] = []

    def logging(name: str) -> ChildSpec[object]:
        async def actor(inbox: Inbox[object]) -> None:
            log.append(f"{name} starts")
            await trio.sleep(1)
            log.append(f"{name} is ready")
            await idle(inbox)

        return ChildSpec(name, actor)

    async with open_supervisor("shop", children=[logging("a"), logging("b")]):
        assert log == ["a starts", "a is ready", "b starts", "b is ready"]


async def test_a_supervisor_is_ready_when_its_children_are(autojump_clock: MockClock) -> None:
    async def slow(inbox: Inbox[object]) -> None:
        await trio.sleep(2)
        await idle(inbox)

    async with open_supervisor("shop") as shop:
        began = trio.current_time()
        await shop.start(SupervisorSpec("floor", children=[ChildSpec("slow", slow)]))
        assert trio.current_time() - began == 2


@EVERY_STRATEGY
async def test_a_death_before_readiness_fails_the_start_at_once(strategy: Strategy) -> None:
    async with open_supervisor("shop", strategy=strategy) as shop:
        with pytest.raises(StartFailed, match=r"shop/frail failed to start \(crashed") as failure:
            await shop.start(ChildSpec("frail", failing_from_life(1)))
        assert isinstance(failure.value.__cause__, Jam)
        assert failure.value.path == "shop/frail"
        assert failure.value.exit.kind is ExitKind.CRASHED
        await wait_all_tasks_blocked()
        assert await shop.children() == []


@EVERY_STRATEGY
async def test_a_start_that_takes_too_long_fails(
    strategy: Strategy, autojump_clock: MockClock
) -> None:
    async def dawdling(_: Inbox[object]) -> None:
        await trio.sleep_forever()

    async with open_supervisor("shop", strategy=strategy) as shop:
        began = trio.current_time()
        with pytest.raises(StartFailed, match="within 2 s") as failure:
            await shop.start(ChildSpec("dawdling", dawdling, start_timeout=2))
        assert isinstance(failure.value.__cause__, TimeoutError)
        assert "inbox.ready()" in str(failure.value.__cause__)
        assert trio.current_time() - began == 2


async def test_the_start_timeout_ends_with_the_start(autojump_clock: MockClock) -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till, start_timeout=2))
        await trio.sleep(100)
        assert await address.ask(Add(1)) == 1
        assert shop.tree().children[0].life == 1


async def test_a_start_that_never_ends_may_be_wanted(autojump_clock: MockClock) -> None:
    async def slow(inbox: Inbox[object]) -> None:
        await trio.sleep(80_000)
        await idle(inbox)

    async with open_supervisor("shop") as shop:
        await shop.start(ChildSpec("slow", slow, start_timeout=float("inf")))
        assert (await shop.count()).active == 1


async def test_an_initial_failure_stops_the_started_ones_in_reverse_and_is_not_retried() -> None:
    log: list[str] = []
    children = [
        ChildSpec("a", cleaning_for(0, log, "a")),
        ChildSpec("b", cleaning_for(0, log, "b")),
        ChildSpec("frail", failing_from_life(1)),
        ChildSpec("never", cleaning_for(0, log, "never")),
    ]
    async with nothing_left():
        with pytest.raises(StartFailed, match="shop/frail failed to start"):
            async with open_supervisor("shop", intensity=100, children=children):
                raise AssertionError("the block must not run")
    assert log == ["b", "a"]


async def test_a_failure_deep_in_the_tree_fails_the_start_of_the_whole() -> None:
    floor = SupervisorSpec("floor", children=[ChildSpec("frail", failing_from_life(1))])
    async with nothing_left():
        with pytest.raises(StartFailed, match=r"shop/floor failed to start .*shop/floor/frail"):
            async with open_supervisor("shop", children=[floor]):
                raise AssertionError("the block must not run")


async def test_a_restart_that_dawdles_counts_as_a_failed_attempt(
    autojump_clock: MockClock,
) -> None:
    async def dawdling_once(inbox: Inbox[object]) -> None:
        if inbox.life == 2:
            await trio.sleep_forever()
        await idle(inbox)

    async with open_supervisor("shop", intensity=2, period=100) as shop:
        address = await shop.start(ChildSpec("clerk", dawdling_once, start_timeout=2))
        with watch(shop) as watching:
            began = trio.current_time()
            await crash(address)
            ready = await watching.next(Ready)
            crashes = [notice for notice in watching.seen if isinstance(notice, Crashed)]
        assert ready.life == 3
        assert ready.time - began == 2
        assert isinstance(crashes[1].error, TimeoutError)


@EVERY_STRATEGY
async def test_a_child_that_does_not_even_fail_in_time_is_left_behind(
    strategy: Strategy, autojump_clock: MockClock
) -> None:
    release = trio.Event()

    async def hanging(inbox: Inbox[object]) -> None:
        with trio.CancelScope(shield=True):
            await release.wait()
        inbox.ready("too late")
        await inbox.receive()

    async with nothing_left(), open_supervisor("shop", strategy=strategy) as shop:
        began = trio.current_time()
        with watch(shop) as watching:
            with pytest.raises(StartFailed, match="left behind"):
                await shop.start(ChildSpec("hanging", hanging, start_timeout=2, shutdown=3))
            await watching.next(Stuck, "shop/hanging")
        assert trio.current_time() - began == 2 + 3 + 1
        release.set()
        await wait_all_tasks_blocked()
        assert await shop.children() == []


@pytest.mark.parametrize("restart", [Restart.PERMANENT, Restart.TRANSIENT])
async def test_an_ignored_start_keeps_the_spec_without_a_life(restart: Restart) -> None:
    async def ignoring(_: Inbox[object]) -> None:
        raise Ignore("nothing to do here")

    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("hint", ignoring, restart=restart))
        assert address.phase is Phase.STOPPED
        assert (await shop.count()).specs == 1


@pytest.mark.parametrize("farewell", [None, OrderlyExit("nothing to do")])
async def test_an_orderly_end_before_readiness_is_no_failure(farewell: OrderlyExit | None) -> None:
    async def brief(_: Inbox[object]) -> None:
        if farewell is not None:
            raise farewell

    async with open_supervisor("shop") as shop:
        spec = ChildSpec("brief", brief, restart=Restart.TRANSIENT)
        address = await shop.start(spec)
        await wait_all_tasks_blocked()
        assert address.phase is Phase.STOPPED


async def test_an_actor_that_is_not_async_fails_its_start() -> None:
    def plain(_: Inbox[object]) -> None:
        pass

    async with open_supervisor("shop") as shop:
        with pytest.raises(StartFailed) as failure:
            await shop.start(ChildSpec("plain", plain))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        assert isinstance(failure.value.__cause__, TypeError)
