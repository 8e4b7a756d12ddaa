"""The actor's side of its mailbox: receive, reply, say that it is ready, clean up in time."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Generic
from weakref import WeakSet

import trio

from supervisors import _life, errors, specs
from supervisors._mailbox import BATCH, Reply
from supervisors.address import Address, M, R, Request, address_of


class Inbox(Generic[M]):
    """What an actor is a function of. `async for message in inbox` is the usual way to read it.

    Up to 64 messages are received without a checkpoint in between, which is what makes it fast.
    """

    __slots__ = ("_credit", "_current", "_deferred", "_life", "_mailbox")

    def __init__(self, life: _life.Life) -> None:
        self._life = life
        self._mailbox = life.cell.mailbox
        self._credit = 0
        self._current: Reply[Any] | None = None
        self._deferred: WeakSet[Reply[Any]] | None = None

    @property
    def address(self) -> Address[M]:
        """Where others reach this actor, also after its restart."""
        return Address(self._life.cell)

    @property
    def life(self) -> int:
        """Which life this is: 1 at first, one more after each restart."""
        return self._life.number

    def sibling(self, spec: specs.ChildSpec[R]) -> Address[R]:
        """The address of another child of the same supervisor, also of one that starts later."""
        parent = self._life.cell.parent or self._life.cell
        return address_of(spec, parent.children.values())

    def ready(self, info: object = None) -> None:
        """End the start here rather than at the first receive; `info` shows as `address.info`."""
        self._life.mark_ready(info)

    def grace(self) -> AbstractContextManager[None]:
        """A block in which a stop does not interrupt: clean up here.

        It ends when the time of the spec's `shutdown` is over, and never runs after a brutal kill.
        """
        return self._life.grace()

    def __aiter__(self) -> Inbox[M]:
        return self

    async def receive(self) -> M:
        """The next message. Taking it closes the account of the one before."""
        if self._current is not None:
            what = type(self._current.message).__name__
            self._current.fail(errors.NoReply(f"{self.address.path} did not answer {what}"))
            self._current = None
        mailbox = self._mailbox
        while True:
            while not (self._credit and mailbox.queue):
                if self._life.exit is not None:
                    raise errors.OrderlyExit("left behind: the mailbox is the next life's now")
                # Here, not in coroutines of their own: each would stand in every idle actor.
                if not self._life.mark_ready(None) and mailbox.queue:
                    await trio.lowlevel.checkpoint()
                if not mailbox.queue:
                    await mailbox.wait_for_mail()
                gate = self._life.cell.gate
                if gate is not None:
                    await gate()
                # None for who was left behind while it waited: this mail is for the next life.
                self._credit = 0 if self._life.exit else BATCH if gate is None else 1
            self._credit -= 1
            item = mailbox.pop()
            if type(item) is Reply:
                if item.is_settled:
                    continue
                self._current = item
                item = item.message
            message: M = item
            return message

    __anext__ = receive

    def reply(self, request: Request[R], value: R) -> None:
        """Answer the message just received. If nobody waits for it any more, nothing happens."""
        self._take_current(request).send(value)

    def reject(self, request: Request[Any], error: Exception) -> None:
        """Answer the message just received with an error, raised where it was asked."""
        self._take_current(request).fail(error)

    def defer(self, request: Request[R]) -> Reply[R]:
        """Keep the message just received open: answer later, from any task."""
        ask = self._take_current(request)
        self._deferred = self._deferred or WeakSet()
        self._deferred.add(ask)
        return ask

    def unanswered(self) -> list[Reply[Any]]:
        """The asks that die with this life."""
        return [ask for ask in (self._current, *(self._deferred or ())) if ask is not None]

    def pause(self) -> None:
        """Make the next receive a checkpoint."""
        self._credit = 0

    def _take_current(self, request: object) -> Reply[Any]:
        ask = self._current
        if ask is None or ask.message is not request:
            return Reply(request)  # it was told, not asked, or is answered already: nobody waits
        self._current = None
        return ask
