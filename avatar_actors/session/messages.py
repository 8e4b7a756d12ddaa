"""The messages within a session, and what it tells those that outlive it.

prompt    turn queue ─▶ bridge ─▶ stdin writer
events    bridge, which reads the agent's stdout ─▶ activity tracker
usage     bridge ─▶ turn queue
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

from avatar_actors.model.errors import AgentError, AvatarStartError
from avatar_actors.model.events import AvatarEvent
from avatar_actors.model.questions import GivenAnswers
from avatar_actors.model.values import (
    Attachment,
    Continuity,
    JsonObject,
    Outcome,
    Permit,
    ProviderCapabilities,
    Usage,
)
from avatar_actors.processes import KeeperEnd, Vitals
from avatar_actors.wire.commands import AnswerPermission, AnswerUser, Beginning
from avatar_actors.wire.facts import FileWanted, PermissionAsked, UserAsked
from supervisors import Address, Request, Supervisor


class Spent(Struct, frozen=True):
    """What a turn has used so far; turn 0: what was used outside of any."""

    turn_id: int
    usage: Usage


class ResumePlan(Struct, frozen=True):
    """What the next life should continue, or why it cannot; `is_demanded`: the host named it.

    `new_id` is for an agent that lets us choose the id of a new session. `model` and `mode` were
    chosen since the avatar's start.
    """

    session_id: str = ""
    continuity: Continuity = Continuity.NEW
    lost: str = ""
    is_demanded: bool = False
    begins: Beginning = Beginning.AS_NAMED
    new_id: str = ""
    model: str = ""
    mode: str = ""


class WhatToResume(Struct, Request[ResumePlan], frozen=True):
    """Asked by each new life of the agent's process."""


class ResumeImpossible(Struct, frozen=True):
    """The stored session cannot be resumed; start the next life afresh."""

    why: str


# To the activity tracker.


class Publish(Struct, frozen=True):
    """These events of one turn (0: of none) have happened, in this order."""

    turn_id: int
    events: Sequence[AvatarEvent]


class PromptSent(Struct, frozen=True):
    """From now on the agent may have read the prompt."""

    turn_id: int


class TurnEnding(Struct, frozen=True, kw_only=True):
    """How a turn ended, as far as the part that ended it knows."""

    outcome: Outcome
    reason: str = ""
    stop_reason: str = ""
    usage: Usage | None = None
    """What the agent said at the end that the turn had used."""
    spent: Usage | None = None
    """The last usage report of the turn, which counts against the budget."""
    is_recoverable: bool = False
    """The model's API refused the prompt for now."""
    retry_after: float = 0.0
    """How many seconds the API asks to wait."""
    data: Any = None
    needs_login: bool = False
    """The agent is not signed in, or its key is not accepted."""
    raw_events: tuple[JsonObject, ...] = ()
    has_asked: bool = True
    """Whether questions of the turn may be open: without one, the gatekeeper need not be told."""
    session_id: str = ""
    """The id that the session got during the turn; empty if it has kept its own."""


class SessionUp(Struct, frozen=True):
    """The agent is there; its process can be asked for its vitals."""

    capabilities: ProviderCapabilities
    process: Address[ProcessMessage]


class SessionDown(Struct, frozen=True):
    """The agent's process is gone: it died, or we ended it."""

    has_died: bool


class SessionStarting(Struct, frozen=True):
    """A process for the agent is being started."""


class SessionReady(Struct, frozen=True, kw_only=True):
    """The agent takes prompts."""

    bridge: Address[BridgeMessage]
    process: Address[ProcessMessage]
    capabilities: ProviderCapabilities
    session_id: str
    pid: int | None
    continuity: Continuity = Continuity.NEW
    why: str = ""


class SessionLost(Struct, frozen=True):
    """The session has ended; if it died, the supervisor decides whether another comes."""

    why: str
    returncode: int | None
    has_died: bool


class LoginRefused(Struct, frozen=True):
    """The agent needs a login to start a session; trying again would not help."""

    message: str
    advice: str


class UnaskedTurnStarted(Struct, Request[int], frozen=True):
    """The agent began a turn by itself; answered with its number, which is below 0."""

    bridge: Address[BridgeMessage]
    cause: str


class UnaskedTurnEnded(Struct, frozen=True):
    """The unasked turn is over."""

    turn_id: int
    ending: TurnEnding


class SessionIs(Struct, frozen=True):
    """The agent's session has this id now."""

    session_id: str


# To the gatekeeper.


class Question(Struct, frozen=True):
    """The agent asks about a tool, or its model asks the user.

    `request_id` is unique in the avatar's life.
    """

    request_id: str
    turn_id: int
    asked: PermissionAsked | UserAsked
    bridge: Address[BridgeMessage]


class QuestionWithdrawn(Struct, frozen=True):
    """The agent no longer waits for the answer."""

    request_id: str


class QuestionsOver(Struct, Request[None], frozen=True):
    """Nobody waits for answers to this turn's questions, or to any (None). Answered when closed."""

    turn_id: int | None


class GivePermit(Struct, Request[None], frozen=True, kw_only=True):
    """The host's decision about a tool."""

    request_id: str
    permit: Permit
    option_id: str = ""
    message: str = ""
    updated_input: JsonObject | None = None


class GiveAnswers(Struct, Request[None], frozen=True):
    """The host's answers to the model's questions; None declines, and `message` says why."""

    request_id: str
    answers: GivenAnswers
    message: str = ""


GatekeeperMessage: TypeAlias = (
    Question | QuestionWithdrawn | QuestionsOver | GivePermit | GiveAnswers
)

# To the bridge.


class RunTurn(Struct, Request[TurnEnding], frozen=True):
    """Send the prompt; answered when the agent ended the turn."""

    turn_id: int
    text: str
    attachments: tuple[Attachment, ...] = ()
    raw_events: bool = False
    """Whether the ending shall have what the agent wrote."""


class SteerTurn(Struct, frozen=True):
    """Send this into the running turn."""

    turn_id: int
    text: str


class CancelTurn(Struct, frozen=True):
    """End the turn by the agent's protocol; a turn that is over is left alone."""

    turn_id: int
    outcome: Outcome
    reason: str


class Decided(Struct, frozen=True):
    """The answer to a question; its request id is the wire's."""

    answer: AnswerPermission | AnswerUser


class FileServed(Struct, frozen=True, kw_only=True):
    """The result of a FileWanted."""

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
    """To the warden: start a keeper at this end, for one agent's process tree."""

    berth: KeeperEnd


class Nothing(Struct, frozen=True):
    """The message type of an actor that takes none."""


class StreamEnded(Struct, frozen=True):
    """Nothing more comes from the agent; `returncode` is None if the process still lives.

    `error` is what became of a connection, where there is one instead of a process.
    """

    returncode: int | None
    error: AgentError | AvatarStartError | None = None


# What the bridge reads: blocks of the agent's output, at last how it ended.
FromAgent: TypeAlias = bytes | StreamEnded

# What a session tells those that outlive it: the activity tracker, and the turn queue.
TrackerNews: TypeAlias = Publish | PromptSent | SessionUp | SessionDown
QueueNews: TypeAlias = (
    SessionStarting
    | SessionReady
    | SessionLost
    | SessionIs
    | LoginRefused
    | ResumeImpossible
    | Spent
    | UnaskedTurnStarted
    | UnaskedTurnEnded
    | WhatToResume
)
T_contra = TypeVar("T_contra", contravariant=True)
Q_contra = TypeVar("Q_contra", contravariant=True)


class AvatarActors(Struct, Generic[T_contra, Q_contra], frozen=True, kw_only=True):
    """The actors of an avatar that outlive its sessions, and the warden above all avatars."""

    supervisor: Supervisor
    warden: Address[Admit]
    tracker: Address[T_contra]
    gatekeeper: Address[GatekeeperMessage]
    turn_queue: Address[Q_contra]


# As a session knows them.
OuterActors: TypeAlias = AvatarActors[TrackerNews, QueueNews]


class SessionActors(Struct, frozen=True, kw_only=True):
    """The other actors of the same session, as its bridge knows them."""

    process: Address[ProcessMessage]
    writer: Address[Write]
    file_server: Address[ServeFile]
    stderr: Address[StderrTail]
