"""The supervisor whose children come and go: side by side, up to a limit, stopped in parallel."""

from contextlib import suppress

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from supervisors import (
    Address,
    ChildNotFound,
    ChildSpec,
    Ignore,
    Inbox,
    OrderlyExit,
    Phase,
    Restart,
    StartFailed,
    Strategy,
    Stuck,
    Supervisor,
    SupervisorGaveUp,
    SupervisorSpec,
    TooManyChildren,
    WrongStrategy,
    open_supervisor,
)
from supervisors.testing import crash, freeze, nothing_left, watch
from tests.supervisors.till import (
    Actor,
    Add,
    Close,
    Jam,
    cleaning_for,
    crash_and_stay,
    failing_from_life,
    idle,
    till,
)

DYNAMIC = Strategy.DYNAMIC


def ready_after(seconds: float) -> Actor:
    async def actor(inbox: Inbox[object]) -> None:
        await trio.sleep(seconds)
        await idle(inbox)

    return actor


async def names(pool: Supervisor) -> list[str]:
    return sorted(child.name for child in await pool.children())


async def test_children_start_side_by_side(autojump_clock: MockClock) -> None:
    began = trio.current_time()
    async with open_supervisor("pool", strategy=DYNAMIC) as pool:
        async with trio.open_nursery() as nursery:
            for seconds in (3, 1, 2):
                nursery.start_soon(pool.start, ChildSpec("worker", ready_after(seconds)))
        assert trio.current_time() - began == 3
        assert (await pool.count()).active == 3


async def test_first_children_start_side_by_side_too(autojump_clock: MockClock) -> None:
    began = trio.current_time()
    specs = [ChildSpec(f"worker {seconds}", ready_after(seconds)) for seconds in (3, 1, 2)]
    async with open_supervisor("pool", strategy=DYNAMIC, children=specs):
        assert trio.current_time() - began == 3


async def test_a_first_child_that_fails_fails_the_start_and_stops_the_others() -> None:
    log: list[str] = []
    specs = [
        ChildSpec("good", cleaning_for(0, log, "good")),
        ChildSpec("bad", failing_from_life(1)),
    ]
    async with nothing_left():
        with pytest.raises(StartFailed, match="pool/bad failed to start"):
            async with open_supervisor("pool", strategy=DYNAMIC, children=specs):
                raise AssertionError("the block must not run")
    assert log == ["good"]


async def test_requests_are_served_while_a_child_starts(autojump_clock: MockClock) -> None:
    async with (
        open_supervisor("pool", strategy=DYNAMIC) as pool,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(pool.start, ChildSpec("slow", ready_after(10)))
        await wait_all_tasks_blocked()
        began = trio.current_time()
        quick = await pool.start(ChildSpec("quick", till))
        assert await quick.ask(Add(1)) == 1
        assert await names(pool) == ["quick", "slow"]
        assert trio.current_time() == began


async def test_more_children_than_max_children_are_refused() -> None:
    async with open_supervisor("pool", strategy=DYNAMIC, max_children=2) as pool:
        first = await pool.start(ChildSpec("first", idle))
        await pool.start(ChildSpec("second", idle))
        with pytest.raises(TooManyChildren, match="max_children"):
            await pool.start(ChildSpec("third", idle))
        await pool.terminate(first)
        await pool.start(ChildSpec("third", idle))
        assert await names(pool) == ["second", "third"]


async def test_a_pool_with_room_for_nobody_takes_nobody() -> None:
    async with open_supervisor("pool", strategy=DYNAMIC, max_children=0) as pool:
        with pytest.raises(TooManyChildren):
            await pool.start(ChildSpec("first", idle))


async def test_children_of_one_name_are_numbered() -> None:
    async with open_supervisor("pool", strategy=DYNAMIC) as pool:
        addresses = [await pool.start(ChildSpec("worker", idle)) for _ in range(3)]
        assert [address.path for address in addresses] == [
            "pool/worker",
            "pool/worker#2",
            "pool/worker#3",
        ]
        await pool.terminate("worker#2")
        assert await names(pool) == ["worker", "worker#3"]


async def test_a_number_is_not_given_twice_so_that_no_path_means_two_actors() -> None:
    async with open_supervisor("pool", strategy=DYNAMIC) as pool:
        await pool.start(ChildSpec("worker", idle))
        second = await pool.start(ChildSpec("worker", idle))
        await pool.terminate(second)
        third = await pool.start(ChildSpec("worker", idle))
        assert (second.path, third.path) == ("pool/worker#2", "pool/worker#3")


async def test_all_children_stop_in_parallel(autojump_clock: MockClock) -> None:
    log: list[str] = []
    async with open_supervisor("pool", strategy=DYNAMIC) as pool:
        for seconds in (3, 1, 2):
            await pool.start(ChildSpec("tidy", cleaning_for(seconds, log, f"{seconds} s")))
        began = trio.current_time()
    assert trio.current_time() - began == 3
    assert log == ["1 s", "2 s", "3 s"]


async def test_each_child_has_its_own_time_counted_from_the_same_moment(
    autojump_clock: MockClock,
) -> None:
    log: list[str] = []
    async with open_supervisor("pool", strategy=DYNAMIC) as pool:
        for allowed in (4, 2, 6):
            slow = cleaning_for(100, log, "never")
            await pool.start(ChildSpec("slow", slow, shutdown=allowed))
        began = trio.current_time()
    assert trio.current_time() - began == 6
    assert log == []


async def test_a_child_that_takes_its_time_to_end_holds_up_no_request(
    autojump_clock: MockClock,
) -> None:
    log: list[str] = []
    async with (
        open_supervisor("pool", strategy=DYNAMIC) as pool,
        trio.open_nursery() as nursery,
    ):
        await pool.start(ChildSpec("slow", cleaning_for(3, log, "slow")))
        began = trio.current_time()
        nursery.start_soon(pool.terminate, "slow")
        nursery.start_soon(pool.terminate, "slow")
        await wait_all_tasks_blocked()
        await pool.start(ChildSpec("quick", idle))
        assert trio.current_time() == began
        await pool.terminate("slow")
        assert trio.current_time() - began == 3
        assert log == ["slow"]


async def test_a_crashed_child_is_restarted_alone() -> None:
    async with open_supervisor("pool", strategy=DYNAMIC) as pool:
        crasher, other = [await pool.start(ChildSpec("worker", till)) for _ in range(2)]
        await other.ask(Add(5))
        await crash(crasher)
        await wait_all_tasks_blocked()
        assert await crasher.ask(Add(1)) == 1
        assert await other.ask(Add(1)) == 6


@pytest.mark.parametrize("restart", [Restart.TRANSIENT, Restart.TEMPORARY])
async def test_a_child_that_ended_and_stays_so_is_forgotten(restart: Restart) -> None:
    async with open_supervisor("pool", strategy=DYNAMIC) as pool:
        address = await pool.start(ChildSpec("worker", till, restart=restart))
        await address.tell(Close())
        await wait_all_tasks_blocked()
        assert await names(pool) == []
        assert address.phase is Phase.GONE


async def test_a_child_that_ignores_its_start_is_not_added() -> None:
    async def ignoring(_: Inbox[object]) -> None:
        raise Ignore

    async with open_supervisor("pool", strategy=DYNAMIC) as pool:
        address = await pool.start(ChildSpec("hint", ignoring))
        await wait_all_tasks_blocked()
        assert address.phase is Phase.GONE
        assert await names(pool) == []


async def test_a_child_that_fails_its_first_start_is_not_added_and_not_retried() -> None:
    async with open_supervisor("pool", strategy=DYNAMIC, intensity=0) as pool:
        with pytest.raises(StartFailed, match="life 1 does not start") as failure:
            await pool.start(ChildSpec("frail", failing_from_life(1)))
        assert isinstance(failure.value.__cause__, Jam)
        await wait_all_tasks_blocked()
        assert await names(pool) == []


async def test_a_restart_that_fails_again_and_again_ends_the_pool() -> None:
    log: list[str] = []
    frail = ChildSpec("frail", failing_from_life(2))
    children = [ChildSpec("other", cleaning_for(0, log, "other")), frail]
    with pytest.raises(SupervisorGaveUp) as failure:
        async with open_supervisor(
            "pool", strategy=DYNAMIC, intensity=3, children=children
        ) as pool:
            await crash_and_stay(pool.address(frail), Jam("life 1"))
    assert "life 4 does not start" in str(failure.value.__cause__)
    assert log == ["other"]


async def test_what_has_no_meaning_for_a_pool_is_refused() -> None:
    async with open_supervisor("pool", strategy=DYNAMIC) as pool:
        await pool.start(ChildSpec("worker", idle))
        with pytest.raises(WrongStrategy, match="anew"):
            await pool.restart("worker")
        with pytest.raises(WrongStrategy):
            await pool.delete("worker")
        with pytest.raises(ChildNotFound):
            await pool.terminate("stranger")
        with pytest.raises(WrongStrategy, match="cannot become dynamic, or stop being it"):
            await pool.reload(strategy=Strategy.ONE_FOR_ONE)
        with pytest.raises(WrongStrategy):
            await pool.reload(children=[ChildSpec("other", idle)])


async def test_a_pool_takes_new_options_while_it_runs() -> None:
    async with open_supervisor("pool", strategy=DYNAMIC, max_children=1) as pool:
        await pool.start(ChildSpec("worker", idle))
        await pool.reload(max_children=2)
        await pool.start(ChildSpec("worker", idle))
        assert await names(pool) == ["worker", "worker#2"]


async def test_a_pool_can_hold_supervisors() -> None:
    async with open_supervisor("pool", strategy=DYNAMIC) as pool:
        floor = await pool.start(SupervisorSpec("floor", children=[ChildSpec("till", till)]))
        assert isinstance(floor, Supervisor)
        assert await names(floor) == ["till"]
        assert (await pool.count()).supervisors == 1
        await pool.terminate("floor")
        assert await names(pool) == []


async def end_while_termination_waits(pool: Supervisor, old: Address[object]) -> None:
    """Leave in the pool's mailbox: a request to terminate `old`, its own end, a start."""
    async with trio.open_nursery() as nursery:
        with freeze(pool):
            nursery.start_soon(pool.terminate, "worker")
            await wait_all_tasks_blocked()
            await crash(old)
            nursery.start_soon(pool.start, ChildSpec("worker", idle))
            await wait_all_tasks_blocked()


async def test_a_newcomer_is_not_mistaken_for_the_one_of_its_name_that_was_terminated() -> None:
    async with nothing_left(), open_supervisor("pool", strategy=DYNAMIC) as pool:
        old = await pool.start(ChildSpec("worker", idle, restart=Restart.TEMPORARY))
        await end_while_termination_waits(pool, old)
        assert await names(pool) == ["worker"]


async def test_the_address_of_one_that_is_gone_does_not_terminate_a_newcomer() -> None:
    async with open_supervisor("pool", strategy=DYNAMIC) as pool:
        old = await pool.start(ChildSpec("worker", idle))
        await pool.terminate(old)
        newcomer = await pool.start(ChildSpec("worker", idle))
        with suppress(ChildNotFound):
            await pool.terminate(old)
        assert newcomer.phase is Phase.RUNNING


async def test_an_orderly_exit_of_a_permanent_child_is_restarted_too() -> None:
    async def leaving(inbox: Inbox[Close]) -> None:
        await inbox.receive()
        raise OrderlyExit

    async with open_supervisor("pool", strategy=DYNAMIC) as pool:
        address = await pool.start(ChildSpec("worker", leaving))
        await address.tell(Close())
        await wait_all_tasks_blocked()
        assert pool.tree().children[0].life == 2


async def test_a_child_that_ignores_its_cancellation_delays_the_stop_by_its_own_time_only(
    autojump_clock: MockClock,
) -> None:
    release = trio.Event()

    async def stubborn(inbox: Inbox[object]) -> None:
        inbox.ready()
        with trio.CancelScope(shield=True):
            await release.wait()

    async with open_supervisor("pool", strategy=DYNAMIC) as pool:
        for _ in range(3):
            await pool.start(ChildSpec("stubborn", stubborn, shutdown=2))
        began = trio.current_time()
        with watch(pool) as watching:
            await pool.stop()
            stuck = [notice for notice in watching.all() if isinstance(notice, Stuck)]
    release.set()
    assert len(stuck) == 3
    assert trio.current_time() - began <= 3
