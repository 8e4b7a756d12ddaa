"""The queue in front of an actor: its order, its bound and the rule for one message too many."""

from collections.abc import Callable

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from supervisors import (
    ActorDown,
    Address,
    ChildSpec,
    Crashed,
    DeadLetter,
    Inbox,
    MailboxFull,
    MailboxSpec,
    Overflow,
    Restart,
    Supervisor,
    Undelivered,
    open_supervisor,
)
from supervisors.testing import freeze, watch
from tests.supervisors.till import Add, Note, Notes, deaf, till


def small(overflow: Overflow, capacity: int = 2) -> MailboxSpec:
    return MailboxSpec(capacity=capacity, overflow=overflow)


def waiting(shop: Supervisor) -> int:
    return shop.tree().children[0].waiting


async def test_messages_of_one_sender_arrive_in_the_order_they_were_sent() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        sent = [str(number) for number in range(1000)]
        for text in sent:
            await address.tell(Note(text))
        assert await address.ask(Notes()) == sent


async def test_each_senders_order_is_kept_when_several_wait_for_room() -> None:
    async with open_supervisor("shop") as shop:
        box = small(Overflow.WAIT, capacity=3)
        address = await shop.start(ChildSpec("till", till, mailbox=box))

        async def send(sender: str) -> None:
            for number in range(100):
                await address.tell(Note(f"{sender}{number:02}"))

        async with trio.open_nursery() as nursery:
            for sender in "abc":
                nursery.start_soon(send, sender)
        noted = await address.ask(Notes())
        assert len(noted) == 300
        for sender in "abc":
            of_sender = [text for text in noted if text.startswith(sender)]
            assert of_sender == sorted(of_sender)


@pytest.mark.parametrize("capacity", [1, 2, 7])
async def test_as_many_messages_wait_as_the_capacity_says(capacity: int) -> None:
    async with open_supervisor("shop") as shop:
        spec = ChildSpec("deaf", deaf, mailbox=small(Overflow.FAIL, capacity))
        address = await shop.start(spec)
        for number in range(capacity):
            await address.tell(number)
        with pytest.raises(MailboxFull, match=f"holds {capacity} messages already"):
            await address.tell("one more")
        assert waiting(shop) == capacity


async def test_wait_holds_the_sender_until_there_is_room(autojump_clock: MockClock) -> None:
    async with open_supervisor("shop") as shop, trio.open_nursery() as nursery:
        address = await shop.start(ChildSpec("till", till, mailbox=small(Overflow.WAIT)))
        with freeze(address):
            await address.tell(Note("1"))
            await address.tell(Note("2"))
            with trio.move_on_after(60) as patience:
                await address.tell(Note("given up"))
            assert patience.cancelled_caught
            nursery.start_soon(address.tell, Note("3"))
            await wait_all_tasks_blocked()
            assert waiting(shop) == 2
        assert await address.ask(Notes()) == ["1", "2", "3"]
        assert shop.dead_letters == 0


async def test_waiting_senders_get_in_first_come_first_served() -> None:
    async with open_supervisor("shop") as shop, trio.open_nursery() as nursery:
        address = await shop.start(ChildSpec("till", till, mailbox=small(Overflow.WAIT, 1)))
        with freeze(address):
            for text in "abcdef":
                nursery.start_soon(address.tell, Note(text))
                await wait_all_tasks_blocked()
        await wait_all_tasks_blocked()
        assert await address.ask(Notes()) == list("abcdef")


async def test_a_cancelled_waiting_sender_leaves_no_message_and_keeps_nobody_waiting() -> None:
    async with open_supervisor("shop") as shop, trio.open_nursery() as nursery:
        address = await shop.start(ChildSpec("till", till, mailbox=small(Overflow.WAIT, 1)))
        impatient = trio.CancelScope()

        async def send_in_scope() -> None:
            with impatient:
                await address.tell(Note("cancelled"))

        with freeze(address):
            await address.tell(Note("first"))
            nursery.start_soon(send_in_scope)
            await wait_all_tasks_blocked()
            nursery.start_soon(address.tell, Note("last"))
            await wait_all_tasks_blocked()
            impatient.cancel()
            await wait_all_tasks_blocked()
        await wait_all_tasks_blocked()
        assert await address.ask(Notes()) == ["first", "last"]


async def test_drop_oldest_makes_room_for_the_newest() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till, mailbox=small(Overflow.DROP_OLDEST)))
        with freeze(address), watch(shop) as watching:
            for text in "abcd":
                await address.tell(Note(text))
            assert waiting(shop) == 2
            lost = [notice for notice in watching.all() if isinstance(notice, DeadLetter)]
        await wait_all_tasks_blocked()
        assert await address.ask(Notes()) == ["c", "d"]
        assert [letter.message for letter in lost] == [Note("a"), Note("b")]
        assert {letter.why for letter in lost} == {Undelivered.MAILBOX_FULL}


async def test_drop_newest_keeps_what_is_there() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till, mailbox=small(Overflow.DROP_NEWEST)))
        with freeze(address), watch(shop) as watching:
            for text in "abcd":
                await address.tell(Note(text))
            lost = [notice for notice in watching.all() if isinstance(notice, DeadLetter)]
        await wait_all_tasks_blocked()
        assert await address.ask(Notes()) == ["a", "b"]
        assert [letter.message for letter in lost] == [Note("c"), Note("d")]
        assert shop.dead_letters == 2


async def test_fail_tells_the_sender_and_keeps_what_is_there() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till, mailbox=small(Overflow.FAIL)))
        with freeze(address):
            await address.tell(Note("a"))
            await address.tell(Note("b"))
            with pytest.raises(MailboxFull):
                await address.tell(Note("c"))
        await wait_all_tasks_blocked()
        assert await address.ask(Notes()) == ["a", "b"]
        assert shop.dead_letters == 0


async def test_a_sender_still_waiting_when_the_actor_goes_has_sent_a_dead_letter() -> None:
    async with open_supervisor("shop") as shop, trio.open_nursery() as nursery:
        spec = ChildSpec("deaf", deaf, mailbox=small(Overflow.WAIT, 1))
        address = await shop.start(spec)
        await address.tell("inside")
        nursery.start_soon(address.tell, "at the door")
        await wait_all_tasks_blocked()
        with watch(shop) as watching:
            await shop.terminate("deaf")
            lost = [notice for notice in watching.all() if isinstance(notice, DeadLetter)]
        assert [letter.message for letter in lost] == ["inside", "at the door"]
        assert {letter.why for letter in lost} == {Undelivered.ACTOR_ENDED}


async def test_an_asker_still_waiting_for_room_hears_that_the_actor_went() -> None:
    async with open_supervisor("shop") as shop, trio.open_nursery() as nursery:
        spec = ChildSpec("deaf", deaf, mailbox=small(Overflow.WAIT, 1))
        address = await shop.start(spec)
        await address.tell("inside")

        async def ask() -> None:
            with pytest.raises(ActorDown):
                await address.ask(Add(1))

        nursery.start_soon(ask)
        await wait_all_tasks_blocked()
        await shop.terminate("deaf")


# Within one turn trio runs tasks in random order, so two batches can be seen as one.
TWO_BATCHES = 2 * 64


async def most_between_two_turns(work: Callable[[], int], done: trio.Event) -> int:
    """How far the work got at most between two turns of this task."""
    most, before = 0, work()
    while not done.is_set():
        await trio.lowlevel.checkpoint()
        most, before = max(most, work() - before), work()
    return most


async def test_a_busy_actor_lets_others_run_every_64_messages() -> None:
    handled: list[int] = []
    done = trio.Event()

    async def counter(inbox: Inbox[int]) -> None:
        async for number in inbox:
            handled.append(number)
            if number == 999:
                done.set()

    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("counter", counter, mailbox=MailboxSpec(10_000)))
        for number in range(1000):
            address.tell_nowait(number)
        assert await most_between_two_turns(lambda: len(handled), done) <= TWO_BATCHES


async def test_a_busy_sender_lets_others_run_every_64_messages() -> None:
    async with open_supervisor("shop") as shop, trio.open_nursery() as nursery:
        spec = ChildSpec("deaf", deaf, mailbox=MailboxSpec(10_000))
        address = await shop.start(spec)
        done = trio.Event()

        async def observe() -> None:
            assert await most_between_two_turns(lambda: waiting(shop), done) <= TWO_BATCHES

        nursery.start_soon(observe)
        for number in range(1000):
            await address.tell(number)
        done.set()


async def test_two_tasks_cannot_read_one_inbox() -> None:
    async def two_readers(inbox: Inbox[object]) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(inbox.receive)
            nursery.start_soon(inbox.receive)

    async with open_supervisor("shop") as shop:
        with watch(shop) as watching:
            await shop.start(ChildSpec("reader", two_readers, restart=Restart.TEMPORARY))
            crash = await watching.next(Crashed)
    assert isinstance(crash.error, trio.BusyResourceError)
    assert "two tasks read one inbox" in str(crash.error)


async def test_a_receive_that_was_cancelled_loses_no_message(autojump_clock: MockClock) -> None:
    async def patient_for_a_second(inbox: Inbox[Add]) -> None:
        with trio.move_on_after(1) as patience:
            await inbox.receive()
        assert patience.cancelled_caught
        async for request in inbox:
            inbox.reply(request, request.amount)

    async with open_supervisor("shop") as shop:
        address: Address[Add] = await shop.start(ChildSpec("clerk", patient_for_a_second))
        await trio.sleep(2)
        assert await address.ask(Add(7)) == 7
