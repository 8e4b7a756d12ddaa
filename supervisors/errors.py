"""Everything that `supervisors` raises, and the two exceptions that an actor raises to leave.

SupervisionError
├─ SpecError                a spec that cannot work; says what is allowed (also a ValueError)
├─ NameTaken                the registered name belongs to a living actor
├─ SupervisorGaveUp         the host's tree used up its restarts; the last crash is the cause
├─ StrayCancelled           a child raised a trio.Cancelled that was not meant for it
├─ AskFailed                an ask that got no answer
│  ├─ ActorDown             the actor is gone, nobody will restart it
│  ├─ ActorRestarting       it died or is about to come back; ask again later
│  ├─ AskTimeout            no answer in time (also a TimeoutError)
│  ├─ NoReply               the actor took its next message without answering
│  ├─ AskedSelf             an actor asked itself, which could only deadlock
│  └─ MailboxFull           the overflow rule refused or discarded the message
└─ ChildRefused             a request to a supervisor that it cannot fulfil
   ├─ AlreadyStarted        the name is in use by a living child
   ├─ AlreadyPresent        the name is in use by a child that is not running
   ├─ ChildNotFound         no such child here
   ├─ ChildRunning          it must be terminated first
   ├─ ChildRestarting       a restart is pending; terminate it or wait
   ├─ StartFailed           the child crashed or dawdled before it was ready
   ├─ TooManyChildren       max_children is reached
   └─ WrongStrategy         the request has no meaning for this strategy

OrderlyExit                 raised by an actor: leave as "shutdown", which is no crash
Ignore                      raised by an actor before it is ready: do not start me
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from supervisors.exits import Exit


class SupervisionError(Exception):
    """The root of this package's errors."""


class OrderlyExit(Exception):
    """Raised by an actor to end as "shutdown": only a permanent child is restarted after it."""


class Ignore(Exception):
    """Raised by an actor before it is ready: it has nothing to do here, and that is no failure."""


class SpecError(SupervisionError, ValueError):
    """A spec, or a combination of specs, that cannot work; the message says what is allowed."""


class NameTaken(SupervisionError):
    """The name is registered by an actor that is alive; choose another or end that one first."""


class SupervisorGaveUp(SupervisionError, OrderlyExit):
    """The root supervisor used up its restart budget; `__cause__` is the crash that did it."""


class StrayCancelled(SupervisionError):
    """How a child crashed that raised a `trio.Cancelled` while nothing around it was cancelled.

    Somebody kept it, as a cache of results may, and raised it again: keep no Cancelled.
    """


class AskFailed(SupervisionError):
    """An ask that will get no answer from this life of the actor."""


class ActorDown(AskFailed):
    """The actor is gone and nobody will restart it; `exit` says how it ended, where known."""

    def __init__(self, path: str, exit: Exit | None) -> None:
        super().__init__(f"{path} is down ({exit or 'never started'})")
        self.path = path
        self.exit = exit


class ActorRestarting(AskFailed):
    """This life of the actor ended before it answered; its supervisor is bringing it back."""

    def __init__(self, path: str, exit: Exit | None) -> None:
        super().__init__(f"{path} is restarting ({exit or 'stopped with its group'})")
        self.path = path
        self.exit = exit


class AskTimeout(AskFailed, TimeoutError):
    """The answer did not come in time. The actor still works on it; a late reply is dropped."""


class NoReply(AskFailed):
    """The actor went to receive its next message without answering this one or deferring that."""


class AskedSelf(AskFailed):
    """An actor asked itself from its own task, which could only deadlock."""


class MailboxFull(AskFailed):
    """The mailbox has no room and its overflow rule does not wait."""


class ChildRefused(SupervisionError):
    """A supervisor cannot do what it was asked about a child."""


class AlreadyStarted(ChildRefused):
    """A child of that name is alive."""


class AlreadyPresent(ChildRefused):
    """A child of that name is known but not running: restart it, or delete it first."""


class ChildNotFound(ChildRefused):
    """This supervisor has no such child."""


class ChildRunning(ChildRefused):
    """The child is alive: terminate it first."""


class ChildRestarting(ChildRefused):
    """A restart of the child is pending: terminate it to cancel that, or wait."""


class StartFailed(ChildRefused):
    """The child did not become ready; `__cause__` is its own error."""

    def __init__(self, path: str, exit: Exit) -> None:
        super().__init__(f"{path} failed to start ({exit})")
        self.path = path
        self.exit = exit


class TooManyChildren(ChildRefused):
    """The dynamic supervisor is at its max_children."""


class WrongStrategy(ChildRefused):
    """The request has no meaning for this supervisor's strategy."""
