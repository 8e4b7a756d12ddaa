"""The messages between the actors of an avatar; those of a session are in session/messages.py.

prompt   handle ─▶ turn queue ─▶ budget keeper, rate limiter ─▶ bridge
events   bridge ─▶ activity tracker ─▶ event hub ─▶ subscribers
usage    bridge ─▶ budget keeper ─▶ runtime budget
"""

from __future__ import annotations

from typing import TypeAlias, TypeVar

import trio
from msgspec import Struct

from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.model.events import ActivityEvent, RetryEvent, TurnEndedEvent
from avatar_actors.model.settings import Budget, WhileBusy
from avatar_actors.model.values import Attachment, HealthStatus, JsonObject, Message, Outcome, Usage
from avatar_actors.session import messages as session_messages
from avatar_actors.session.messages import (
    Happened,
    LoginRefused,
    PromptSent,
    Publish,
    ResumeImpossible,
    SessionDown,
    SessionIs,
    SessionLost,
    SessionReady,
    SessionStarting,
    SessionUp,
    Spent,
    TurnEnding,
    WhatToResume,
)
from avatar_actors.wire.commands import Beginning
from supervisors import ActorRestarting, Address, Request, Supervisor


class SlowReaders(Struct, frozen=True):
    """To a watcher: so many events were merged or dropped for subscribers that are too slow."""

    provider: str
    merged: int
    dropped: int


class Follow(Struct, frozen=True):
    """To an event hub: fill this stream too. It is not this hub's alone, so it outlives it.

    The watcher hears of subscribers, of any stream, that are too slow.
    """

    stream: EventStream
    watcher: Address[SlowReaders] | None = None


class AvatarBorn(Struct, Request[None], frozen=True):
    """To the herald: notices about what is below `path` go to this hub.

    Answered when the hub fills the streams of all who follow, so that they miss nothing.
    """

    path: str
    hub: Address[HubMessage]


class FollowAll(Struct, Request[None], frozen=True):
    """To the herald: this stream gets the events of all avatars, present and future."""

    follow: Follow


class UnfollowAll(Struct, frozen=True):
    """To the herald: it gets them no longer."""

    stream: EventStream


EventRouterMessage: TypeAlias = AvatarBorn | FollowAll | UnfollowAll


class ResumeThis(Struct, Request[None], frozen=True):
    """The next life continues this stored session, or a fork of it."""

    session_id: str
    begins: Beginning = Beginning.AS_NAMED


class ModelChosen(Struct, frozen=True):
    """The host has switched to this model or mode; the next life begins with it."""

    model: str = ""
    mode: str = ""


class Subscribe(Struct, Request[None], frozen=True):
    """Fill this stream from now on, to the end of the hub. Answered once it does."""

    stream: EventStream


class Unsubscribe(Struct, frozen=True):
    """Fill it no longer."""

    stream: EventStream


HubMessage: TypeAlias = Publish | Subscribe | Unsubscribe | Follow


class BeginTurn(Struct, frozen=True):
    """A prompt's turn has come."""

    turn_id: int
    prompt: str


class WasSent(Struct, Request[bool], frozen=True):
    """Whether the agent may have read the prompt of this turn."""

    turn_id: int


class Said(Struct, frozen=True):
    """The text of an answer; cut: there was more of it than is kept."""

    text: str = ""
    is_cut: bool = False


class TurnText(Struct, Request[Said], frozen=True):
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
    | TurnText
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
    | ModelChosen
)
TurnRequest: TypeAlias = (
    Interrupt | CloseDown | WhatToResume | ResumeThis | CurrentSession | GetHistory | ClearHistory
)
TurnMessage: TypeAlias = TurnNews | TurnRequest | GetHealth


R = TypeVar("R")

_TREASURER_IS_BACK = 0.01

# To the rate limiter.


class Acquire(Struct, Request[None], frozen=True):
    """Answered when this ticket's turn has come."""

    ticket: int


class GiveBack(Struct, frozen=True):
    """The owner of this ticket left: its place, or its token, is free again."""

    ticket: int


LimiterMessage: TypeAlias = Acquire | GiveBack

# To the budget keeper, and to the treasurer.


class TotalSpent(Struct, Request[Usage], frozen=True):
    """What was used in the life of the avatar, or of the runtime."""


class RaiseBudget(Struct, Request[None], frozen=True):
    """From now on this budget holds; what was spent is spent."""

    budget: Budget


class MayRun(Struct, Request[str], frozen=True):
    """Answered with the reason why not, or with nothing: then the turn counts, and reserves."""

    turn_id: int
    turn_queue: Address[TurnMessage]


class Settle(Struct, Request[None], frozen=True):
    """The turn is over, however: its reserve is free. Answered when all of it is counted."""

    turn_id: int
    outcome: Outcome


BudgetMessage: TypeAlias = MayRun | Spent | Settle | TotalSpent | RaiseBudget

# To the treasurer. The hub stands for the avatar: it is where its warnings go.


class Reserve(Struct, Request[str], frozen=True):
    """The same question as MayRun, for the whole runtime."""

    hub: Address[HubMessage]
    turn_id: int
    turn_queue: Address[TurnMessage]


class Charge(Struct, frozen=True):
    """What a turn has used up to now."""

    hub: Address[HubMessage]
    turn_id: int
    usage: Usage


class Release(Struct, frozen=True):
    """The turn is over; `usage` is all that it used, None if it never ran."""

    hub: Address[HubMessage]
    turn_id: int
    outcome: Outcome
    usage: Usage | None = None


class CloseAccount(Struct, frozen=True):
    """The avatar has ended, perhaps in the middle of a turn."""

    hub: Address[HubMessage]


RuntimeBudgetMessage: TypeAlias = (
    Reserve | Charge | Release | CloseAccount | TotalSpent | RaiseBudget
)


async def ask_treasurer(treasurer: Address[RuntimeBudgetMessage], request: Request[R]) -> R:
    """The treasurer's answer; one that has crashed is back in a moment, with its books."""
    while True:
        try:
            return await treasurer.ask(request)
        except ActorRestarting:
            await trio.sleep(_TREASURER_IS_BACK)


class AvatarActors(Struct, frozen=True, kw_only=True):
    """The addresses that the host's handle needs."""

    supervisor: Supervisor
    hub: Address[HubMessage]
    tracker: Address[TrackerMessage]
    budget: Address[BudgetMessage]
    gatekeeper: Address[session_messages.GatekeeperMessage]
    turn_queue: Address[TurnMessage]
