"""The slot between a runtime's thread and the host that reads a stream."""

import trio
from trio.testing import wait_all_tasks_blocked

from avatar_actors.hosting.streams import BatchSlot


async def put_until_it_is_full(slot: BatchSlot[int]) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(slot.put, [1])
        await wait_all_tasks_blocked()
        nursery.start_soon(slot.put, [2])
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()


def test_last_batch_can_be_taken_after_the_runtime_has_ended() -> None:
    slot = BatchSlot[int]()
    trio.run(put_until_it_is_full, slot)
    slot.end()
    assert slot.filled.done()
    assert slot.take() == [1]
    assert slot.take() == []


def test_slot_that_ends_empty_wakes_its_reader() -> None:
    slot = BatchSlot[int]()
    assert slot.take() is None
    assert not slot.filled.done()
    slot.end()
    assert slot.filled.done()
    assert slot.take() == []
