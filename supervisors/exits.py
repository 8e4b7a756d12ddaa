"""Where a child stands, how a life ends, and what an exception that left a child means."""

import traceback
from enum import Enum
from typing import TypeGuard

import trio

from supervisors._value import Value
from supervisors.errors import Ignore, OrderlyExit, StrayCancelled


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


class Exit(Value):
    """Why a life ended; `error` is what the actor raised, with its traceback."""

    kind: ExitKind
    error: BaseException | None = None

    @property
    def orderly(self) -> bool:
        """Whether OTP would call it normal: returned or shut down, not crashed or killed."""
        return self.kind in (ExitKind.NORMAL, ExitKind.SHUTDOWN, ExitKind.IGNORED)

    def __str__(self) -> str:
        return self.kind.value if self.error is None else f"{self.kind.value}: {_words(self.error)}"


RETURNED = Exit(ExitKind.NORMAL)
SHUT_DOWN = Exit(ExitKind.SHUTDOWN)
WAS_KILLED = Exit(ExitKind.KILLED)
WAS_STUCK = Exit(ExitKind.STUCK)


def exit_of(error: BaseException) -> Exit:
    """What an exception that left an actor means; groups of one, as nurseries make, are opened.

    Nothing around the actor is cancelled, so a Cancelled was meant for another task or time.
    """
    try:
        while _is_group(error) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        if isinstance(error, trio.Cancelled):
            raise StrayCancelled("it raised a trio.Cancelled of another scope") from error
        if isinstance(error, OrderlyExit):
            return Exit(ExitKind.SHUTDOWN, error)
        return Exit(ExitKind.IGNORED if isinstance(error, Ignore) else ExitKind.CRASHED, error)
    except Exception as odd:  # noqa: BLE001 - foreign code: an error's own `__class__`, for one
        return Exit(ExitKind.CRASHED, odd)


def _is_group(error: BaseException) -> TypeGuard[BaseExceptionGroup[BaseException]]:
    return isinstance(error, BaseExceptionGroup)


def _words(error: BaseException) -> str:
    try:
        # Not str(error): a traceback prints also an error that has no words.
        words = "".join(traceback.format_exception_only(error)).strip()
    except Exception:  # noqa: BLE001 - foreign code: what an error carries
        words = type(error).__name__
    return words.removeprefix(type(error).__module__ + ".")
