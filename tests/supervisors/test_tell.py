"""Telling never fails: what nobody reads is a dead letter; mail outlives a crash of its reader."""

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from supervisors import (
    Address,
    Backoff,
    ChildSpec,
    DeadLetter,
    Inbox,
    MailboxFull,
    MailboxSpec,
    Overflow,
    Phase,
    Ready,
    Restart,
    Spec,
    Strategy,
    Undelivered,
    open_supervisor,
)
from supervisors.testing import crash, freeze, watch
from tests.supervisors.till import Add, Break, Close, Message, Note, Notes, deaf, idle, till


async def test_a_tell_to_an_actor_that_ended_is_a_counted_and_noticed_dead_letter() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till, restart=Restart.TRANSIENT))
        await address.tell(Close())
        await wait_all_tasks_blocked()
        with watch(shop) as watching:
            await address.tell(Note("hello?"))
            letter = await watching.next(DeadLetter, "shop/till")
        assert letter.message == Note("hello?")
        assert letter.why is Undelivered.NOT_RUNNING
        assert shop.dead_letters == 1


async def test_a_tell_to_an_actor_whose_tree_is_over_is_a_dead_letter() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
    await address.tell(Note("anybody?"))
    address.tell_nowait(Note("nobody"))
    assert shop.dead_letters == 2
    assert address.phase is Phase.GONE


async def test_what_waits_in_the_mailbox_of_an_actor_that_goes_is_dead_letters() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("deaf", deaf))
        await address.tell("one")
        await address.tell("two")
        with watch(shop) as watching:
            await shop.terminate(address)
            letters = [notice for notice in watching.all() if isinstance(notice, DeadLetter)]
        assert [letter.message for letter in letters] == ["one", "two"]
        assert {letter.why for letter in letters} == {Undelivered.ACTOR_ENDED}
        assert shop.dead_letters == 2


async def send_while_frozen(address: Address[Message], *messages: Message) -> None:
    with freeze(address):
        for message in messages:
            await address.tell(message)
        await wait_all_tasks_blocked()
    await wait_all_tasks_blocked()


async def test_mail_survives_the_crash_and_the_poison_message_does_not() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        await send_while_frozen(address, Note("before"), Break(), Note("after"), Note("and more"))
        assert await address.ask(Notes()) == ["after", "and more"]
        assert shop.tree().children[0].life == 2
        assert shop.dead_letters == 0


async def test_mail_survives_a_group_restart() -> None:
    culprit, reader = ChildSpec("culprit", idle), ChildSpec("till", till)
    children: list[Spec] = [culprit, reader]
    async with open_supervisor("shop", strategy=Strategy.ONE_FOR_ALL, children=children) as shop:
        address = shop.address(reader)
        with freeze(address):
            await address.tell(Note("kept"))
            await crash(shop.address(culprit))
            await wait_all_tasks_blocked()
        await wait_all_tasks_blocked()
        assert await address.ask(Notes()) == ["kept"]


async def test_mail_sent_during_a_backoff_waits_for_the_next_life(
    autojump_clock: MockClock,
) -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till, backoff=Backoff(minimum=10)))
        await crash(address)
        await wait_all_tasks_blocked()
        assert address.phase is Phase.RESTARTING
        await address.tell(Note("patient"))
        with watch(shop) as watching:
            await watching.next(Ready, "shop/till")
        assert await address.ask(Notes()) == ["patient"]
        assert shop.dead_letters == 0


async def test_mail_waits_for_an_actor_that_is_still_starting(autojump_clock: MockClock) -> None:
    async def sleepy(inbox: Inbox[Message]) -> None:
        await trio.sleep(10)
        await till(inbox)

    spec = ChildSpec("till", sleepy)
    async with (
        open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(shop.start, spec)
        await wait_all_tasks_blocked()
        address = shop.address(spec)
        assert address.phase is Phase.STARTING
        await address.tell(Add(1))
        assert await address.ask(Add(1)) == 2


async def test_tell_nowait_delivers_like_tell() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        address.tell_nowait(Note("a"))
        address.tell_nowait(Note("b"))
        assert await address.ask(Notes()) == ["a", "b"]


async def test_tell_nowait_into_a_full_mailbox_fails_where_tell_would_wait() -> None:
    async with open_supervisor("shop") as shop:
        box = MailboxSpec(1, Overflow.WAIT)
        address = await shop.start(ChildSpec("deaf", deaf, mailbox=box))
        address.tell_nowait("fits")
        with pytest.raises(MailboxFull, match=r"shop/deaf: .* tell_nowait\(\) cannot wait"):
            address.tell_nowait("does not")


@pytest.mark.parametrize("overflow", [Overflow.DROP_OLDEST, Overflow.DROP_NEWEST])
async def test_tell_nowait_into_a_full_mailbox_follows_a_rule_that_drops(
    overflow: Overflow,
) -> None:
    async with open_supervisor("shop") as shop:
        spec = ChildSpec("deaf", deaf, mailbox=MailboxSpec(1, overflow))
        address = await shop.start(spec)
        address.tell_nowait("one")
        address.tell_nowait("two")
        assert shop.dead_letters == 1


async def test_an_address_shows_where_its_actor_is_and_stands() -> None:
    async with open_supervisor("shop") as shop:
        first = await shop.start(ChildSpec("till", till))
        other = await shop.start(ChildSpec("other", till))
        assert first.path == "shop/till"
        assert repr(first) == "<Address shop/till: running>"
        again = {child.name: child.address for child in await shop.children()}
        assert again["till"] == first
        assert first != other
        assert {first, again["till"], other} == {first, other}
