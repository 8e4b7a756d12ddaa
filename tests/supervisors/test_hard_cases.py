"""Sequences that a review thought of and ordinary tests do not reach."""

import logging
import signal
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from supervisors import (
    ActorDown,
    ActorRestarting,
    Address,
    Backoff,
    ChildSpec,
    Inbox,
    MailboxSpec,
    Phase,
    Request,
    Restart,
    SpecError,
    StartFailed,
    Strategy,
    Stuck,
    Supervisor,
    SupervisorGaveUp,
    SupervisorSpec,
    open_supervisor,
)
from supervisors.testing import crash, nothing_left, watch

DAY = 24 * 3600.0


class Question(Request[int]): ...


async def idle(inbox: Inbox[object]) -> None:
    async for _ in inbox:
        pass


async def fragile(inbox: Inbox[object]) -> None:
    async for _ in inbox:
        raise ValueError("told to")


async def cleans_up_for_long(inbox: Inbox[object]) -> None:
    try:
        await idle(inbox)
    finally:
        with inbox.grace():
            await trio.sleep(100)


@contextmanager
def log_handler(handler: logging.Handler) -> Generator[None]:
    logger = logging.getLogger("supervisors")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class SendsSigint(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        signal.raise_signal(signal.SIGINT)


async def test_a_callers_wrong_argument_is_the_callers_error() -> None:
    spec = ChildSpec("till", idle)
    wrong: Any = spec
    async with open_supervisor("shop", children=[spec]) as shop:
        with pytest.raises(AttributeError):
            await shop.terminate(wrong)
        with pytest.raises(TypeError, match="intesity"):
            await shop.reload(intesity=3)  # type: ignore[call-arg]  # pyright: ignore
        assert (await shop.count()).active == 1


def test_an_interrupt_while_a_crash_is_handled_reaches_the_host() -> None:
    async def main() -> None:
        spec = ChildSpec("till", fragile)
        async with nothing_left(), open_supervisor("shop", children=[spec]) as shop:
            with pytest.raises(ActorRestarting):
                await shop.address(spec).ask(Question())
            await trio.sleep_forever()

    with log_handler(SendsSigint()), pytest.raises(KeyboardInterrupt):
        trio.run(main)


async def test_an_error_that_cannot_be_printed_is_an_ordinary_crash() -> None:
    class Unprintable(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    async def speechless(inbox: Inbox[object]) -> None:
        async for _ in inbox:
            raise Unprintable

    spec = ChildSpec("till", speechless)
    async with open_supervisor("shop", children=[spec]) as shop:
        with pytest.raises(ActorRestarting, match="Unprintable"):
            await shop.address(spec).ask(Question())
        await trio.testing.wait_all_tasks_blocked()
        assert shop.address(spec).phase is Phase.RUNNING


async def kill_team_while_it_stops(shop: Supervisor) -> None:
    await shop.terminate("team")
    await trio.sleep(300)
    assert shop.registered() == {}
    await shop.restart("team")
    assert list(shop.registered()) == ["cash"]


async def test_a_killed_supervisor_frees_the_name_of_a_child_in_backoff(
    autojump_clock: MockClock,
) -> None:
    backoff = Backoff(minimum=50, maximum=50, jitter=0)
    named = ChildSpec("named", fragile, register="cash", backoff=backoff)
    slow = ChildSpec("slow", cleans_up_for_long, shutdown=200)
    team = SupervisorSpec("team", children=[named, slow], shutdown=1)
    async with nothing_left(), open_supervisor("shop", children=[team]) as shop:
        await crash(shop.supervisor("team").address(named))
        await kill_team_while_it_stops(shop)


async def test_a_killed_supervisor_frees_the_name_of_a_child_it_was_restarting(
    autojump_clock: MockClock,
) -> None:
    named = ChildSpec("named", cleans_up_for_long, register="cash", shutdown=200)
    victim = ChildSpec("victim", fragile)
    team = SupervisorSpec(
        "team", strategy=Strategy.ONE_FOR_ALL, children=[named, victim], shutdown=1
    )
    async with open_supervisor("shop", children=[team]) as shop:
        address = shop.supervisor("team").address(named)
        await crash(shop.supervisor("team").address(victim))
        await trio.sleep(1)
        await kill_team_while_it_stops(shop)
        await address.tell("too late")
        assert shop.dead_letters == 1


async def test_what_a_killed_supervisor_leaves_behind_is_reported(
    autojump_clock: MockClock,
) -> None:
    async def deaf(inbox: Inbox[object]) -> None:
        inbox.ready()
        with trio.CancelScope(shield=True):
            await trio.sleep(DAY)

    child = ChildSpec("deaf", deaf, shutdown=100)
    team = SupervisorSpec("team", children=[child], shutdown=1)
    async with open_supervisor("shop", children=[team]) as shop:
        address = shop.supervisor("team").address(child)
        with watch(shop) as watching:
            await shop.terminate("team")
            await watching.next(Stuck, "shop/team/deaf")
        with pytest.raises(ActorDown):
            await address.ask(Question())


async def test_who_was_left_behind_while_it_waited_takes_no_mail_of_the_next_life(
    autojump_clock: MockClock,
) -> None:
    got: list[tuple[int, object]] = []

    async def shielded_at_first(inbox: Inbox[object]) -> None:
        with trio.CancelScope(shield=inbox.life == 1):
            async for message in inbox:
                got.append((inbox.life, message))

    reader = ChildSpec("reader", shielded_at_first, shutdown=1)
    victim = ChildSpec("victim", fragile, backoff=Backoff(minimum=5, jitter=0))
    strategy = Strategy.ONE_FOR_ALL
    async with open_supervisor("shop", strategy=strategy, children=[reader, victim]) as shop:
        await shop.address(reader).tell("first")
        await crash(shop.address(victim))
        await trio.sleep(4)
        await shop.address(reader).tell("during the backoff")
        await trio.sleep(10)
    assert got == [(1, "first"), (2, "during the backoff")]


async def test_a_wait_that_was_given_up_changes_nothing(autojump_clock: MockClock) -> None:
    async def main() -> None:
        spec = ChildSpec("till", fragile)
        async with open_supervisor("shop", intensity=0, children=[spec]) as shop:
            with trio.move_on_after(1):
                await shop.wait()
            await shop.address(spec).tell("boom")
            await trio.sleep_forever()

    with pytest.raises(SupervisorGaveUp):
        await main()


@pytest.mark.parametrize("strategy", [Strategy.ONE_FOR_ONE, Strategy.REST_FOR_ONE])
async def test_a_crash_behind_a_reload_follows_the_new_spec(
    strategy: Strategy, autojump_clock: MockClock
) -> None:
    async def slow_to_start(inbox: Inbox[object]) -> None:
        await trio.sleep(5)
        await idle(inbox)

    before, after = ChildSpec("a", fragile), ChildSpec("a", fragile, restart=Restart.TEMPORARY)
    async with open_supervisor("shop", strategy=strategy, children=[before]) as shop:

        async def reload(children: Sequence[ChildSpec[object]]) -> None:
            await shop.reload(children=children)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(shop.start, ChildSpec("slow", slow_to_start))
            await trio.sleep(1)
            nursery.start_soon(reload, [after])
            await trio.testing.wait_all_tasks_blocked()
            await crash(shop.tree().children[0].address)
        assert [child.name for child in await shop.children()] == ["slow"]


async def test_a_reload_makes_no_supervisor_of_a_worker() -> None:
    worker = ChildSpec("x", idle, mailbox=MailboxSpec(1))
    async with open_supervisor("shop", children=[worker]) as shop:
        with pytest.raises(SpecError, match="cannot become a supervisor"):
            await shop.reload(children=[SupervisorSpec("x")])
        assert await shop.spec("x") is worker


async def slow_for_ever(inbox: Inbox[object]) -> None:
    await trio.sleep(DAY)


async def test_a_start_that_was_terminated_has_failed(autojump_clock: MockClock) -> None:
    async with open_supervisor("pool", strategy=Strategy.DYNAMIC) as pool:

        async def start() -> None:
            with pytest.raises(StartFailed, match="shut down"):
                await pool.start(ChildSpec("slow", slow_for_ever))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(start)
            await trio.testing.wait_all_tasks_blocked()
            await pool.terminate("slow")


async def test_a_start_whose_caller_left_still_has_its_timeout(autojump_clock: MockClock) -> None:
    async with open_supervisor("pool", strategy=Strategy.DYNAMIC) as pool:
        with trio.CancelScope() as caller:
            caller.cancel()
            await pool.start(ChildSpec("slow", slow_for_ever, start_timeout=2))
        await trio.sleep(3)
        assert await pool.children() == []


async def test_a_thousand_children_in_backoff_are_no_burden() -> None:
    backoff = Backoff(minimum=60, maximum=60)
    specs = [ChildSpec(f"c{n}", fragile, backoff=backoff) for n in range(1000)]
    async with open_supervisor("shop", intensity=1000, children=specs) as shop:
        addresses: list[Address[object]] = [shop.address(spec) for spec in specs]
        for address in addresses:
            address.tell_nowait("boom")
        await trio.testing.wait_all_tasks_blocked()
        await shop.terminate("c0")
        phases = {child.phase for child in await shop.children()}
        assert phases == {Phase.RESTARTING, Phase.STOPPED}
