"""Where a child stands, how a life ends, and what an exception that left a child means."""

import traceback
from dataclasses import dataclass
from enum import Enum
from typing import TypeGuard

from supervisors.errors import Ignore, OrderlyExit


class Phase(Enum):
    """Where a child stands."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    RESTARTING = "restarting"
    STOPPED = "stopped"
    GONE = "gone"


class ExitKind(Enum):
    """The ways a life can end; the supervisor's table knows no others."""

    NORMAL = "returned"
    SHUTDOWN = "shut down"
    CRASHED = "crashed"
    KILLED = "killed"
    STUCK = "left behind: it ignores cancellation"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class Exit:
    """Why a life ended; `error` is what the actor raised, with its traceback."""

    kind: ExitKind
    error: BaseException | None = None

    @property
    def orderly(self) -> bool:
        """Whether OTP would call it normal: returned or shut down, not crashed or killed."""
        return self.kind in (ExitKind.NORMAL, ExitKind.SHUTDOWN, ExitKind.IGNORED)

    def __str__(self) -> str:
        # Not str(error): that is foreign code and may raise.
        words = "" if self.error is None else "".join(traceback.format_exception_only(self.error))
        words = words.strip().removeprefix(type(self.error).__module__ + ".")
        return f"{self.kind.value}: {words}" if words else self.kind.value


RETURNED = Exit(ExitKind.NORMAL)
SHUT_DOWN = Exit(ExitKind.SHUTDOWN)
WAS_KILLED = Exit(ExitKind.KILLED)
WAS_STUCK = Exit(ExitKind.STUCK)


def exit_of(error: BaseException) -> Exit:
    """What an exception that left an actor means; groups of one, as nurseries make, are opened."""
    while _is_group(error) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if isinstance(error, OrderlyExit):
        return Exit(ExitKind.SHUTDOWN, error)
    return Exit(ExitKind.IGNORED if isinstance(error, Ignore) else ExitKind.CRASHED, error)


def _is_group(error: BaseException) -> TypeGuard[BaseExceptionGroup[BaseException]]:
    return isinstance(error, BaseExceptionGroup)
