"""What stays of a child across its lives: its place, its mailbox, its phase, who watches it."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import trio

from supervisors import _life, _tree, address, errors, notices, policy, specs
from supervisors._mailbox import Mailbox, Reply, Undelivered
from supervisors.exits import Exit, ExitKind, Phase

# A supervisor's own mailbox holds at most one exit per child, besides its callers' requests.
_FOR_A_SUPERVISOR = specs.MailboxSpec(capacity=sys.maxsize)
_NONE: Mapping[str, Cell] = {}


class Signal:
    """A message to a supervisor that nobody misses when the supervisor is gone."""

    __slots__ = ()


@dataclass(slots=True, repr=False, eq=False)
class Exited(Signal):
    """A child's life is over."""

    life: _life.Life


@dataclass(slots=True, repr=False, eq=False)
class Cell:
    """One child of one supervisor: the supervisor decides over it, its lives report here."""

    tree: _tree.Tree
    spec: specs.Spec
    path: str
    parent: Cell | None
    phase: Phase = Phase.STOPPED
    life: _life.Life | None = None
    lives: int = 0
    failures: int = 0
    was_ready: bool = False
    exit: Exit | None = None
    info: object = None
    registered: str | None = None
    gate: Callable[[], Awaitable[None]] | None = None
    monitors: tuple[address.Monitor, ...] = ()
    children: Mapping[str, Cell] = field(default_factory=lambda: _NONE)
    mailbox: Mailbox = field(init=False)

    def __post_init__(self) -> None:
        box = self.spec.mailbox if isinstance(self.spec, specs.ChildSpec) else _FOR_A_SUPERVISOR
        self.mailbox = Mailbox(box, self)

    @property
    def name(self) -> str:
        """What its supervisor calls it: the spec's name, numbered where that is taken."""
        return self.path.rpartition("/")[2]

    @property
    def is_between_lives(self) -> bool:
        """Whether nobody lives here but somebody will."""
        return self.life is None and self.phase is Phase.RESTARTING

    def begin(self, delay: float = 0.0) -> _life.Life:
        """Start a new life, `delay` seconds from now; StartFailed if its name is not free."""
        if self.registered is None and self.spec.register is not None:
            self.registered = self.tree.claim(self.spec.register, self)
        self.mailbox.open()
        self.phase = Phase.RESTARTING if delay else Phase.STARTING
        self.lives += 1
        self.life = _life.Life(self, self.lives)
        self.life.expect_start(trio.current_time() + delay + self.spec.start_timeout)
        self.tree.nursery.start_soon(self.life.run, delay, name=self.path)
        return self.life

    def ready(self, life: _life.Life, info: object) -> None:
        """The life became ready."""
        if self.life is life:
            self.was_ready = True
            self.info = info
            self.phase = Phase.RUNNING
            self.tree.board.tell(notices.Ready, self.path, life.number)

    def ended(self, life: _life.Life, exit: Exit) -> None:
        """A life is over: its asks and monitors hear of it at once, then the supervisor."""
        if exit.kind is ExitKind.CRASHED:
            self.tree.board.crashed(self.path, life.number, exit.error)
        else:
            self.tree.board.tell(notices.Stopped, self.path, life.number, exit)
        self.exit = exit
        self.info = None
        lasted = 0.0 if life.ready_at is None else trio.current_time() - life.ready_at
        if self.spec.backoff is not None and lasted >= self.spec.backoff.reset_after:
            self.failures = 0  # its end is no longer one of a row
        if self._comes_back(life, exit):
            self.phase = Phase.RESTARTING
        else:
            self._close(Phase.STOPPED)
        self._settle_debts(life, exit)
        if self.parent is None:
            self.tree.root_over()
        else:
            self.parent.mailbox.put(Exited(life))

    def hold(self) -> None:
        """No life now, but one is coming: keep the mail."""
        self.life = None
        self.phase = Phase.RESTARTING

    def rest(self, phase: Phase = Phase.STOPPED) -> None:
        """No life now, and none is coming by itself."""
        self.life = None
        self._close(phase)

    def refusal(self) -> errors.AskFailed | None:
        """Why an ask would fail now."""
        if self.phase is Phase.RESTARTING:
            return errors.ActorRestarting(self.path, self.exit)
        if self.life is None or self.life.exit is not None:
            return errors.ActorDown(self.path, self.exit)
        if self.life.task is trio.lowlevel.current_task():
            return errors.AskedSelf(f"{self.path} asked itself; call the function instead")
        return None

    def _close(self, phase: Phase) -> None:
        self.phase = phase
        self.mailbox.close()
        # Not the name in the spec: a reload may have changed that.
        if self.registered is not None:
            del self.tree.names[self.registered]
            self.registered = None

    def bury(self, item: object, why: Undelivered) -> None:
        """The item will not be read: its asker is told, or it is a dead letter."""
        if isinstance(item, Reply):
            down, full = errors.ActorDown, errors.MailboxFull(f"{self.path}: {why.value}")
            item.fail(full if why is Undelivered.MAILBOX_FULL else down(self.path, self.exit))
        elif not isinstance(item, Signal):
            self.tree.board.dead_letter(self.path, item, why)

    def _comes_back(self, life: _life.Life, exit: Exit) -> bool:
        if life.ending is not None:
            return life.ending is _life.Ending.COMES_BACK
        # Not the root, and not who failed to start at all.
        is_known = self.parent is not None and (self.was_ready or exit.orderly)
        return is_known and policy.comes_back(self.spec.restart, exit)

    def _settle_debts(self, life: _life.Life, exit: Exit) -> None:
        error = errors.ActorRestarting if self.phase is Phase.RESTARTING else errors.ActorDown
        for ask in life.inbox.unanswered():
            ask.fail(error(self.path, exit))
        self.mailbox.fail_asks(lambda: error(self.path, exit))
        monitors, self.monitors = self.monitors, ()
        for monitor in monitors:
            monitor.inform(exit)
