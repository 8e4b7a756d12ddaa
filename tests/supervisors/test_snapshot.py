"""The living tree as data and as text."""

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    Backoff,
    ChildCount,
    ChildNotFound,
    ChildSpec,
    Ignore,
    Inbox,
    Phase,
    Spec,
    Strategy,
    SupervisorSpec,
    open_supervisor,
)
from supervisors.testing import crash, freeze
from tests.supervisors.till import Close, deaf, idle, till

PICTURE = """\
shop  running, one_for_one
├─ door  running
├─ floor  running, rest_for_one
│  ├─ left  running, life 2
│  └─ right  running, life 2, 3 waiting
├─ hint  stopped
├─ slow  restarting
└─ pool  running, dynamic
   ├─ worker  running
   └─ worker#2  running"""


async def ignoring(_: Inbox[object]) -> None:
    raise Ignore


async def test_an_empty_tree_is_one_line_before_and_after_its_end() -> None:
    async with open_supervisor("shop") as shop:
        assert str(shop.tree()) == "shop  running, one_for_one"
    assert str(shop.tree()) == "shop  stopped, one_for_one"


async def test_a_tree_prints_as_text_with_everything_below() -> None:
    left, right = ChildSpec("left", till), ChildSpec("right", deaf)
    floor = SupervisorSpec("floor", strategy=Strategy.REST_FOR_ONE, children=[left, right])
    slow = ChildSpec("slow", idle, backoff=Backoff(minimum=60, maximum=60))
    pool = SupervisorSpec("pool", strategy=Strategy.DYNAMIC)
    children: list[Spec] = [ChildSpec("door", idle), floor, ChildSpec("hint", ignoring), slow, pool]
    async with open_supervisor("shop", children=children) as shop:
        for _ in range(2):
            await shop.supervisor("pool").start(ChildSpec("worker", idle))
        await crash(shop.supervisor("floor").address(left))
        await crash(shop.address(slow))
        await wait_all_tasks_blocked()
        for number in range(3):
            await shop.supervisor("floor").address(right).tell(number)
        assert str(shop.tree()) == PICTURE


async def test_a_tree_is_data() -> None:
    floor = SupervisorSpec("floor", children=[ChildSpec("till", till)])
    async with open_supervisor("shop", children=[floor, ChildSpec("door", deaf)]) as shop:
        tree = shop.tree()
        assert [node.path for node in tree.walk()] == [
            "shop",
            "shop/floor",
            "shop/floor/till",
            "shop/door",
        ]
        assert tree.strategy is Strategy.ONE_FOR_ONE
        door = tree.children[1]
        assert (door.name, door.phase, door.life, door.waiting) == ("door", Phase.RUNNING, 1, 0)
        assert door.strategy is None
        assert door.children == ()
        assert shop.supervisor("floor").tree() == tree.children[0]


async def test_large_tree_is_read_while_others_go_on() -> None:
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            await trio.lowlevel.checkpoint()
            turns += 1

    floor = SupervisorSpec("floor", children=[ChildSpec("till", idle)])
    houses = [SupervisorSpec(f"house {number}", children=[floor]) for number in range(20)]
    async with (
        open_supervisor("town", children=houses) as town,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(count_turns)
        tree = await town.read_tree()
        nursery.cancel_scope.cancel()
        assert tree == town.tree()
    # One turn for each, but for the first steps of the counting.
    assert turns >= len(houses) - 2


async def test_a_snapshot_does_not_change_afterwards() -> None:
    async with open_supervisor("shop") as shop:
        await shop.start(ChildSpec("till", till))
        before = shop.tree()
        await shop.terminate("till")
        assert before.children[0].phase is Phase.RUNNING
        assert shop.tree().children[0].phase is Phase.STOPPED


async def test_a_tree_can_be_seen_while_its_supervisor_is_busy() -> None:
    async def dawdling(_: Inbox[object]) -> None:
        await trio.sleep_forever()

    async with open_supervisor("shop") as shop, trio.open_nursery() as nursery:
        nursery.start_soon(shop.start, ChildSpec("dawdling", dawdling))
        await wait_all_tasks_blocked()
        assert str(shop.tree()).endswith("└─ dawdling  starting")
        nursery.cancel_scope.cancel()


async def test_children_are_listed_the_newest_first() -> None:
    till_spec, floor = ChildSpec("till", till), SupervisorSpec("floor")
    async with open_supervisor("shop", children=[till_spec, floor]) as shop:
        newest, oldest = await shop.children()
        assert (oldest.name, oldest.address) == ("till", shop.address(till_spec))
        assert (newest.name, newest.phase) == ("floor", Phase.RUNNING)
        assert (newest.strategy, oldest.strategy) == (Strategy.ONE_FOR_ONE, None)


async def test_children_are_counted_by_kind_and_by_life() -> None:
    slow = ChildSpec("slow", idle, backoff=Backoff(minimum=60, maximum=60))
    children: list[Spec] = [
        ChildSpec("till", till),
        slow,
        ChildSpec("hint", ignoring),
        SupervisorSpec("floor"),
    ]
    async with open_supervisor("shop", children=children) as shop:
        assert await shop.count() == ChildCount(specs=4, active=3, supervisors=1, workers=3)
        await crash(shop.address(slow))
        await wait_all_tasks_blocked()
        assert await shop.count() == ChildCount(specs=4, active=2, supervisors=1, workers=3)


async def test_a_spec_is_found_by_name_and_by_address() -> None:
    spec = ChildSpec("till", till)
    async with open_supervisor("shop", children=[spec]) as shop:
        assert await shop.spec("till") is spec
        assert await shop.spec(shop.address(spec)) is spec
        with pytest.raises(ChildNotFound, match="shop has no child stranger"):
            await shop.spec("stranger")


async def test_what_is_not_there_cannot_be_addressed() -> None:
    stranger = ChildSpec("stranger", till)
    async with open_supervisor("shop", children=[ChildSpec("till", till)]) as shop:
        with pytest.raises(ChildNotFound, match="no child with the spec of 'stranger'"):
            shop.address(stranger)
        with pytest.raises(ChildNotFound, match="no supervisor 'till' among its children"):
            shop.supervisor("till")
        with pytest.raises(ChildNotFound, match="no supervisor 'stranger'"):
            shop.supervisor("stranger")
    with pytest.raises(ChildNotFound):
        shop.address(stranger)


async def test_handles_show_where_they_are_and_stand() -> None:
    async with open_supervisor("shop", children=[SupervisorSpec("floor")]) as shop:
        floor = shop.supervisor("floor")
        assert repr(floor) == "<Supervisor shop/floor: running>"
        assert floor.path == "shop/floor"
        assert floor.phase is Phase.RUNNING
    assert repr(floor) == "<Supervisor shop/floor: gone>"


async def test_a_frozen_supervisor_shows_the_requests_that_wait() -> None:
    async with open_supervisor("shop") as shop, trio.open_nursery() as nursery:
        with freeze(shop):
            nursery.start_soon(shop.count)
            nursery.start_soon(shop.children)
            await wait_all_tasks_blocked()
            assert shop.tree().waiting == 2


async def test_info_is_what_the_present_life_said_when_it_became_ready() -> None:
    async def door(inbox: Inbox[Close]) -> None:
        inbox.ready(f"open, life {inbox.life}")
        await inbox.receive()

    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("door", door))
        assert address.info == "open, life 1"
        await address.tell(Close())
        await wait_all_tasks_blocked()
        assert address.info == "open, life 2"
        await shop.terminate("door")
        assert address.info is None
