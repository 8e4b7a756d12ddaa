"""What callers may ask of a supervisor with an order, and what it does by itself at the end."""

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    AlreadyPresent,
    AlreadyStarted,
    AutoShutdown,
    ChildNotFound,
    ChildRunning,
    ChildSpec,
    Phase,
    Restart,
    Spec,
    open_supervisor,
)
from supervisors.testing import nothing_left
from tests.supervisors.till import Close, Message, cleaning_for, till


async def test_a_name_in_use_is_refused() -> None:
    async with open_supervisor("shop", children=[ChildSpec("till", till)]) as shop:
        with pytest.raises(AlreadyStarted, match="shop/till is known"):
            await shop.start(ChildSpec("till", till))
        await shop.terminate("till")
        with pytest.raises(AlreadyPresent, match=r"shop/till is known \(stopped\)"):
            await shop.start(ChildSpec("till", till))


async def test_who_runs_can_neither_be_restarted_nor_deleted() -> None:
    async with open_supervisor("shop", children=[ChildSpec("till", till)]) as shop:
        with pytest.raises(ChildRunning, match="terminate it first"):
            await shop.restart("till")
        with pytest.raises(ChildRunning):
            await shop.delete("till")


async def test_who_was_deleted_is_unknown() -> None:
    async with open_supervisor("shop", children=[ChildSpec("till", till)]) as shop:
        await shop.terminate("till")
        await shop.delete("till")
        for request in (shop.terminate, shop.restart, shop.delete, shop.spec):
            with pytest.raises(ChildNotFound, match="shop has no child till"):
                await request("till")


def significant(name: str) -> ChildSpec[Message]:
    return ChildSpec(name, till, restart=Restart.TRANSIENT, significant=True)


async def test_the_end_of_any_significant_child_ends_the_tree_and_the_block() -> None:
    log: list[str] = []
    first, other = significant("first"), significant("other")
    children: list[Spec] = [ChildSpec("tidy", cleaning_for(0, log, "tidy")), first, other]
    mode = AutoShutdown.ANY_SIGNIFICANT
    async with (
        nothing_left(),
        open_supervisor("shop", auto_shutdown=mode, children=children) as shop,
    ):
        await shop.address(first).tell(Close())
        await trio.sleep_forever()
    assert log == ["tidy"]


async def test_the_end_of_all_significant_children_ends_the_tree_and_the_block() -> None:
    first, other = significant("first"), significant("other")
    mode = AutoShutdown.ALL_SIGNIFICANT
    async with open_supervisor("shop", auto_shutdown=mode, children=[first, other]) as shop:
        await shop.address(first).tell(Close())
        await wait_all_tasks_blocked()
        assert shop.phase is Phase.RUNNING
        await shop.address(other).tell(Close())
        await trio.sleep_forever()
    assert shop.tree().phase is Phase.STOPPED
