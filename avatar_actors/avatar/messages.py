"""The messages between the actors of an avatar; those of a session are in session/messages.py.

prompt   handle ─▶ turn queue ─▶ (rate limiter, runtime budget, where set) ─▶ bridge
events   bridge ─▶ activity tracker ─▶ the subscribers' streams
usage    bridge ─▶ turn queue ─▶ runtime budget
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.model.events import (
    ActivityEvent,
    AvatarEvent,
    PermissionEvent,
    QuestionEvent,
    RetryEvent,
    TurnEndedEvent,
)
from avatar_actors.model.settings import Budget, WhileBusy
from avatar_actors.model.values import Attachment, HealthStatus, JsonObject, Message, Outcome, Usage
from avatar_actors.session.messages import (
    AvatarActors,
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
    UnaskedTurnEnded,
    UnaskedTurnStarted,
    WhatToResume,
)
from avatar_actors.wire.commands import Beginning
from supervisors import Address, Request

# To the activity tracker, beside what sessions tell it.


class Subscribe(Struct, Request[None], frozen=True):
    """Fill this stream from now on, to the end of the avatar. Answered once it does."""

    stream: EventStream


class Unsubscribe(Struct, frozen=True):
    """Stop filling this stream."""

    stream: EventStream


class SlowReaders(Struct, frozen=True):
    """To a watcher: so many events were merged or dropped for subscribers that are too slow."""

    provider: str
    merged: int
    dropped: int


class Follow(Struct, frozen=True):
    """Fill this stream too. Other avatars fill it as well, so it outlives this one."""

    stream: EventStream
    watcher: Address[SlowReaders] | None = None
    """Hears of subscribers, of any stream, that are too slow."""


class BeginTurn(Struct, frozen=True):
    """A prompt's turn has come; or an unasked one has begun, whose `prompt` is its cause."""

    turn_id: int
    prompt: str
    trace_parent: str = ""


class WasSent(Struct, Request[bool], frozen=True):
    """Ask whether the agent may have read the prompt of this turn."""

    turn_id: int


class PartialAnswer(Struct, frozen=True):
    """The text of an answer so far."""

    text: str = ""
    is_cut: bool = False
    """There was more text than is kept."""


class TurnText(Struct, Request[PartialAnswer], frozen=True):
    """Ask for the text of the turn so far."""

    turn_id: int


class TryAgain(Struct, Request[bool], frozen=True):
    """A refused prompt is to be sent again: begin its account anew and publish the event.

    Answered with False, and nothing is published, if a tool had started or the agent had said more
    than the refusal itself.
    """

    turn_id: int
    refused: TurnEnding
    event: RetryEvent


class EndTurn(Struct, Request[TurnEndedEvent], frozen=True):
    """Close the turn's account: everything of it is published before its TurnEndedEvent."""

    turn_id: int
    ending: TurnEnding
    session_id: str = ""
    then: Sequence[AvatarEvent] = ()
    """Published after it; they belong to no turn."""


class AskSubscribers(Struct, Request[bool], frozen=True):
    """Publish a question if a subscriber could answer it. Answered with whether one could."""

    turn_id: int
    event: PermissionEvent | QuestionEvent


class ListQuestions(Struct, Request[tuple[str, ...]], frozen=True):
    """Ask what the host has not answered yet, in words."""


class FindActivity(Struct, Request[ActivityEvent | None], frozen=True):
    """Ask what is known of an activity."""

    activity_id: str


class ListActivities(Struct, Request[tuple[ActivityEvent, ...]], frozen=True):
    """Ask what is running now."""


TrackerMessage: TypeAlias = (
    Publish
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
    | AskSubscribers
    | ListQuestions
    | Subscribe
    | Unsubscribe
    | Follow
)

# To the event router.


class AvatarBorn(Struct, Request[None], frozen=True):
    """Supervisor notices about what is below `path` go to this tracker from now on.

    Answered when it fills the streams of all who follow every avatar, so that they miss nothing.
    """

    path: str
    tracker: Address[TrackerMessage]


class FollowAll(Struct, Request[None], frozen=True):
    """This stream gets the events of all avatars, present and future."""

    follow: Follow


class UnfollowAll(Struct, frozen=True):
    """This stream no longer gets the events of all avatars."""

    stream: EventStream


EventRouterMessage: TypeAlias = AvatarBorn | FollowAll | UnfollowAll

# To the turn queue, beside what sessions tell it.


class Submission(Struct, frozen=True, kw_only=True):
    """A prompt that waits for its turn."""

    turn_id: int
    text: str
    attachments: tuple[Attachment, ...] = ()
    context: JsonObject = {}
    schema: JsonObject | None = None
    while_busy: WhileBusy = WhileBusy.QUEUE
    timeout: float
    raw_events: bool = False
    trace_parent: str = ""


class Submit(Struct, Request[None], frozen=True):
    """Give this prompt its turn, and its stream what happens in it, to its TurnEndedEvent.

    Answered at once: from then on the stream is filled, or closed if the avatar ends.
    """

    submission: Submission
    stream: EventStream


class Interrupt(Struct, Request[bool], frozen=True):
    """End this turn, or the present one (0). Answered with whether there was one to end."""

    turn_id: int
    outcome: Outcome = Outcome.CANCELLED
    reason: str = "interrupted"


class CloseDown(Struct, Request[None], frozen=True):
    """Take no more prompts; end those that wait and the one that runs."""

    reason: str


class ResumeThis(Struct, Request[None], frozen=True):
    """The next life continues this stored session, or a fork of it."""

    session_id: str
    begins: Beginning = Beginning.AS_NAMED


class ModelChosen(Struct, frozen=True):
    """The host has switched to this model or mode; the next life begins with it."""

    model: str = ""
    mode: str = ""


class RaiseBudget(Struct, Request[None], frozen=True):
    """Replace the budget; what was spent stays spent. Also to the runtime budget."""

    budget: Budget


class RuntimeLimited(Struct, frozen=True):
    """The runtime budget has limits from now on, or has none: whether to ask it for each turn."""

    is_limited: bool


class CurrentSession(Struct, Request[SessionReady | None], frozen=True):
    """Ask for the present session, if there is one."""


class GetHistory(Struct, Request[tuple[Message, ...]], frozen=True):
    """Ask for the prompts and answers of finished turns, always in whole pairs."""


class ClearHistory(Struct, Request[None], frozen=True):
    """Forget the history."""


class GetHealth(Struct, Request[HealthStatus], frozen=True):
    """Ask for the avatar's current health."""


TurnNews: TypeAlias = (
    SessionStarting
    | SessionReady
    | SessionLost
    | SessionIs
    | LoginRefused
    | ResumeImpossible
    | ModelChosen
    | Spent
    | UnaskedTurnEnded
    | RuntimeLimited
)
TurnRequest: TypeAlias = (
    Submit
    | Interrupt
    | UnaskedTurnStarted
    | CloseDown
    | WhatToResume
    | ResumeThis
    | RaiseBudget
    | CurrentSession
    | GetHistory
    | ClearHistory
    | GetHealth
)
TurnMessage: TypeAlias = TurnNews | TurnRequest

# To the rate limiter.


class Acquire(Struct, Request[None], frozen=True):
    """Wait for a token; answered when this ticket has one."""

    ticket: int


class GiveBack(Struct, frozen=True):
    """The owner of this ticket left: its place, or its token, is free again."""

    ticket: int


LimiterMessage: TypeAlias = Acquire | GiveBack

# To the runtime budget. An account is an avatar, named by its turn queue.


class OpenAccount(Struct, Request[bool], frozen=True):
    """An avatar has started; its warnings go to this tracker. Answered with whether limits are set.

    Each later change is told to the turn queue as RuntimeLimited.
    """

    account: Address[TurnMessage]
    tracker: Address[TrackerMessage]


class Reserve(Struct, Request[str], frozen=True):
    """Ask whether a turn may run: answered with the reason against it, or with "" and a reserve."""

    account: Address[TurnMessage]
    turn_id: int


class Charge(Struct, frozen=True):
    """What a turn has used so far; turn 0: what was used outside of any."""

    account: Address[TurnMessage]
    turn_id: int
    usage: Usage


class Release(Struct, frozen=True):
    """The turn is over and its reserve is free."""

    account: Address[TurnMessage]
    turn_id: int
    outcome: Outcome
    usage: Usage | None = None
    """Everything that it used; None if it never ran."""


class CloseAccount(Struct, frozen=True):
    """The avatar has ended, perhaps in the middle of a turn."""

    account: Address[TurnMessage]


class TotalSpent(Struct, Request[Usage], frozen=True):
    """Ask what all avatars have used since the runtime started."""


RuntimeBudgetMessage: TypeAlias = (
    OpenAccount | Reserve | Charge | Release | CloseAccount | TotalSpent | RaiseBudget
)

Actors: TypeAlias = AvatarActors[TrackerMessage, TurnMessage]
