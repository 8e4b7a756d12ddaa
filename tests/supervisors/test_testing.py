"""The tools for tests of one's own trees, each held to its word."""

import re

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from supervisors import (
    ActorDown,
    ActorRestarting,
    ChildSpec,
    Crashed,
    Inbox,
    Phase,
    Ready,
    Restart,
    Started,
    Stopped,
    SupervisorSpec,
    open_supervisor,
)
from supervisors.testing import InjectedCrash, crash, freeze, nothing_left, watch
from tests.supervisors.till import Add, Close, Jam, Note, Notes, cleaning_for, deaf, idle, till


async def test_watch_waits_for_the_next_notice_of_a_kind() -> None:
    async with open_supervisor("shop") as shop, trio.open_nursery() as nursery:
        with watch(shop) as watching:
            nursery.start_soon(shop.start, ChildSpec("till", till))
            ready = await watching.next(Ready)
            assert ready.path == "shop/till"
            assert [type(notice) for notice in watching.seen] == [Started, Ready]


async def test_watch_waits_for_the_notice_of_one_child() -> None:
    async with open_supervisor("shop") as shop:
        with watch(shop) as watching:
            for name in "abc":
                await shop.start(ChildSpec(name, idle))
            assert (await watching.next(Ready, "shop/b")).path == "shop/b"
            assert (await watching.next(Ready)).path == "shop/c"


async def test_waiting_for_a_child_that_is_not_there_fails_and_names_those_that_are(
    autojump_clock: MockClock,
) -> None:
    async with open_supervisor("pool", children=[ChildSpec("worker", idle)]) as pool:
        with watch(pool) as watching:
            missing = "'pool/typo', which is not in the tree (pool, pool/worker), within 1e+06 s"
            with pytest.raises(AssertionError, match=re.escape(f"no Ready of {missing}")):
                await watching.next(Ready, "pool/typo")
            with pytest.raises(AssertionError, match=r"no Ready of pool/worker within 5 s"):
                await watching.next(Ready, "pool/worker", within=5)
    assert autojump_clock.autojump_threshold == 0  # a minute of that time is none of ours


async def test_watch_remembers_everything_it_was_told() -> None:
    async with open_supervisor("shop") as shop:
        with watch(shop) as watching:
            await shop.start(ChildSpec("till", till))
            assert [type(notice) for notice in watching.all()] == [Started, Ready]
            await shop.terminate("till")
            assert [type(notice) for notice in watching.all()] == [Started, Ready, Stopped]


async def test_crash_ends_the_present_life_by_an_error() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        await address.ask(Add(5))
        with watch(shop) as watching:
            await crash(address)
            crashed = await watching.next(Crashed)
            await watching.next(Ready)
        assert isinstance(crashed.error, InjectedCrash)
        assert str(crashed.error) == "shop/till was crashed by a test"
        assert await address.ask(Add(1)) == 1


async def test_crash_uses_the_error_it_is_given() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        error = Jam("mine")
        with watch(shop) as watching:
            await crash(address, error)
            assert (await watching.next(Crashed)).error is error


async def test_crash_returns_when_the_life_is_over(autojump_clock: MockClock) -> None:
    log: list[str] = []
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("tidy", cleaning_for(3, log, "clean")))
        began = trio.current_time()
        await crash(address)
        assert log == ["clean"]
        assert trio.current_time() - began == 3


async def test_crash_hits_an_actor_that_never_waits_at_its_next_receive() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        with freeze(address):
            await address.tell(Note("unread"))
            await wait_all_tasks_blocked()
            await crash(address)
        await wait_all_tasks_blocked()
        assert await address.ask(Notes()) == ["unread"]


async def test_crash_works_on_supervisors() -> None:
    floor = SupervisorSpec("floor", children=[ChildSpec("till", till)])
    async with open_supervisor("shop", children=[floor]) as shop:
        await crash(shop.supervisor("floor"))
        await wait_all_tasks_blocked()
        assert [(node.name, node.phase) for node in shop.tree().children[0].walk()] == [
            ("floor", Phase.RUNNING),
            ("till", Phase.RUNNING),
        ]


async def test_who_is_dead_already_cannot_be_crashed_or_frozen() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till, restart=Restart.TEMPORARY))
        await address.tell(Close())
        await wait_all_tasks_blocked()
        with pytest.raises(ActorDown, match="shop/till is down"):
            await crash(address)
        with pytest.raises(ActorDown), freeze(address):
            raise AssertionError("the block must not run")


async def test_freeze_lets_no_message_through_until_its_end() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        with freeze(address):
            for text in "abc":
                await address.tell(Note(text))
            await wait_all_tasks_blocked()
            assert shop.tree().children[0].waiting == 3
        await wait_all_tasks_blocked()
        assert shop.tree().children[0].waiting == 0
        assert await address.ask(Notes()) == ["a", "b", "c"]


async def test_freeze_lets_a_message_in_hand_be_finished() -> None:
    done: list[int] = []
    go = trio.Event()

    async def slow(inbox: Inbox[int]) -> None:
        async for number in inbox:
            await go.wait()
            done.append(number)

    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("slow", slow))
        await address.tell(1)
        await address.tell(2)
        await wait_all_tasks_blocked()
        with freeze(address):
            go.set()
            await wait_all_tasks_blocked()
            assert done == [1]
        await wait_all_tasks_blocked()
        assert done == [1, 2]


async def test_a_frozen_child_still_stops() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        with freeze(address):
            await address.tell(Note("unread"))
            await wait_all_tasks_blocked()
            await shop.terminate("till")
        assert shop.dead_letters == 1


async def test_a_frozen_child_stays_frozen_in_its_next_life() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        with freeze(address):
            await crash(address)
            await wait_all_tasks_blocked()
            await address.tell(Note("later"))
            await wait_all_tasks_blocked()
            assert shop.tree().children[0].waiting == 1
        await wait_all_tasks_blocked()
        assert await address.ask(Notes()) == ["later"]


async def test_a_frozen_supervisor_restarts_nobody_until_its_end() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        with freeze(shop):
            await crash(address)
            await wait_all_tasks_blocked()
            assert address.phase is Phase.RESTARTING
            with pytest.raises(ActorRestarting):
                await address.ask(Add(1))
        await wait_all_tasks_blocked()
        assert await address.ask(Add(1)) == 1


async def test_a_frozen_child_handles_one_message_at_each_step() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        with freeze(address) as step:
            for text in "abc":
                await address.tell(Note(text))
            left: list[int] = []
            while await step():
                left.append(shop.tree().children[0].waiting)
        assert left == [2, 1, 0]
        assert await address.ask(Notes()) == ["a", "b", "c"]


async def test_a_frozen_supervisor_makes_one_move_at_each_step() -> None:
    async with open_supervisor("shop") as shop, trio.open_nursery() as nursery:
        await shop.start(ChildSpec("till", till))
        with freeze(shop) as step:
            nursery.start_soon(shop.terminate, "till")
            await wait_all_tasks_blocked()
            nursery.start_soon(shop.delete, "till")
            assert await step()
            assert [node.phase for node in shop.tree().children] == [Phase.STOPPED]
            while await step():
                pass
            assert shop.tree().children == ()


async def test_nothing_left_is_content_when_everything_ended() -> None:
    async with nothing_left(), open_supervisor("shop", children=[ChildSpec("deaf", deaf)]):
        pass


async def test_nothing_left_fails_when_a_task_of_the_block_lives_on() -> None:
    async with trio.open_nursery() as nursery:
        with pytest.raises(AssertionError, match=r"1 tasks are left behind: .*sleep_forever"):
            async with nothing_left():
                nursery.start_soon(trio.sleep_forever)
        nursery.cancel_scope.cancel()


async def test_nothing_left_names_the_actors_that_live_on() -> None:
    async with trio.open_nursery() as nursery:
        with pytest.raises(AssertionError, match="shop, shop/deaf"):
            async with nothing_left():
                await nursery.start(open_for_ever)
        nursery.cancel_scope.cancel()


async def open_for_ever(task_status: trio.TaskStatus[None]) -> None:
    async with open_supervisor("shop", children=[ChildSpec("deaf", deaf)]):
        task_status.started()
        await trio.sleep_forever()


async def test_nothing_left_does_not_mind_what_was_there_before() -> None:
    async with open_supervisor("shop", children=[ChildSpec("deaf", deaf)]), nothing_left():
        pass


async def test_nothing_left_does_not_hide_the_error_of_its_block() -> None:
    async with trio.open_nursery() as nursery:
        with pytest.raises(Jam):
            async with nothing_left():
                await start_and_fail(nursery)
        nursery.cancel_scope.cancel()


async def start_and_fail(nursery: trio.Nursery) -> None:
    nursery.start_soon(trio.sleep_forever)
    raise Jam("first")
