"""Why something in the tree ended, in words that a host can act upon."""

from __future__ import annotations

from avatar_actors.model.errors import (
    AgentNotReady,
    AgentRefused,
    AvatarError,
    AvatarStartError,
    ResumeRefused,
    SettingsError,
)
from supervisors import Down, StartFailed, SupervisorGaveUp


def reason_of(down: Down) -> str:
    """Why an avatar has ended; nothing if it was stopped."""
    error = down.exit.error if down.exit is not None else None
    if error is None:
        return ""
    cause = _root(error)
    crash = f"{type(cause).__name__}: {cause}"
    return f"too many crashes, {crash}" if isinstance(error, SupervisorGaveUp) else crash


def start_error(failed: StartFailed) -> AvatarStartError | SettingsError:
    """What a failed start of a session means for who wanted it."""
    cause: BaseException | None = failed
    while cause is not None and not isinstance(cause, AvatarError | TimeoutError):
        cause = cause.__cause__
    if isinstance(cause, AvatarStartError | SettingsError):
        return cause
    if isinstance(cause, ResumeRefused):
        return AgentRefused(str(cause), "Leave out `resume` or `fork` to start a new session.")
    if isinstance(cause, TimeoutError):
        return AgentNotReady(f"the agent did not start in time: {cause}")
    return AvatarStartError(str(cause or failed))


def runtime_error(failed: StartFailed | OSError) -> AvatarStartError:
    """What keeps a whole runtime from starting, and what to do about it."""
    cause: BaseException = failed
    while isinstance(cause, StartFailed) and cause.__cause__ is not None:
        cause = cause.__cause__
    advice = "Look at this program's limits (ulimit -a), and at XDG_RUNTIME_DIR and TMPDIR."
    return AvatarStartError(f"the runtime could not start: {cause}", advice)


def is_resume_refused(failed: StartFailed) -> bool:
    """Whether the start failed for the stored session alone."""
    return isinstance(_root(failed), ResumeRefused)


def _root(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error
