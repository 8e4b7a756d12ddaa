"""What is raised, as one tree.

AvatarError
├─ SettingsError             the host's: a setting that cannot work
│  └─ ConfigError            one of a configuration file; `file`, `line` and `key` say where
├─ AvatarStartError          the avatar could not start; `advice` says what to do
│  ├─ AgentNotFound          the executable is missing or cannot be run; nobody is at the url
│  ├─ AgentNeedsLogin        the agent wants authentication first
│  └─ AgentRefused           the agent answered its start with an error, or not in time
│     ├─ AgentNotReady       it ended, or said nothing, before it was ready: may be tried again
│     └─ SessionRefused      the session to begin with cannot be resumed; an UnknownRequest too
├─ TurnFailed                the answer to a prompt is not whole; `outcome` says why
├─ AvatarDown                the avatar has stopped or gave up; `reason` says why
├─ UnknownRequest            no such permission request, activity or session
├─ Unsupported               this agent cannot do that
├─ Unwatchable               another program's tree cannot be watched
└─ AgentError                inside the session; ends it, and the supervisor decides
   ├─ AgentDied              the process ended or closed its output
   ├─ ConnectionLost         the connection to a remote agent is gone
   ├─ AgentDeaf              an interrupt was not acknowledged in time
   ├─ ToolUnasked            a forbidden tool ran, and the agent had not asked
   ├─ ResumeRefused          the stored session cannot be resumed by this process
   └─ WireBroken             what it speaks is not the protocol any more
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from avatar_actors.model.events import BridgeResponse
    from avatar_actors.model.values import Outcome


class AvatarError(Exception):
    """The root of this package's errors."""


class SettingsError(AvatarError, ValueError):
    """A setting that cannot work."""


class ConfigError(SettingsError):
    """A configuration that cannot work, in one line; `line` is 0 where there is none."""

    def __init__(self, problem: str, file: str, line: int = 0, key: str = "") -> None:
        where = f"{file}:{line}" if line else file
        text = ": ".join(part for part in (where, key, problem) if part)
        super().__init__(" ".join(text.split()))
        self.problem, self.file, self.line, self.key = problem, file, line, key


class AvatarStartError(AvatarError):
    """The avatar could not start. `advice` says what to do about it."""

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(f"{message}\n{advice}" if advice else message)
        self.message = message
        self.advice = advice


class AgentNotFound(AvatarStartError):
    """The agent's executable is missing or cannot be run, or nobody answers at its url."""


class AgentNeedsLogin(AvatarStartError):
    """The agent wants authentication first."""


class AgentRefused(AvatarStartError):
    """The agent answered its start with an error, or not in time."""


class AgentNotReady(AgentRefused):
    """The agent ended, or said nothing in time, before it was ready. Another try may help."""


class TurnFailed(AvatarError):
    """A prompt did not end as completed. `response` has all that is known of it."""

    def __init__(self, response: BridgeResponse) -> None:
        super().__init__(response)
        self.response = response

    def __str__(self) -> str:
        words = f"the turn ended as {self.outcome.value}"
        return f"{words}: {self.response.error}" if self.response.error else words

    @property
    def outcome(self) -> Outcome:
        """How the prompt ended."""
        return self.response.outcome

    @property
    def content(self) -> str:
        """The text that came before the end."""
        return self.response.content

    @property
    def can_retry(self) -> bool:
        """Whether no tool had started: sending the prompt again cannot do anything twice."""
        return self.response.can_retry


class AvatarDown(AvatarError):
    """The avatar has stopped or gave up."""


class UnknownRequest(AvatarError, LookupError):
    """No such permission request, activity or session."""


class SessionRefused(AgentRefused, UnknownRequest):
    """The stored session that an avatar should begin with cannot be resumed or forked."""


class Unsupported(AvatarError):
    """This agent cannot do that."""


class Unwatchable(AvatarError):
    """Another program's tree cannot be watched: it offers none, has ended, or speaks otherwise."""


class AgentError(AvatarError):
    """Ends a session from inside; the supervisor decides what comes next."""


class AgentDied(AgentError):
    """The agent's process ended, or closed its output. `returncode` is None while it lives."""

    def __init__(self, message: str, returncode: int | None = None) -> None:
        super().__init__(message)
        self.returncode = returncode


class ConnectionLost(AgentError):
    """The connection to a remote agent is gone; what the agent does now is not known."""


class AgentDeaf(AgentError):
    """An interrupt was not acknowledged in time."""


class ToolUnasked(AgentError):
    """The agent ran a tool that mode or policy forbids, without asking: it is killed."""


class ResumeRefused(AgentError):
    """The stored session cannot be resumed by this process; the next one starts afresh."""


class WireBroken(AgentError):
    """What the agent speaks is not the protocol any more."""
