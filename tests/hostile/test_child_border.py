"""What leaves a child, or comes from the host's logging, stops at the child's border."""

import contextlib
import gc
import io
import logging
import math
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from functools import partial
from typing import NoReturn

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from supervisors import (
    ActorRestarting,
    Address,
    Backoff,
    ChildSpec,
    Crashed,
    Inbox,
    Phase,
    Request,
    SpecError,
    StrayCancelled,
    Supervisor,
    SupervisorGaveUp,
    SupervisorSpec,
    open_supervisor,
)
from supervisors.testing import crash, nothing_left, watch

HUGE = 10**400


class Question(Request[str]): ...


async def answering(inbox: Inbox[Question]) -> None:
    async for question in inbox:
        inbox.reply(question, "here")


async def fragile(inbox: Inbox[object]) -> None:
    async for _ in inbox:
        raise ValueError("told to")


async def raising(inbox: Inbox[object], error: BaseException) -> None:
    async for _ in inbox:
        raise error


SIBLING = ChildSpec("sibling", answering)


class Raises(logging.Handler):
    """A handler, and a filter, that raise, as at a full disk."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error
        self.calls = 0

    def handle(self, record: logging.LogRecord) -> bool:
        self.calls += 1
        raise self.error

    filter = handle


ERRORS = [OSError(28, "No space left"), SystemExit(3), KeyboardInterrupt(), trio.EndOfChannel()]
each_error = pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)


@contextmanager
def logging_by(handler: Raises, way: str) -> Generator[None]:
    logger = logging.getLogger("supervisors")
    add = logger.addHandler if way == "handler" else logger.addFilter
    remove = logger.removeHandler if way == "handler" else logger.removeFilter
    add(handler)
    try:
        yield
    finally:
        remove(handler)


async def is_unharmed(sibling: Address[Question]) -> bool:
    with trio.fail_after(60):
        return await sibling.ask(Question()) == "here"


@each_error
@pytest.mark.parametrize("way", ["handler", "filter"])
async def test_h5_a_log_handler_that_raises_harms_nobody(
    error: BaseException, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    victim, broken = ChildSpec("victim", fragile), Raises(error)
    with logging_by(broken, way):
        async with nothing_left(), open_supervisor("shop", children=[SIBLING, victim]) as shop:
            await crash(shop.address(victim))
            await wait_all_tasks_blocked()
            assert shop.address(victim).phase is Phase.RUNNING
            assert await is_unharmed(shop.address(SIBLING))
    assert broken.calls == 1
    said = capsys.readouterr().err
    assert f"a log handler of supervisors raised {type(error).__name__}" in said
    assert "told to" not in said


@each_error
async def test_h5_a_supervisor_that_gives_up_unheard_still_says_why(error: BaseException) -> None:
    async def shop_with_a_victim() -> None:
        victim = ChildSpec("victim", fragile)
        async with open_supervisor("shop", children=[victim], intensity=0) as shop:
            await shop.address(victim).tell("go")
            await trio.sleep_forever()

    with logging_by(Raises(error), "handler"), pytest.raises(SupervisorGaveUp) as caught:
        await shop_with_a_victim()
    assert isinstance(caught.value.__cause__, ValueError)


class Full(io.StringIO):
    """A stderr on a full disk."""

    def write(self, _: str) -> int:
        raise OSError(28, "No space left")


def closed() -> io.StringIO:
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("stderr", [None, closed(), Full()], ids=["none", "closed", "full"])
async def test_h5_a_stderr_that_takes_nothing_harms_nobody_either(
    stderr: io.StringIO | None,
) -> None:
    victim = ChildSpec("victim", fragile)
    with logging_by(Raises(OSError()), "handler"), contextlib.redirect_stderr(stderr):
        async with open_supervisor("shop", children=[SIBLING, victim]) as shop:
            await crash(shop.address(victim))
            assert await is_unharmed(shop.address(SIBLING))


def lie(_: object) -> NoReturn:
    raise RuntimeError("no answer")


# An error whose every answer is another error.
LIES = {"__class__": property(lie), "__notes__": property(lie), "__bool__": lie, "__str__": lie}
Liar: type[Exception] = type("Liar", (Exception,), LIES)


async def test_h5_an_error_that_cannot_be_looked_at_is_a_crash_of_its_child() -> None:
    victim = ChildSpec("victim", partial(raising, error=Liar()))
    async with nothing_left(), open_supervisor("shop", children=[SIBLING, victim]) as shop:
        with pytest.raises(ActorRestarting):
            await shop.address(victim).ask(Question())
        assert await is_unharmed(shop.address(SIBLING))


async def a_cancelled() -> trio.Cancelled:
    """One that was kept, as a cache of results keeps what its first caller got."""
    with trio.CancelScope() as scope:
        scope.cancel()
        try:
            await trio.sleep_forever()
        except trio.Cancelled as cancelled:
            return cancelled
    raise AssertionError


async def crash_of(victim: ChildSpec[object], shop: Supervisor) -> BaseException | None:
    with trio.fail_after(60), watch(shop) as watching:
        await shop.address(victim).tell("go")
        return (await watching.next(Crashed)).error


async def test_m6_a_cancelled_that_was_kept_is_a_crash_of_who_raises_it() -> None:
    victim = ChildSpec("victim", partial(raising, error=await a_cancelled()))
    async with nothing_left(), open_supervisor("shop", children=[SIBLING, victim]) as shop:
        assert isinstance(await crash_of(victim, shop), StrayCancelled)
        await wait_all_tasks_blocked()
        assert await is_unharmed(shop.address(SIBLING))
        assert shop.address(victim).phase is Phase.RUNNING


KEPT: list[AsyncGenerator[int]] = []


async def with_a_nursery() -> AsyncGenerator[int]:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep_forever)
        yield 1


async def leaving_a_generator(inbox: Inbox[object], kept: list[AsyncGenerator[int]]) -> None:
    """Leaves it by `break`, as is easily done, and reads on."""
    async for message in inbox:
        if message == "go":
            kept.append(with_a_nursery())
            async for _ in kept[-1]:
                break
            if kept is not KEPT:
                kept.clear()
        elif message == "return":
            return
        else:
            raise ValueError("told to")


@pytest.mark.parametrize("kept", [KEPT, []], ids=["kept", "dropped"])
@pytest.mark.parametrize("end", ["return", "raise"])
async def test_m7_a_generator_left_with_a_nursery_is_a_crash_of_who_left_it(
    kept: list[AsyncGenerator[int]], end: str
) -> None:
    victim = ChildSpec("victim", partial(leaving_a_generator, kept=kept))
    async with nothing_left(), open_supervisor("shop", children=[SIBLING, victim]) as shop:
        await shop.address(victim).tell("go")
        gc.collect()
        await wait_all_tasks_blocked()
        with trio.fail_after(60), watch(shop) as watching:
            await shop.address(victim).tell(end)
            crashed = await watching.next(Crashed)
        assert isinstance(crashed.error, ValueError if end == "raise" else RuntimeError)
        await wait_all_tasks_blocked()
        assert shop.address(victim).phase is Phase.RUNNING
        assert await is_unharmed(shop.address(SIBLING))


async def test_m7_a_stop_closes_it_and_leaves_nothing() -> None:
    victim = ChildSpec("victim", partial(leaving_a_generator, kept=[]))
    async with nothing_left(), open_supervisor("shop", children=[SIBLING, victim]) as shop:
        await shop.address(victim).tell("go")
        await wait_all_tasks_blocked()
        with trio.fail_after(60):
            await shop.terminate("victim")
        assert await is_unharmed(shop.address(SIBLING))


async def test_m7_other_generators_are_closed_by_trio_as_ever() -> None:
    closed = trio.Event()

    async def harmless() -> AsyncGenerator[int]:
        try:
            yield 1
        finally:
            closed.set()

    async def actor(inbox: Inbox[object]) -> None:
        async with trio.open_nursery():
            async for _ in harmless():
                break
            await inbox.receive()

    async def host() -> None:
        async with open_supervisor("shop", children=[ChildSpec("till", actor)]):
            await closed.wait()

    with trio.fail_after(60), pytest.warns(ResourceWarning, match="garbage collected before"):
        await host()


async def test_m9_who_watches_for_the_end_keeps_no_block_from_ending() -> None:
    async def host(nursery: trio.Nursery) -> None:
        victim = ChildSpec("victim", fragile)
        async with open_supervisor("shop", children=[victim], intensity=0) as shop:
            nursery.start_soon(shop.wait)
            await wait_all_tasks_blocked()
            await shop.address(victim).tell("go")
            await trio.sleep_forever()

    with trio.fail_after(60):
        async with trio.open_nursery() as watching:
            with pytest.raises(SupervisorGaveUp):
                await host(watching)


async def test_m9_the_block_that_waits_itself_goes_on() -> None:
    went_on = False

    async def host() -> None:
        nonlocal went_on
        victim = ChildSpec("victim", fragile)
        async with open_supervisor("shop", children=[victim], intensity=0) as shop:
            await shop.address(victim).tell("go")
            await shop.wait()
            await trio.lowlevel.checkpoint()
            went_on = True

    with pytest.raises(SupervisorGaveUp), trio.fail_after(60):
        await host()
    assert went_on


async def test_low_1_a_late_starter_is_killed_before_it_is_called_stuck(
    autojump_clock: MockClock,
) -> None:
    alive: list[int] = []
    most = 0

    async def late(inbox: Inbox[object]) -> None:
        """Ready in its first life alone; its clean-up takes as long as it may."""
        nonlocal most
        alive.append(inbox.life)
        most = max(most, len(alive))
        try:
            if inbox.life == 1:
                await fragile(inbox)
            await trio.sleep_forever()
        finally:
            with inbox.grace():
                await trio.sleep(100 if inbox.life > 1 else 0)
            alive.remove(inbox.life)

    async def shop_with_it() -> None:
        spec = ChildSpec("late", late, shutdown=5, start_timeout=10)
        async with open_supervisor("shop", children=[spec], intensity=2, period=100) as shop:
            await shop.address(spec).tell("go")
            await trio.sleep_forever()

    began = trio.current_time()
    async with nothing_left():
        with pytest.raises(SupervisorGaveUp) as gave_up:
            await shop_with_it()
    assert isinstance(gave_up.value.__cause__, TimeoutError)
    assert trio.current_time() - began == pytest.approx(2 * (10 + 5))
    assert (most, alive) == (1, [])


@pytest.mark.parametrize("value", [HUGE, -HUGE, 10**5000], ids=["huge", "least", "unprintable"])
def test_low_3_a_number_that_no_clock_can_hold_is_refused_at_once(value: int) -> None:
    for wrong in (
        partial(ChildSpec, "till", fragile, shutdown=value),
        partial(ChildSpec, "till", fragile, start_timeout=value),
        partial(SupervisorSpec, "shop", period=value),
        partial(Backoff, maximum=value),
    ):
        with pytest.raises(SpecError):
            wrong()


@pytest.mark.parametrize("seconds", [-1, -0.001, math.nan, -math.inf, HUGE])
async def test_low_17_a_timeout_that_cannot_be_is_refused_before_the_message_is_put(
    seconds: float,
) -> None:
    async with open_supervisor("shop", children=[SIBLING]) as shop:
        sibling = shop.address(SIBLING)
        with pytest.raises((ValueError, OverflowError), match=r"must be seconds|too large"):
            await sibling.ask(Question(), seconds)
        assert shop.tree().children[0].waiting == 0
        assert await sibling.ask(Question(), math.inf) == "here"
