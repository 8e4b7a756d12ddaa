"""Questions and answers: what an actor can do with one, and what its asker gets."""

from dataclasses import dataclass

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from supervisors import (
    AskedSelf,
    AskTimeout,
    ChildSpec,
    Inbox,
    MailboxFull,
    MailboxSpec,
    NoReply,
    Overflow,
    Reply,
    Request,
    open_supervisor,
)
from supervisors.testing import freeze
from tests.supervisors.till import Add, Note, Notes, till


@dataclass(frozen=True)
class Question(Request[str]):
    text: str = ""


async def test_an_ask_returns_the_reply() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        assert await address.ask(Add(5)) == 5
        assert await address.ask(Add(5), timeout=1) == 10


async def test_a_rejected_ask_raises_the_error_where_it_was_asked() -> None:
    async def grumpy(inbox: Inbox[Question]) -> None:
        async for question in inbox:
            inbox.reject(question, LookupError(question.text))

    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("grumpy", grumpy))
        with pytest.raises(LookupError, match="why"):
            await address.ask(Question("why"))
        with pytest.raises(LookupError, match="who"):
            await address.ask(Question("who"))


async def thoughtful(inbox: Inbox[Question]) -> None:
    """Answers each question when the next one comes; fails the one that says so."""
    waiting: Reply[str] | None = None
    async for question in inbox:
        if waiting is not None:
            waiting.send(f"before {question.text}")
        waiting = inbox.defer(question)
        if question.text == "fail":
            waiting.fail(LookupError("as you wish"))


async def test_a_deferred_ask_is_answered_later_while_others_are_served() -> None:
    async with open_supervisor("shop") as shop, trio.open_nursery() as nursery:
        address = await shop.start(ChildSpec("thoughtful", thoughtful))
        answers: list[str] = []

        async def ask() -> None:
            answers.append(await address.ask(Question("one")))

        nursery.start_soon(ask)
        await wait_all_tasks_blocked()
        assert answers == []
        with pytest.raises(LookupError, match="as you wish"):
            await address.ask(Question("fail"))
        await wait_all_tasks_blocked()
        assert answers == ["before fail"]


async def test_a_promise_may_be_kept_by_another_task_of_the_actor(
    autojump_clock: MockClock,
) -> None:
    async def busy(inbox: Inbox[Question]) -> None:
        async def work(reply: Reply[str], seconds: float) -> None:
            await trio.sleep(seconds)
            reply.send(f"after {seconds:g} s")

        async with trio.open_nursery() as nursery:
            async for question in inbox:
                nursery.start_soon(work, inbox.defer(question), float(question.text))

    async with open_supervisor("shop") as shop, trio.open_nursery() as nursery:
        address = await shop.start(ChildSpec("busy", busy))
        began = trio.current_time()
        nursery.start_soon(address.ask, Question("9"))
        assert await address.ask(Question("3")) == "after 3 s"
        assert trio.current_time() - began == 3


async def test_the_second_answer_to_one_ask_is_dropped() -> None:
    async def talkative(inbox: Inbox[Question]) -> None:
        async for question in inbox:
            promise = inbox.defer(question)
            promise.send("first")
            promise.send("second")
            promise.fail(LookupError("third"))
            inbox.reply(question, "fourth")

    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("talkative", talkative))
        assert await address.ask(Question()) == "first"
        assert await address.ask(Question()) == "first"


async def test_a_request_that_was_told_has_nobody_to_answer() -> None:
    seen: list[str] = []

    async def polite(inbox: Inbox[Question]) -> None:
        async for question in inbox:
            seen.append(question.text)
            inbox.reply(question, "to nobody")
            inbox.reject(question, LookupError("by nobody"))
            inbox.defer(question).send("to nobody")

    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("polite", polite))
        await address.tell(Question("one"))
        await address.tell(Question("two"))
        await wait_all_tasks_blocked()
        assert seen == ["one", "two"]


async def test_taking_the_next_message_without_an_answer_fails_the_ask() -> None:
    async def absent_minded(inbox: Inbox[Question]) -> None:
        async for _ in inbox:
            pass

    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("clerk", absent_minded))
        with pytest.raises(NoReply, match=r"shop/clerk did not answer Question"):
            await address.ask(Question("well?"))


async def test_an_actor_that_asks_itself_is_told_instead_of_hanging() -> None:
    async def narcissus(inbox: Inbox[Question]) -> None:
        async for question in inbox:
            try:
                await inbox.address.ask(Question("who is the fairest"))
            except AskedSelf as error:
                inbox.reply(question, str(error))

    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("narcissus", narcissus))
        assert "shop/narcissus asked itself" in await address.ask(Question())


async def test_no_answer_in_time_is_an_error_and_the_late_reply_is_dropped(
    autojump_clock: MockClock,
) -> None:
    async def slow(inbox: Inbox[Question]) -> None:
        async for question in inbox:
            await trio.sleep(5)
            inbox.reply(question, question.text)

    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("slow", slow))
        began = trio.current_time()
        with pytest.raises(AskTimeout, match=r"shop/slow did not answer within 2 s") as failure:
            await address.ask(Question("late"), timeout=2)
        assert isinstance(failure.value, TimeoutError)
        assert trio.current_time() - began == 2
        assert await address.ask(Question("in time"), timeout=10) == "in time"


async def test_a_timeout_does_not_call_the_work_off() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        with freeze(address):
            with pytest.raises(AskTimeout):
                await address.ask(Add(5), timeout=0)
            with pytest.raises(AskTimeout):
                await address.ask(Add(6), timeout=0.01)
        await wait_all_tasks_blocked()
        assert await address.ask(Add(0)) == 11


async def test_a_cancelled_asker_leaves_the_actor_undisturbed() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till))
        async with trio.open_nursery() as nursery:
            with freeze(address):
                nursery.start_soon(address.ask, Add(5))
                await wait_all_tasks_blocked()
                nursery.cancel_scope.cancel()
        assert await address.ask(Add(1)) == 6


async def test_an_ask_waits_for_room_in_a_full_mailbox_that_waits() -> None:
    async with open_supervisor("shop") as shop, trio.open_nursery() as nursery:
        box = MailboxSpec(1, Overflow.WAIT)
        address = await shop.start(ChildSpec("till", till, mailbox=box))
        answers: list[int] = []

        async def ask() -> None:
            answers.append(await address.ask(Add(5)))

        with freeze(address):
            await address.tell(Note("first"))
            nursery.start_soon(ask)
            await wait_all_tasks_blocked()
        await wait_all_tasks_blocked()
        assert answers == [5]


async def test_an_asker_that_waits_for_room_in_vain_times_out(autojump_clock: MockClock) -> None:
    async with open_supervisor("shop") as shop:
        box = MailboxSpec(1, Overflow.WAIT)
        address = await shop.start(ChildSpec("till", till, mailbox=box))
        with freeze(address):
            await address.tell(Note("first"))
            with pytest.raises(AskTimeout):
                await address.ask(Add(5), timeout=3)
        await wait_all_tasks_blocked()
        assert await address.ask(Add(0)) == 0


@pytest.mark.parametrize("overflow", [Overflow.FAIL, Overflow.DROP_NEWEST])
async def test_an_ask_into_a_full_mailbox_that_does_not_wait_fails(overflow: Overflow) -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till, mailbox=MailboxSpec(1, overflow)))
        with freeze(address):
            await address.tell(Note("first"))
            with pytest.raises(MailboxFull):
                await address.ask(Add(5))
        await wait_all_tasks_blocked()
        assert await address.ask(Notes()) == ["first"]
        assert shop.dead_letters == 0


async def test_an_ask_that_drop_oldest_discards_fails() -> None:
    async with open_supervisor("shop") as shop, trio.open_nursery() as nursery:
        box = MailboxSpec(1, Overflow.DROP_OLDEST)
        address = await shop.start(ChildSpec("till", till, mailbox=box))

        async def ask_in_vain() -> None:
            with pytest.raises(MailboxFull, match="shop/till: the mailbox is full"):
                await address.ask(Add(5))

        with freeze(address):
            nursery.start_soon(ask_in_vain)
            await wait_all_tasks_blocked()
            nursery.start_soon(address.ask, Add(7))
            await wait_all_tasks_blocked()
        await wait_all_tasks_blocked()
        assert await address.ask(Add(0)) == 7
