"""The messages between the actors of an avatar.

Those of a session are in session_messages.py, those about limits in limit_messages.py.

prompt    avatar ─▶ turn queue ─▶ budget keeper, rate limiter ─▶ bridge ─▶ stdin writer
events    stdout reader ─▶ bridge ─▶ activity tracker ─▶ event hub ─▶ subscribers
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.resume_messages import Chosen, ResumeImpossible, ResumeThis, WhatToResume
from avatar_actors.avatar.runtime_messages import Follow
from avatar_actors.model.attachment import Attachment
from avatar_actors.model.events import ActivityEvent, AvatarEvent, RetryEvent, TurnEndedEvent
from avatar_actors.model.health import HealthStatus
from avatar_actors.model.settings import WhileBusy
from avatar_actors.model.values import (
    Continuity,
    JsonObject,
    Message,
    Outcome,
    ProviderCapabilities,
    Usage,
)
from supervisors import Address, Request

if TYPE_CHECKING:
    from avatar_actors.session.messages import BridgeMessage, ProcessMessage

# To the event hub.


class Publish(Struct, frozen=True):
    """Number these events of one turn (0: of none) and hand them to the subscribers."""

    turn_id: int
    events: Sequence[AvatarEvent]


class Subscribe(Struct, Request[None], frozen=True):
    """Fill this stream from now on, to the end of the hub. Answered once it does."""

    stream: EventStream


class Unsubscribe(Struct, frozen=True):
    """Fill it no longer."""

    stream: EventStream


HubMessage: TypeAlias = Publish | Subscribe | Unsubscribe | Follow

# To the activity tracker, which passes on what it is told to the event hub.


class Happened(Struct, frozen=True):
    """This came from the agent, in this order."""

    turn_id: int
    events: Sequence[AvatarEvent]


class BeginTurn(Struct, frozen=True):
    """A prompt's turn has come."""

    turn_id: int
    prompt: str


class PromptSent(Struct, frozen=True):
    """From now on the agent may have read the prompt."""

    turn_id: int


class WasSent(Struct, Request[bool], frozen=True):
    """Whether the agent may have read the prompt of this turn."""

    turn_id: int


class TurnEnding(Struct, frozen=True, kw_only=True):
    """How a turn ended, as far as its end is known to who ended it.

    `is_recoverable`: the model's API refused it for now; `retry_after` are the seconds it asks for.
    """

    outcome: Outcome
    reason: str = ""
    stop_reason: str = ""
    usage: Usage | None = None
    is_recoverable: bool = False
    retry_after: float = 0.0
    data: Any = None


class Said(Struct, frozen=True):
    """The text of an answer; cut: there was more of it than is kept."""

    text: str = ""
    is_cut: bool = False


class SaidSoFar(Struct, Request[Said], frozen=True):
    """The text of the turn up to now."""

    turn_id: int


class TryAgain(Struct, Request[bool], frozen=True):
    """A refused prompt is to be sent again: begin its account anew, and tell of it.

    Answered with False, and nothing is told, if a tool had started or more was said than the
    refusal itself.
    """

    turn_id: int
    refused: TurnEnding
    event: RetryEvent


class EndTurn(Struct, Request[TurnEndedEvent], frozen=True):
    """Close the turn's account: everything of it is told before its TurnEndedEvent."""

    turn_id: int
    ending: TurnEnding
    session_id: str = ""


class SessionUp(Struct, frozen=True):
    """The agent is there; its process can be asked for its vitals."""

    capabilities: ProviderCapabilities
    process: Address[ProcessMessage]


class SessionDown(Struct, frozen=True):
    """The agent's process is gone: it died, or we ended it."""

    has_died: bool


class FindActivity(Struct, Request[ActivityEvent | None], frozen=True):
    """What is known of an activity."""

    activity_id: str


class ListActivities(Struct, Request[tuple[ActivityEvent, ...]], frozen=True):
    """What runs now."""


TrackerMessage: TypeAlias = (
    Happened
    | BeginTurn
    | PromptSent
    | WasSent
    | SaidSoFar
    | TryAgain
    | EndTurn
    | SessionUp
    | SessionDown
    | FindActivity
    | ListActivities
)

# To the turn queue.


class Submission(Struct, frozen=True, kw_only=True):
    """A prompt that waits for its turn."""

    turn_id: int
    text: str
    attachments: tuple[Attachment, ...] = ()
    context: JsonObject = {}
    schema: JsonObject | None = None
    while_busy: WhileBusy = WhileBusy.QUEUE
    timeout: float


class Submit(Struct, frozen=True):
    """Give this prompt its turn; its TurnEndedEvent tells the rest."""

    submission: Submission


class Interrupt(Struct, Request[bool], frozen=True):
    """End this turn, or the present one (0). Answered with whether there was one to end."""

    turn_id: int
    outcome: Outcome = Outcome.CANCELLED
    reason: str = "interrupted"


class CloseDown(Struct, Request[None], frozen=True):
    """Take no more prompts, end those that wait and the one that runs."""

    reason: str


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
    """The agent refused the start of a session for want of a login, and will the next time."""

    message: str
    advice: str


class SessionIs(Struct, frozen=True):
    """The agent's session has this id now."""

    session_id: str


class CurrentSession(Struct, Request[SessionReady | None], frozen=True):
    """The session as it is now, if there is one."""


class GetHistory(Struct, Request[tuple[Message, ...]], frozen=True):
    """The finished turns' prompts and answers, always in whole pairs."""


class ClearHistory(Struct, Request[None], frozen=True):
    """Forget them."""


class GetHealth(Struct, Request[HealthStatus], frozen=True):
    """How the avatar does."""


TurnNews: TypeAlias = (
    Submit
    | SessionStarting
    | SessionReady
    | SessionLost
    | SessionIs
    | LoginRefused
    | ResumeImpossible
    | Chosen
)
TurnRequest: TypeAlias = (
    Interrupt | CloseDown | WhatToResume | ResumeThis | CurrentSession | GetHistory | ClearHistory
)
TurnMessage: TypeAlias = TurnNews | TurnRequest | GetHealth
