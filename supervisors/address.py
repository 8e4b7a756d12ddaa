"""Where an actor is reached: tell and ask, from any task of the same trio loop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import trio

from supervisors import _cell, errors, exits, specs
from supervisors._mailbox import BATCH, Reply, free_turns
from supervisors._value import Value

M = TypeVar("M")
M_contra = TypeVar("M_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")


class Request(Generic[R_co]):
    """A message that has an answer of type R: `class Add(Request[int])`."""

    __slots__ = ()


class Address(Generic[M_contra]):
    """Names an actor, not one of its lives: it stays good across the actor's restarts.

    A restart of its supervisor makes a new actor; `Supervisor.named` reaches that one too.
    """

    __slots__ = ("_place",)

    def __init__(self, cell: _cell.Cell) -> None:
        self._place = cell

    @property
    def _home(self) -> _cell.Cell:
        return self._place

    @property
    def path(self) -> str:
        """The names from the root to the actor, as in `shop/till`."""
        return self._home.path

    @property
    def phase(self) -> exits.Phase:
        """Where the actor stands now."""
        return self._home.phase

    @property
    def info(self) -> Any:
        """What the actor's present life passed to `inbox.ready(info)`."""
        return self._home.info

    async def tell(self, message: M_contra) -> None:
        """Put a message into the mailbox. Never fails: without an actor it is a dead letter.

        Waits for room if the overflow rule is WAIT; raises MailboxFull if it is FAIL. Every 64th
        call to a mailbox is a checkpoint, the others are not unless they wait.
        """
        mailbox = self._home.mailbox
        if not mailbox.put(message):
            await mailbox.put_patiently(message)
        elif not mailbox.puts % BATCH:
            await trio.lowlevel.checkpoint()

    def tell_nowait(self, message: M_contra) -> None:
        """The same from code that cannot wait: raises MailboxFull where `tell` would wait."""
        if not self._home.mailbox.put(message):
            raise errors.MailboxFull(f"{self.path}: no room, and tell_nowait() cannot wait")

    async def ask(self, message: Request[R], timeout: float | None = None) -> R:  # noqa: ASYNC109
        """Send a request and wait for its answer.

        Raises ActorDown or ActorRestarting at the moment the actor dies, not by a timeout; with
        `timeout`, AskTimeout when the answer takes longer than that.
        """
        if timeout is not None and not float(timeout) >= 0:  # nan is not
            raise ValueError("timeout must be seconds, 0 or more, or None for no limit")
        refusal = self._home.refusal()
        if refusal is not None:
            raise refusal
        ask: Reply[R] = Reply(message)
        is_in = self._home.mailbox.put(ask)
        if timeout is None:
            return await self._answer_to(ask, is_in)
        await free_turns(lambda: ask.is_settled or not is_in)
        if ask.is_settled:
            return await ask.arrival()
        with trio.move_on_after(timeout):
            return await self._answer_to(ask, is_in)
        raise errors.AskTimeout(f"{self.path} did not answer within {timeout:g} s")

    def monitor(self) -> Monitor:
        """Watch the present life: exactly one Down, whatever ends it."""
        return Monitor(self._home)

    async def _answer_to(self, ask: Reply[R], is_in: bool) -> R:  # noqa: FBT001
        if not is_in:
            await self._home.mailbox.put_patiently(ask)
        return await ask.arrival()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Address) and self._home is other._home

    def __hash__(self) -> int:
        return hash(id(self._home))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path}: {self.phase.value}>"


class Down(Value):
    """The watched life is over. `exit` is None when there was none to watch."""

    path: str
    exit: exits.Exit | None


class Monitor:
    """One watcher's promise of one Down. Monitors stack; each gets its own."""

    def __init__(self, cell: _cell.Cell) -> None:
        self._home = cell
        self._down = Down(cell.path, None)
        self._event = trio.Event()
        if cell.life is None or cell.life.exit is not None:
            self._event.set()
        else:
            cell.monitors += (self,)

    async def down(self) -> Down:
        """Wait for the end of the watched life; the same Down however often it is asked."""
        await self._event.wait()
        return self._down

    def cancel(self) -> None:
        """Watch no longer: a Down that has not come yet never will."""
        self._home.monitors = tuple(m for m in self._home.monitors if m is not self)

    def inform(self, exit: exits.Exit) -> None:
        """The life is over."""
        self._down = Down(self._home.path, exit)
        self._event.set()


def address_of(spec: specs.ChildSpec[M], cells: Iterable[_cell.Cell]) -> Address[M]:
    """The address of the child that has this very spec."""
    found = next((cell for cell in cells if cell.spec is spec), None)
    if found is None:
        raise errors.ChildNotFound(f"no child with the spec of {spec.name!r} is here")
    return Address(found)
