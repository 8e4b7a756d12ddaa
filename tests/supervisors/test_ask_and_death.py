"""An ask fails at the moment its actor dies, and says whether the actor will come back."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from supervisors import (
    ActorDown,
    ActorRestarting,
    Address,
    AskFailed,
    Backoff,
    ChildSpec,
    ExitKind,
    Inbox,
    MailboxSpec,
    OrderlyExit,
    Overflow,
    Reply,
    Request,
    Restart,
    Shutdown,
    Spec,
    Strategy,
    open_supervisor,
)
from supervisors.testing import crash, freeze
from tests.supervisors.till import Add, Break, Close, Jam, Message, Note, Notes, idle, till


@dataclass(frozen=True)
class Riddle(Request[str]):
    """Never answered."""


async def handling_for_ever(inbox: Inbox[Riddle]) -> None:
    async for _ in inbox:
        await trio.sleep_forever()


async def deferring_for_ever(inbox: Inbox[Riddle]) -> None:
    promises: list[Reply[str]] = []
    async for riddle in inbox:
        promises.append(inbox.defer(riddle))


RIDDLERS = {"handled": handling_for_ever, "deferred": deferring_for_ever}


@dataclass
class Failure:
    """How an ask in the background ended, and at which time."""

    error: AskFailed | None = None
    time: float | None = None


@asynccontextmanager
async def asking(address: Address[Riddle]) -> AsyncGenerator[Failure]:
    """Ask a riddle in the background of the block."""
    failure = Failure()

    async def ask() -> None:
        try:
            await address.ask(Riddle())
        except AskFailed as error:
            failure.error, failure.time = error, trio.current_time()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        await wait_all_tasks_blocked()
        yield failure
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("state", sorted(RIDDLERS))
async def test_an_outstanding_ask_fails_when_its_actor_crashes_and_will_be_back(state: str) -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("riddler", RIDDLERS[state]))
        async with asking(address) as failure:
            await crash(address, Jam("no idea"))
        assert isinstance(failure.error, ActorRestarting)
        assert failure.error.path == "shop/riddler"
        assert failure.error.exit is not None
        assert isinstance(failure.error.exit.error, Jam)
        assert "shop/riddler is restarting (crashed: Jam: no idea)" in str(failure.error)


@pytest.mark.parametrize("state", sorted(RIDDLERS))
async def test_an_outstanding_ask_fails_when_its_actor_crashes_for_good(state: str) -> None:
    async with open_supervisor("shop") as shop:
        spec = ChildSpec("riddler", RIDDLERS[state], restart=Restart.TEMPORARY)
        address = await shop.start(spec)
        async with asking(address) as failure:
            await crash(address)
        assert isinstance(failure.error, ActorDown)
        assert "shop/riddler is down (crashed: InjectedCrash" in str(failure.error)


@pytest.mark.parametrize("state", sorted(RIDDLERS))
async def test_an_outstanding_ask_fails_when_its_actor_is_terminated(state: str) -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("riddler", RIDDLERS[state]))
        async with asking(address) as failure:
            await shop.terminate("riddler")
        assert isinstance(failure.error, ActorDown)
        assert failure.error.exit is not None
        assert failure.error.exit.kind is ExitKind.SHUTDOWN


@pytest.mark.parametrize("state", sorted(RIDDLERS))
async def test_an_outstanding_ask_fails_when_its_actor_restarts_with_its_group(state: str) -> None:
    culprit = ChildSpec("culprit", idle)
    riddler = ChildSpec("riddler", RIDDLERS[state])
    children: list[Spec] = [culprit, riddler]
    async with open_supervisor("shop", strategy=Strategy.ONE_FOR_ALL, children=children) as shop:
        async with asking(shop.address(riddler)) as failure:
            await crash(shop.address(culprit))
        assert isinstance(failure.error, ActorRestarting)
        assert failure.error.exit is not None
        assert failure.error.exit.kind is ExitKind.SHUTDOWN


async def test_a_temporary_bystander_of_a_group_restart_is_down_for_its_askers() -> None:
    culprit = ChildSpec("culprit", idle)
    riddler = ChildSpec("riddler", handling_for_ever, restart=Restart.TEMPORARY)
    children: list[Spec] = [culprit, riddler]
    async with open_supervisor("shop", strategy=Strategy.ONE_FOR_ALL, children=children) as shop:
        async with asking(shop.address(riddler)) as failure:
            await crash(shop.address(culprit))
        assert isinstance(failure.error, ActorDown)


async def test_an_outstanding_ask_fails_when_the_whole_tree_stops() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("riddler", handling_for_ever))
        async with asking(address) as failure:
            await shop.stop()
        assert isinstance(failure.error, ActorDown)


async def test_an_ask_fails_while_its_actor_still_cleans_up_but_not_before_it_ends(
    autojump_clock: MockClock,
) -> None:
    async def tidy(inbox: Inbox[Riddle]) -> None:
        try:
            await handling_for_ever(inbox)
        finally:
            with inbox.grace():
                await trio.sleep(3)

    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("riddler", tidy))
        began = trio.current_time()
        async with asking(address) as failure:
            await shop.terminate("riddler")
        assert isinstance(failure.error, ActorDown)
        assert failure.time == began + 3


@pytest.mark.parametrize("last_words", [Break(), Close()])
async def test_a_queued_ask_fails_at_once_and_is_not_executed_by_the_next_life(
    last_words: Message,
) -> None:
    async with open_supervisor("shop") as shop, trio.open_nursery() as nursery:
        address = await shop.start(ChildSpec("till", till))

        async def ask_in_vain() -> None:
            with pytest.raises(ActorRestarting):
                await address.ask(Add(5))

        with freeze(address):
            await address.tell(last_words)
            nursery.start_soon(ask_in_vain)
            await wait_all_tasks_blocked()
            await address.tell(Note("kept"))
        await wait_all_tasks_blocked()
        assert await address.ask(Add(0)) == 0
        assert await address.ask(Notes()) == ["kept"]


async def test_an_asker_that_waits_for_room_hears_of_the_crash_at_once(
    autojump_clock: MockClock,
) -> None:
    async with open_supervisor("shop") as shop:
        box = MailboxSpec(1, Overflow.WAIT)
        slowly = Backoff(minimum=10, jitter=0)
        address = await shop.start(
            ChildSpec("riddler", handling_for_ever, mailbox=box, backoff=slowly)
        )
        with freeze(address):
            await address.tell(Riddle())
            async with asking(address) as failure:
                crashed_at = trio.current_time()
                await crash(address)
                await trio.sleep(1)
        assert isinstance(failure.error, ActorRestarting)
        assert failure.time == crashed_at


async def test_an_ask_during_a_backoff_fails_at_once_as_restarting() -> None:
    async with open_supervisor("shop") as shop:
        spec = ChildSpec("till", till, backoff=Backoff(minimum=10))
        address = await shop.start(spec)
        await crash(address)
        await wait_all_tasks_blocked()
        with pytest.raises(ActorRestarting):
            await address.ask(Add(1))


@pytest.mark.parametrize("restart", [Restart.TRANSIENT, Restart.TEMPORARY])
async def test_an_ask_after_the_actor_returned_fails_at_once(restart: Restart) -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till, restart=restart))
        await address.tell(Close())
        await wait_all_tasks_blocked()
        with pytest.raises(ActorDown, match=r"shop/till is down \(returned\)"):
            await address.ask(Add(1))


async def test_an_ask_of_an_actor_that_has_not_started_says_so() -> None:
    later = ChildSpec("later", till)

    async def early(inbox: Inbox[object]) -> None:
        with pytest.raises(ActorDown, match=r"shop/later is down \(never started\)"):
            await inbox.sibling(later).ask(Add(1))
        await idle(inbox)

    async with open_supervisor("shop", children=[ChildSpec("early", early), later]) as shop:
        assert await shop.address(later).ask(Add(1)) == 1


async def test_an_ask_that_ends_the_actor_in_order_is_answered_by_that_end() -> None:
    async def leaving(inbox: Inbox[Riddle]) -> None:
        await inbox.receive()
        raise OrderlyExit("enough")

    async with open_supervisor("shop") as shop:
        spec = ChildSpec("riddler", leaving, restart=Restart.TRANSIENT)
        address = await shop.start(spec)
        with pytest.raises(ActorDown, match="OrderlyExit: enough"):
            await address.ask(Riddle())


async def test_a_promise_kept_after_the_death_of_its_actor_is_dropped() -> None:
    promises: list[Reply[str]] = []

    async def careless(inbox: Inbox[Riddle]) -> None:
        async for riddle in inbox:
            promises.append(inbox.defer(riddle))

    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("riddler", careless, shutdown=Shutdown.BRUTAL))
        async with asking(address) as failure:
            await crash(address)
            promises[0].send("too late")
        assert isinstance(failure.error, ActorRestarting)
