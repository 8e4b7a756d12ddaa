"""A cash register and the few other actors that most of these tests put under supervision."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

import trio

from supervisors import Address, Inbox, Request, Supervisor
from supervisors.testing import crash

Actor: TypeAlias = Callable[[Inbox[object]], Awaitable[None]]


class Jam(Exception):
    """What a till dies of."""


@dataclass(frozen=True)
class Add(Request[int]):
    """Answered with the new total."""

    amount: int


@dataclass(frozen=True)
class Note:
    """Something to remember; it has no answer."""

    text: str


@dataclass(frozen=True)
class Notes(Request[list[str]]):
    """Answered with what was noted in this life."""


@dataclass(frozen=True)
class Break:
    """Makes the till crash."""


@dataclass(frozen=True)
class Close:
    """Makes the till return."""


Message: TypeAlias = Add | Note | Notes | Break | Close


async def till(inbox: Inbox[Message]) -> None:
    """Adds up and remembers; a new life begins with nothing."""
    total = 0
    notes: list[str] = []
    async for message in inbox:
        match message:
            case Add(amount=amount):
                total += amount
                inbox.reply(message, total)
            case Note(text=text):
                notes.append(text)
            case Notes():
                inbox.reply(message, list(notes))
            case Break():
                raise Jam("the drawer is stuck")
            case Close():
                return


async def idle(inbox: Inbox[object]) -> None:
    """Takes everything and does nothing."""
    async for _ in inbox:
        pass


async def deaf(inbox: Inbox[object]) -> None:
    """Is ready, and never looks into its inbox."""
    inbox.ready()
    await trio.sleep_forever()


def cleaning_for(seconds: float, log: list[str], name: str) -> Actor:
    """An actor that needs that long to end, and writes down when it has."""

    async def actor(inbox: Inbox[object]) -> None:
        inbox.ready()
        try:
            await trio.sleep_forever()
        finally:
            with inbox.grace():
                await trio.sleep(seconds)
                log.append(name)

    return actor


async def crash_and_stay(target: Address[object] | Supervisor, error: Exception) -> None:
    """Crash it, and let the host's block wait for what comes of it."""
    await crash(target, error)
    await trio.sleep_forever()


def failing_from_life(number: int, actor: Actor = idle) -> Actor:
    """An actor whose starts fail from that life on."""

    async def fragile(inbox: Inbox[object]) -> None:
        if inbox.life >= number:
            raise Jam(f"life {inbox.life} does not start")
        await actor(inbox)

    return fragile
