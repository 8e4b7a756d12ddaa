"""A small tree for one actor: a supervisor, and recorders in place of the actors around it."""

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


class Recorder(Generic[M]):
    """An actor that remembers what it is told; requests get `answers[type]`, else None."""

    def __init__(self, **answers: Any) -> None:
        self.heard: list[M] = []
        self._answers = answers

    async def __call__(self, inbox: Inbox[M]) -> None:
        async for message in inbox:
            self.heard.append(message)
            request: Any = message
            inbox.reply(request, self._answers.get(type(message).__name__))


class ActorTree:
    """A supervisor whose actors must not crash."""

    def __init__(self, root: Supervisor) -> None:
        self.root = root
        self.started: list[Address[Any]] = []

    async def start(
        self, name: str, actor: Callable[[Inbox[M]], Awaitable[None]], room: int = 256
    ) -> Address[M]:
        """Start an actor or a recorder. A crash of it fails the test."""
        spec = ChildSpec(name, actor, restart=Restart.TEMPORARY, mailbox=MailboxSpec(room))
        address = await self.root.start(spec)
        self.started.append(address)
        return address

    async def settle(self) -> None:
        """Wait until no task has anything to do."""
        await trio.testing.wait_all_tasks_blocked()


@asynccontextmanager
async def open_tree() -> AsyncGenerator[ActorTree]:
    """Every actor that was started must still be alive at the end."""
    async with open_supervisor("tree") as root:
        tree = ActorTree(root)
        yield tree
        await tree.settle()
        assert [each for each in tree.started if each.phase is not Phase.RUNNING] == []
