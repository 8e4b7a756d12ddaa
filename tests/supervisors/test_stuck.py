"""A child that swallows its cancellation is reported and left behind; nobody waits for it."""

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from supervisors import (
    ActorRestarting,
    Address,
    ChildSpec,
    Crashed,
    ExitKind,
    Inbox,
    Phase,
    Ready,
    Spec,
    Stopped,
    Strategy,
    Stuck,
    Supervisor,
    open_supervisor,
)
from supervisors.testing import crash, nothing_left, watch
from tests.supervisors.till import Add, Message, Note, Notes, cleaning_for, idle, till

SECONDS_TO_CLEAN_UP = 3
ALLOWANCE_AFTER_THE_KILL = 1
PATIENCE = SECONDS_TO_CLEAN_UP + ALLOWANCE_AFTER_THE_KILL


class Stubborn:
    """An actor whose first life swallows cancellation until it is released, and then reads on."""

    def __init__(self) -> None:
        self.release = trio.Event()
        self.stolen: list[Message] = []
        self.spec = ChildSpec("stubborn", self.actor, shutdown=SECONDS_TO_CLEAN_UP)

    async def actor(self, inbox: Inbox[Message]) -> None:
        if inbox.life > 1:
            await till(inbox)
        inbox.ready()
        try:
            await trio.sleep_forever()
        finally:
            await self.swallow(inbox)

    async def swallow(self, inbox: Inbox[Message]) -> None:
        with trio.CancelScope(shield=True):
            await self.release.wait()
            with trio.move_on_after(1):
                self.stolen.append(await inbox.receive())


class ShieldedReader(Stubborn):
    """An actor whose first life shields its receive."""

    async def actor(self, inbox: Inbox[Message]) -> None:
        if inbox.life > 1:
            await till(inbox)
        with trio.CancelScope(shield=True), trio.move_on_after(20):
            self.stolen.append(await inbox.receive())


@pytest.fixture(params=[Stubborn, ShieldedReader])
def stubborn(request: pytest.FixtureRequest) -> Stubborn:
    made = request.param()
    assert isinstance(made, Stubborn)
    return made


async def test_it_is_reported_and_left_behind_after_its_time(
    stubborn: Stubborn, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with nothing_left():
        async with open_supervisor("shop", children=[stubborn.spec]) as shop:
            began = trio.current_time()
            with watch(shop) as watching:
                await shop.terminate("stubborn")
                stuck = await watching.next(Stuck)
                stopped = await watching.next(Stopped)
            assert (stuck.path, stuck.life) == ("shop/stubborn", 1)
            assert stopped.exit.kind is ExitKind.STUCK
            assert trio.current_time() - began == PATIENCE
            assert shop.address(stubborn.spec).phase is Phase.STOPPED
        assert "shop/stubborn ignores cancellation" in caplog.text
        stubborn.release.set()
        await trio.sleep(60)


async def test_the_tree_ends_without_it(stubborn: Stubborn, autojump_clock: MockClock) -> None:
    log: list[str] = []
    children: list[Spec] = [ChildSpec("a", cleaning_for(1, log, "a")), stubborn.spec]
    async with nothing_left():
        began = trio.current_time()
        async with open_supervisor("shop", children=children):
            pass
        assert log == ["a"]
        assert trio.current_time() - began == PATIENCE + 1
        stubborn.release.set()
        await trio.sleep(60)


async def test_it_takes_no_message_from_its_successor(
    stubborn: Stubborn, autojump_clock: MockClock
) -> None:
    culprit = ChildSpec("culprit", idle)
    children: list[Spec] = [culprit, stubborn.spec]
    async with nothing_left():
        async with open_supervisor(
            "shop", strategy=Strategy.ONE_FOR_ALL, children=children
        ) as shop:
            address: Address[Message] = shop.address(stubborn.spec)
            with watch(shop) as watching:
                await crash(shop.address(culprit))
                await watching.next(Ready, "shop/stubborn")
            stubborn.release.set()
            for text in "abc":
                await address.tell(Note(text))
                await wait_all_tasks_blocked()
            assert await address.ask(Notes()) == ["a", "b", "c"]
            assert shop.tree().children[1].life == 2
            await trio.sleep(60)
        assert stubborn.stolen == []


async def test_its_monitors_and_askers_hear_when_it_is_left_behind(
    autojump_clock: MockClock,
) -> None:
    stubborn, culprit = Stubborn(), ChildSpec("culprit", idle)
    children: list[Spec] = [culprit, stubborn.spec]
    async with open_supervisor("shop", strategy=Strategy.ONE_FOR_ALL, children=children) as shop:
        address = shop.address(stubborn.spec)
        watching = address.monitor()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(crash, shop.address(culprit))
            with pytest.raises(ActorRestarting, match="left behind"):
                await address.ask(Add(1))
        down = await watching.down()
        assert down.exit is not None
        assert down.exit.kind is ExitKind.STUCK
        stubborn.release.set()


async def test_its_own_late_error_changes_nothing(autojump_clock: MockClock) -> None:
    release = trio.Event()

    async def late(inbox: Inbox[object]) -> None:
        inbox.ready()
        with trio.CancelScope(shield=True):
            await release.wait()
        raise ValueError("too late to matter")

    async with nothing_left(), open_supervisor("shop") as shop:
        await shop.start(ChildSpec("late", late))
        await shop.terminate("late")
        with watch(shop) as watching:
            release.set()
            await wait_all_tasks_blocked()
            assert not any(isinstance(notice, Crashed) for notice in watching.all())


async def test_an_interrupt_of_one_that_was_left_behind_still_reaches_the_host(
    autojump_clock: MockClock,
) -> None:
    release = trio.Event()

    async def late(inbox: Inbox[object]) -> None:
        inbox.ready()
        with trio.CancelScope(shield=True):
            await release.wait()
        raise KeyboardInterrupt

    async def leave_behind(shop: Supervisor) -> None:
        await shop.terminate("late")
        release.set()
        await trio.sleep_forever()

    with pytest.raises(KeyboardInterrupt):
        async with open_supervisor("shop", children=[ChildSpec("late", late)]) as shop:
            await leave_behind(shop)
