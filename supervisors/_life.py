"""One life of a child: its task, its cancel scope, and the border that no exception crosses."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import trio

from supervisors import _cell, errors, exits, notices, specs
from supervisors._left_open import close_left_open
from supervisors._mailbox import free_turns
from supervisors.inbox import Inbox

# What a killed task gets to unwind: a few turns of the loop, on a loaded machine some time.
KILL_ALLOWANCE = 1.0
_LEFT_OPEN = "it left an async generator with an open nursery; leave it by aclosing()"


class Ending(Enum):
    """Why a supervisor stops a life."""

    FINAL = "for good"
    COMES_BACK = "to start it again with its group"


@dataclass(slots=True, repr=False, eq=False)
class Life:
    """From spawn to end. Ends exactly once, in `_end`, whatever the actor does."""

    cell: _cell.Cell
    number: int
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    inbox: Inbox[Any] = field(init=False)
    task: trio.lowlevel.Task | None = None
    exit: exits.Exit | None = None
    ready_at: float | None = None
    ending: Ending | None = None
    kill_at: float = math.inf
    injected: Exception | None = None
    _graces: tuple[trio.CancelScope, ...] = ()
    _turn: trio.Event | None = None

    def __post_init__(self) -> None:
        self.inbox = Inbox(self)

    def expect_start(self, deadline: float) -> None:
        """Cancel it if it is not ready then, and kill it when its time to clean up is over."""
        self.scope.deadline = deadline
        self.kill_at = deadline + self._patience()

    async def run(self, delay: float) -> None:
        """The child's task. Only a cancellation of the whole program leaves it."""
        self.task = trio.lowlevel.current_task()
        try:
            with self.scope:
                if delay or self.ending is not None:
                    await trio.sleep(delay)
                try:
                    await self._work()
                finally:
                    has_left = self.task.child_nurseries and await close_left_open()
                if has_left:
                    raise RuntimeError(_LEFT_OPEN)
        except BaseException as error:
            # Of the child's own scope no Cancelled is left, so it is the program's end or a stray.
            # Not isinstance(): that asks the error's own `__class__`, which is foreign code.
            if type(error) is trio.Cancelled and trio.current_effective_deadline() == -math.inf:
                self._end(exits.SHUT_DOWN)
                raise
            self._end(exits.exit_of(error))
        else:
            self._end(self._cancelled() if self.scope.cancelled_caught else exits.RETURNED)

    def mark_ready(self, info: object) -> bool:
        """The start is over, unless it was before or the life is being ended already."""
        if self.ready_at is not None or self.scope.cancel_called:
            return False
        self.ready_at = trio.current_time()
        if self.scope.deadline != math.inf:
            self.scope.deadline = math.inf
            self.kill(math.inf)
        self.cell.ready(self, info)
        self._turned()
        return True

    async def wait_started(self) -> None:
        """Until it is ready or over; raises StartFailed. A child that hangs has a deadline too."""
        await free_turns(self._is_settled)
        late = self.kill_at + KILL_ALLOWANCE
        if not (self._is_settled() or await self._until(self._is_settled, late)):
            self._leave_behind()
        if self.exit and self.ready_at is None and (self.ending or not self.exit.orderly):
            raise errors.StartFailed(self.cell.path, self.exit) from self.exit.error

    def ask_to_stop(self, ending: Ending) -> None:
        """Cancel the actor. It handles no further message; it may clean up within `grace`."""
        if self.exit is None and self.ending is not Ending.FINAL:
            self.ending = ending
            self.cell.phase = exits.Phase.STOPPING
            self.inbox.pause()
            self.scope.cancel()
            self.kill(min(self.kill_at, trio.current_time() + self._patience()))

    def kill(self, at: float) -> None:
        """Take the time to clean up away, from that moment on."""
        self.kill_at = at
        for grace in self._graces:
            grace.deadline = at

    async def stop(self, ending: Ending) -> None:
        """Ask it to stop, and wait for its end."""
        self.ask_to_stop(ending)
        await self.see_out()

    async def see_out(self) -> None:
        """Wait for the end of a life that was asked to stop; leave it behind if it does not end."""
        if not await self._until(lambda: self.exit is not None, self.kill_at + KILL_ALLOWANCE):
            self._leave_behind()

    @contextmanager
    def grace(self) -> Generator[None]:
        """Shield a clean-up from the stop, not from the kill."""
        with trio.CancelScope(shield=True, deadline=self.kill_at) as scope:
            self._graces += (scope,)
            try:
                yield
            finally:
                self._graces = tuple(other for other in self._graces if other is not scope)

    def _work(self) -> Awaitable[None]:
        cell, spec = self.cell, self.cell.spec
        cell.phase = exits.Phase.STARTING
        cell.tree.board.tell(notices.Started, cell.path, self.number)
        if isinstance(spec, specs.ChildSpec):
            return spec.actor(self.inbox)
        return cell.tree.supervise(cell, self.inbox)

    def _patience(self) -> float:
        shutdown = self.cell.spec.shutdown
        if isinstance(shutdown, specs.Shutdown):
            return math.inf if shutdown is specs.Shutdown.INFINITE else 0.0
        return shutdown

    def _is_settled(self) -> bool:
        return self.ready_at is not None or self.exit is not None

    async def _until(self, reached: Callable[[], bool], deadline: float) -> bool:
        with trio.move_on_at(deadline):
            while not reached():
                # Not `or`: trio's events have no truth value.
                self._turn = trio.Event() if self._turn is None else self._turn
                await self._turn.wait()
        # Asked again: while something blocked the loop, both it and the deadline may have come.
        return reached()

    def _turned(self) -> None:
        if self._turn is not None:
            self._turn.set()
            self._turn = None

    def _cancelled(self) -> exits.Exit:
        if self.injected is not None:
            return exits.Exit(exits.ExitKind.CRASHED, self.injected)
        if self.ending is not None:
            return exits.WAS_KILLED if trio.current_time() >= self.kill_at else exits.SHUT_DOWN
        late = f"no receive and no inbox.ready() within {self.cell.spec.start_timeout:g} s"
        return exits.Exit(exits.ExitKind.CRASHED, TimeoutError(late))

    def _leave_behind(self) -> None:
        self.kill(-math.inf)
        self.inbox.pause()
        self.cell.mailbox.evict()
        self.cell.tree.board.stuck(self.cell.path, self.number)
        self._end(exits.WAS_STUCK)

    @trio.lowlevel.enable_ki_protection
    def _end(self, exit: exits.Exit) -> None:
        if exit.error is not None and not isinstance(exit.error, Exception):
            self.cell.tree.fail_host(exit.error)
        if self.exit is None:
            self.exit = exit
            self.cell.ended(self, exit)
            self._turned()
