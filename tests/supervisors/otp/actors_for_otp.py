"""The actors that the OTP cases supervise: they end on command, start badly or stop slowly."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

import trio
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    Inbox,
    Notice,
    OrderlyExit,
    Phase,
    Request,
    Restart,
    Restarting,
    Strategy,
    SupervisorSpec,
    open_supervisor,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Container

    from supervisors import Address, Down, Spec, Supervisor
    from supervisors.testing import Watch


class End(Enum):
    """An order to end, in OTP's words for the reason."""

    NORMAL = "return"
    SHUTDOWN = "raise OrderlyExit"
    SHUTDOWN_WITH_TERM = "raise a kind of OrderlyExit"
    ABNORMAL = "raise Boom"


@dataclass(frozen=True, slots=True)
class WhichLife(Request[int]):
    """Asks an actor which of its lives it is in: a new one is what a new pid is in OTP."""


class WithTerm(OrderlyExit):
    """OTP's {shutdown, Term}: an orderly end that carries something."""


class Boom(Exception):
    """The error that the actors here crash with."""


Message: TypeAlias = End | WhichLife
Actor: TypeAlias = Callable[[Inbox[Message]], Awaitable[None]]


async def obedient(inbox: Inbox[Message]) -> None:
    """Starts at once, tells its life, and ends as it is told."""
    async for message in inbox:
        match message:
            case WhichLife():
                inbox.reply(message, inbox.life)
            case End.NORMAL:
                return
            case End.SHUTDOWN:
                raise OrderlyExit("as told")
            case End.SHUTDOWN_WITH_TERM:
                raise WithTerm("as told")
            case End.ABNORMAL:
                raise Boom("as told")


class StartsBadly:
    """Obedient, but its starts of the given numbers raise; it counts them all, the first is 1."""

    def __init__(self, bad: Container[int], raises: type[Exception] = Boom) -> None:
        self.bad = bad
        self.raises = raises
        self.starts = 0

    async def __call__(self, inbox: Inbox[Message]) -> None:
        """One life."""
        self.starts += 1
        if self.starts in self.bad:
            raise self.raises(f"start {self.starts} is a bad one")
        await obedient(inbox)


def from_start(number: int) -> Container[int]:
    """For StartsBadly: this start and all later ones."""
    return range(number, 1_000_000)


class StartsWhenLet:
    """Obedient, but not ready before `let` is set; `begun` is set when a start is under way."""

    def __init__(self) -> None:
        self.begun = trio.Event()
        self.let = trio.Event()

    async def __call__(self, inbox: Inbox[Message]) -> None:
        """One life."""
        self.begun.set()
        await self.let.wait()
        await obedient(inbox)


class Deaf:
    """Ready at once, and ignores every cancellation until `release` is called."""

    def __init__(self) -> None:
        self._released = trio.Event()

    async def __call__(self, inbox: Inbox[Message]) -> None:
        """One life."""
        inbox.ready()
        with trio.CancelScope(shield=True):
            await self._released.wait()

    def release(self) -> None:
        """Let all its lives end."""
        self._released.set()


def slow_to_stop(seconds: float) -> Actor:
    """Obedient, but cleans up for so long when it ends, within the grace that its spec gives."""

    async def actor(inbox: Inbox[Message]) -> None:
        try:
            await obedient(inbox)
        finally:
            with inbox.grace():
                await trio.sleep(seconds)

    return actor


def ends_when_stopped(how: End) -> Actor:
    """Obedient, but answers a stop with an end of its own choice."""

    async def actor(inbox: Inbox[Message]) -> None:
        try:
            await obedient(inbox)
        except trio.Cancelled:
            match how:
                case End.NORMAL:
                    return
                case End.SHUTDOWN:
                    raise OrderlyExit("when stopped") from None
                case End.SHUTDOWN_WITH_TERM:
                    raise WithTerm("when stopped") from None
                case End.ABNORMAL:
                    raise Boom("when stopped") from None

    return actor


@asynccontextmanager
async def open_shop(
    strategy: Strategy, *children: Spec, intensity: int = 2, period: float = 3600.0
) -> AsyncGenerator[Supervisor, None]:
    """A supervisor at `root/shop` that may give up without ending the test: nobody restarts it."""
    spec = SupervisorSpec(
        "shop",
        strategy=strategy,
        intensity=intensity,
        period=period,
        children=children,
        restart=Restart.TEMPORARY,
    )
    async with open_supervisor("root") as root:
        try:
            yield await root.start(spec)
        finally:
            assert root.phase is Phase.RUNNING  # its end would have cancelled the test unseen


async def end(child: Address[Message], how: End) -> Down:
    """Tell a child to end; what its monitor says. Its supervisor has not reacted yet."""
    monitor = child.monitor()
    await child.tell(how)
    return await monitor.down()


async def end_and_settle(child: Address[Message], how: End) -> None:
    """Tell a child to end, and wait until its supervisor has done all it does about it."""
    await end(child, how)
    await wait_all_tasks_blocked()


def lives(supervisor: Supervisor) -> dict[str, int]:
    """The number of each child's latest life, in start order."""
    return {child.name: child.life for child in supervisor.tree().children}


def phases(supervisor: Supervisor) -> dict[str, Phase]:
    """Where each child stands, in start order."""
    return {child.name: child.phase for child in supervisor.tree().children}


def story(watching: Watch) -> list[str]:
    """The notices so far as `Ready a`, without the restart announcements, which count apart."""
    return [_line(notice) for notice in watching.all() if not isinstance(notice, Restarting)]


def _line(notice: Notice) -> str:
    return f"{type(notice).__name__} {notice.path.rpartition('/')[2]}"
