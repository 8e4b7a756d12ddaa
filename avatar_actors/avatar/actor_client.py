"""Talks to the actors from outside of them, and turns their failures into this package's errors."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

import trio

from avatar_actors.avatar import messages
from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.model.errors import (
    AgentNotReady,
    AvatarDown,
    AvatarError,
    AvatarStartError,
    ResumeRefused,
    SessionRefused,
    SettingsError,
)
from avatar_actors.session.messages import SessionReady
from supervisors import (
    ActorRestarting,
    Address,
    AskFailed,
    Down,
    MailboxFull,
    Monitor,
    Phase,
    Request,
    StartFailed,
    SupervisorGaveUp,
)

R = TypeVar("R")

_RUNTIME_BUDGET_IS_BACK = 0.01


class ActorClient:
    """Asks the actors of one avatar; raises AvatarDown, with the reason, if none can answer."""

    def __init__(self, name: str, actors: messages.Actors) -> None:
        self.name = name
        self.actors = actors
        self.monitor: Monitor = actors.supervisor.monitor()

    @property
    def is_down(self) -> bool:
        """Whether the avatar has stopped or given up."""
        # Not `in {…}`: an enum's hash is a call, and `avatars()` asks this of all of them.
        phase = self.actors.supervisor.phase
        return phase is Phase.STOPPED or phase is Phase.GONE

    async def wait(self) -> None:
        """Wait until the avatar has stopped; AvatarDown with the reason if it gave up."""
        reason = reason_of(await self.monitor.down())
        if reason:
            raise AvatarDown(f"{self.name} has ended: {reason}")

    async def session(self) -> SessionReady:
        """The present session; AvatarDown while there is none."""
        session = await self.ask(self.actors.turn_queue, messages.CurrentSession())
        if session is None:
            raise AvatarDown(f"{self.name} has no session now; it is being restarted")
        return session

    async def ask(self, actor: Address[Any], request: Request[R]) -> R:
        """The actor's answer."""
        try:
            return await actor.ask(request)
        except AskFailed as error:
            if self.is_down:
                await self.wait()
                raise AvatarDown(f"{self.name} was stopped") from error
            raise AvatarDown(f"{self.name}: {error}") from error


async def ask_runtime_budget(
    runtime_budget: Address[messages.RuntimeBudgetMessage], request: Request[R]
) -> R:
    """The runtime budget's answer; after a crash it is back in a moment, with its ledger."""
    while True:
        try:
            return await runtime_budget.ask(request)
        except ActorRestarting:
            await trio.sleep(_RUNTIME_BUDGET_IS_BACK)


@asynccontextmanager
async def follow_all(
    event_router: Address[messages.EventRouterMessage], follow: messages.Follow
) -> AsyncGenerator[EventStream]:
    """Fill a stream from all avatars for the length of a block; it ends with the event router."""
    stream = follow.stream
    try:
        await event_router.ask(messages.FollowAll(follow))
        yield stream
    finally:
        stream.close()
        with suppress(MailboxFull):
            event_router.tell_nowait(messages.UnfollowAll(stream))


def reason_of(down: Down) -> str:
    """Why an avatar has ended; nothing if it was stopped."""
    error = down.exit.error if down.exit is not None else None
    if error is None:
        return ""
    cause = _root(error)
    crash = f"{type(cause).__name__}: {cause}"
    return f"too many crashes, {crash}" if isinstance(error, SupervisorGaveUp) else crash


def start_error(failed: StartFailed) -> AvatarStartError | SettingsError:
    """The error to raise for a session that could not be started."""
    cause: BaseException | None = failed
    while cause is not None and not isinstance(cause, AvatarError | TimeoutError):
        cause = cause.__cause__
    if isinstance(cause, AvatarStartError | SettingsError):
        return cause
    if isinstance(cause, ResumeRefused):
        return SessionRefused(str(cause), "Leave out `resume` or `fork` to start a new session.")
    if isinstance(cause, TimeoutError):
        return AgentNotReady(f"the agent did not start in time: {cause}")
    return AvatarStartError(str(cause or failed))


def is_resume_refused(failed: StartFailed) -> bool:
    """Whether the start failed only because the stored session could not be resumed."""
    return isinstance(_root(failed), ResumeRefused)


def _root(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error
