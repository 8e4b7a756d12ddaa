"""A stage for one actor: a supervisor, and ears in the place of the actors around it."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

import trio
import trio.testing

from supervisors import (
    Address,
    ChildSpec,
    Inbox,
    MailboxSpec,
    Phase,
    Restart,
    Supervisor,
    open_supervisor,
)

M = TypeVar("M")


class Ear(Generic[M]):
    """An actor that remembers what it is told; requests get `answers[type]`, else None."""

    def __init__(self, **answers: Any) -> None:
        self.heard: list[M] = []
        self._answers = answers

    async def __call__(self, inbox: Inbox[M]) -> None:
        async for message in inbox:
            self.heard.append(message)
            request: Any = message
            inbox.reply(request, self._answers.get(type(message).__name__))


class Stage:
    """Where one actor is played alone."""

    def __init__(self, root: Supervisor) -> None:
        self.root = root
        self.cast: list[Address[Any]] = []

    async def play(
        self, name: str, actor: Callable[[Inbox[M]], Awaitable[None]], room: int = 256
    ) -> Address[M]:
        """Start an actor, or an ear. A crash of it fails the test."""
        spec = ChildSpec(name, actor, restart=Restart.TEMPORARY, mailbox=MailboxSpec(room))
        address = await self.root.start(spec)
        self.cast.append(address)
        return address

    async def rest(self) -> None:
        """Until nobody has anything to do."""
        await trio.testing.wait_all_tasks_blocked()


@asynccontextmanager
async def open_stage() -> AsyncGenerator[Stage]:
    """Whatever is played on it must still be alive at the end."""
    async with open_supervisor("stage") as root:
        stage = Stage(root)
        yield stage
        await stage.rest()
        assert [each for each in stage.cast if each.phase is not Phase.RUNNING] == []
