"""What an idle actor keeps: the garbage collector looks at each of its objects again and again."""

import gc

from supervisors import ChildSpec, Inbox, Strategy, Supervisor, open_supervisor

ACTORS = 200


async def idle(inbox: Inbox[int]) -> None:
    async for _ in inbox:
        pass


async def start(supervisor: Supervisor, number: int) -> None:
    for _ in range(number):
        address = await supervisor.start(ChildSpec("idle", idle))
        await address.tell(1)


def tracked() -> int:
    gc.collect()
    return len(gc.get_objects())


async def test_an_idle_actor_keeps_at_most_24_tracked_objects() -> None:
    """A trio task alone keeps 9; the task with its cancel scope and its two sets 13."""
    async with open_supervisor("crowd", strategy=Strategy.DYNAMIC) as crowd:
        await start(crowd, 20)
        before = tracked()
        await start(crowd, ACTORS)
        assert (tracked() - before) / ACTORS <= 24
