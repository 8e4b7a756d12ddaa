"""The hatch between a runtime's thread and a host."""

import trio
from trio.testing import wait_all_tasks_blocked

from avatar_actors.hosting.streams import BatchSlot


async def put_until_it_is_full(hatch: BatchSlot[int]) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hatch.put, [1])
        await wait_all_tasks_blocked()
        nursery.start_soon(hatch.put, [2])
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()


def test_what_lies_there_can_be_taken_after_the_runtime_has_ended() -> None:
    hatch = BatchSlot[int]()
    trio.run(put_until_it_is_full, hatch)
    hatch.end()
    assert hatch.take() == [1]
    assert hatch.take() == []
