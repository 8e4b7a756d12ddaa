"""The facts that a wire finds in the agent's bytes, besides events."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, TypeAlias

from msgspec import Struct

from avatar_actors.model.events import AvatarEvent, ToolEvent
from avatar_actors.model.questions import UserQuestion
from avatar_actors.model.values import (
    Continuity,
    Outcome,
    PermissionOption,
    ProviderCapabilities,
    Usage,
)

# The turn that the agent began by itself; there is at most one.
UNASKED: Final = -1


class OpenFailure(Enum):
    """Why the agent did not open a session."""

    NEEDS_LOGIN = "needs_login"
    REFUSED = "refused"
    WRONG_VERSION = "wrong_version"
    NO_SUCH_SESSION = "no_such_session"
    NOT_FOUND = "not_found"


class Opened(Struct, frozen=True, kw_only=True):
    """The session is open; prompts may be sent.

    `asks_after_start`: the agent reports a tool as started before it asks, so only a finished one
    has certainly run.
    """

    session_id: str
    capabilities: ProviderCapabilities
    continuity: Continuity = Continuity.NEW
    why: str = ""
    model: str = ""
    mode: str = ""
    asks_after_start: bool = False


class OpenFailed(Struct, frozen=True):
    """This process will not open a session."""

    failure: OpenFailure
    message: str
    advice: str = ""


class TurnOver(Struct, frozen=True, kw_only=True):
    """The turn is over: completed, refused, cancelled, failed, crashed or (never sent) rejected.

    `data` is the structured output of an agent that supports it natively. `needs_login`: it failed
    since the agent is not signed in, or its key is not accepted.
    """

    turn_id: int
    outcome: Outcome
    stop_reason: str = ""
    error: str = ""
    usage: Usage = Usage()
    data: Any = None
    needs_login: bool = False


class UnaskedTurnBegun(Struct, frozen=True):
    """The agent speaks though nobody prompted it: the next facts are of a turn of its own.

    They belong to no prompt, also if one has been sent meanwhile, up to a TurnOver of the turn
    UNASKED. `cause` says why it speaks.
    """

    cause: str


class PermissionAsked(Struct, frozen=True, kw_only=True):
    """The agent asks about a tool; answer with AnswerPermission. `tool.status` is APPROVAL."""

    request_id: str
    tool: ToolEvent
    options: tuple[PermissionOption, ...]


class UserAsked(Struct, frozen=True, kw_only=True):
    """The model asks its user; answer with AnswerUser."""

    request_id: str
    questions: tuple[UserQuestion, ...]
    message: str = ""
    tool_id: str = ""


class RequestWithdrawn(Struct, frozen=True):
    """The agent no longer waits for this answer, to a PermissionAsked or UserAsked."""

    request_id: str


class FileWanted(Struct, frozen=True, kw_only=True):
    """The agent reads a text file through us, or writes `text` to it; answer with AnswerFile."""

    request_id: str
    path: str
    text: str | None = None
    first_line: int = 1
    max_lines: int | None = None


class Answered(Struct, frozen=True):
    """The answer to a Call: `result` as JSON, or what is wrong in `error`."""

    call_id: int
    result: Any = None
    error: str = ""


class SessionRenamed(Struct, frozen=True):
    """The same process now has another session id."""

    session_id: str


class Broken(Struct, frozen=True):
    """The connection to the agent is unusable."""

    message: str


Fact: TypeAlias = (
    AvatarEvent
    | Opened
    | OpenFailed
    | TurnOver
    | UnaskedTurnBegun
    | PermissionAsked
    | UserAsked
    | RequestWithdrawn
    | FileWanted
    | Answered
    | SessionRenamed
    | Broken
)
