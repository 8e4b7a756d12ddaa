"""The commands of the host that a wire encodes for the agent."""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from avatar_actors.model.questions import Answers
from avatar_actors.model.values import Attachment, JsonObject, McpServer, Permit


class Beginning(Enum):
    """Which session to open."""

    AS_NAMED = "as_named"
    FORK = "fork"
    LAST = "last"


class Open(Struct, frozen=True, kw_only=True):
    """Open the connection: the handshake, then a new session or the one named by `resume`.

    FORK: a copy of that one, with the id `new_id` if we may choose it. LAST: the last used one in
    `cwd`, which the agent is asked for.
    """

    cwd: str
    resume: str = ""
    begins: Beginning = Beginning.AS_NAMED
    new_id: str = ""
    mcp_servers: tuple[McpServer, ...] = ()
    system_prompt: str = ""
    model: str = ""
    mode: str = ""


class Prompt(Struct, frozen=True):
    """Start turn `turn_id`."""

    turn_id: int
    text: str
    attachments: tuple[Attachment, ...] = ()


class Steer(Struct, frozen=True):
    """Send text into the running turn."""

    turn_id: int
    text: str


class Cancel(Struct, frozen=True):
    """Ask the agent to end turn `turn_id`; ignored if it has ended. Below 0: an unasked one."""

    turn_id: int


class AnswerPermission(Struct, frozen=True, kw_only=True):
    """The decision about a permission request; `option_id` if a certain option was chosen."""

    request_id: str
    permit: Permit
    option_id: str = ""
    message: str = ""
    updated_input: JsonObject | None = None


class AnswerUser(Struct, frozen=True, kw_only=True):
    """The answers to a UserAsked; None: they are declined, and `message` says why."""

    request_id: str
    answers: Answers | None
    message: str = ""


class AnswerFile(Struct, frozen=True, kw_only=True):
    """The result of a FileWanted: its text, or the error."""

    request_id: str
    text: str = ""
    error: str = ""


class Call(Struct, frozen=True):
    """Any other request of the protocol; the Answered fact carries the same `call_id`."""

    call_id: int
    action: Action
    arguments: JsonObject = {}


class Close(Struct, frozen=True):
    """End the session, as far as the protocol has a message for it."""


Action: TypeAlias = str
"""`list_sessions`, `set_model`, `set_mode`, `stop_task`, `mcp_status`, `rewind_files`, or the
protocol's own name of a method after a colon: `raw:session/fork`. A wire answers what it does not
know with an error."""

Command: TypeAlias = (
    Open | Prompt | Steer | Cancel | AnswerPermission | AnswerUser | AnswerFile | Call | Close
)
