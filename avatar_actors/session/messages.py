"""The messages within a session, and between it and the actors that outlive it."""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

from avatar_actors.avatar.messages import TurnEnding
from avatar_actors.model.attachment import Attachment
from avatar_actors.model.errors import AgentError, AvatarStartError
from avatar_actors.model.values import JsonObject, Outcome, Permit
from avatar_actors.processes import Berth, Vitals
from avatar_actors.wire.commands import AnswerPermission
from avatar_actors.wire.facts import FileWanted, PermissionAsked
from supervisors import Address, Request

# To the gatekeeper.


class Question(Struct, frozen=True):
    """The agent asks about a tool. `request_id` is unique in the avatar's life."""

    request_id: str
    turn_id: int
    asked: PermissionAsked
    bridge: Address[BridgeMessage]


class QuestionWithdrawn(Struct, frozen=True):
    """The agent no longer waits for the answer."""

    request_id: str


class QuestionsOver(Struct, Request[None], frozen=True):
    """Nobody waits for answers to this turn's questions, or to any (None). Answered when closed."""

    turn_id: int | None


class AnswerQuestion(Struct, Request[None], frozen=True, kw_only=True):
    """The host's decision."""

    request_id: str
    permit: Permit
    option_id: str = ""
    message: str = ""
    updated_input: JsonObject | None = None


GatekeeperMessage: TypeAlias = Question | QuestionWithdrawn | QuestionsOver | AnswerQuestion

# To the bridge.


class RunTurn(Struct, Request[TurnEnding], frozen=True):
    """Send the prompt; answered when the agent ended the turn."""

    turn_id: int
    text: str
    attachments: tuple[Attachment, ...] = ()


class SteerTurn(Struct, frozen=True):
    """Say this into the running turn."""

    turn_id: int
    text: str


class CancelTurn(Struct, frozen=True):
    """End the turn by the agent's protocol; a turn that is over is left alone."""

    turn_id: int
    outcome: Outcome
    reason: str


class Decided(Struct, frozen=True):
    """The answer to a question; its request id is the wire's."""

    answer: AnswerPermission


class FileServed(Struct, frozen=True, kw_only=True):
    """What became of a FileWanted."""

    request_id: str
    text: str = ""
    error: str = ""


class CallAgent(Struct, Request[Any], frozen=True):
    """Any other request of the protocol, answered with its result as JSON."""

    action: str
    arguments: JsonObject = {}


BridgeMessage: TypeAlias = RunTurn | SteerTurn | CancelTurn | Decided | FileServed | CallAgent

# Within a session.


class Write(Struct, frozen=True):
    """Whole messages for the agent's stdin."""

    data: bytes


class ServeFile(Struct, frozen=True):
    """Do this inside the working directory, and tell the bridge."""

    wanted: FileWanted
    bridge: Address[BridgeMessage]


class GetVitals(Struct, Request[Vitals], frozen=True):
    """CPU time and processes of the agent's whole tree."""


class EndTool(Struct, Request[bool], frozen=True):
    """End the process tree of a tool, found by its command; answered with whether it was found."""

    command: str


class KillAgent(Struct, Request[None], frozen=True):
    """End the agent's whole tree without a grace; answered when it is gone."""


ProcessMessage: TypeAlias = GetVitals | EndTool | KillAgent


class StderrTail(Struct, Request[tuple[str, ...]], frozen=True):
    """The last lines of the agent's stderr."""


# A remote link stands in for the process, its writer and its stderr.
LinkMessage: TypeAlias = Write | ProcessMessage | StderrTail


class Admit(Struct, Request[None], frozen=True):
    """To the warden: put a keeper into this berth, for one agent's process tree."""

    berth: Berth


class Nothing(Struct, frozen=True):
    """What an actor is told that only reads a pipe."""


class StreamEnded(Struct, frozen=True):
    """Nothing more comes from the agent; `returncode` is None if the process still lives.

    `error` is what became of a connection, where there is one instead of a process.
    """

    returncode: int | None
    error: AgentError | AvatarStartError | None = None
