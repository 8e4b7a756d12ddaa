"""What a host can do with a living avatar: ask, cancel, switch, resume, list sessions, follow."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from enum import Enum
from typing import Any, TypeAlias, TypeVar

import msgspec
import trio
from msgspec import Struct

from avatar_actors.avatar import messages
from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.messages import (
    AvatarActors,
    EventRouterMessage,
    FindActivity,
    Follow,
    FollowAll,
    GetHealth,
    ModelChosen,
    ResumeThis,
    UnfollowAll,
)
from avatar_actors.model.command_line import check_name, is_session_id, unusable_session
from avatar_actors.model.errors import (
    AgentNotReady,
    AgentRefused,
    AvatarDown,
    AvatarError,
    AvatarStartError,
    ResumeRefused,
    SettingsError,
    UnknownRequest,
    Unsupported,
)
from avatar_actors.model.events import ActivityEvent, DiagnosticEvent
from avatar_actors.model.settings import Timeouts
from avatar_actors.model.values import CancelResult, Level, StoredSession
from avatar_actors.providers.stores.queries import merged
from avatar_actors.providers.stores.store import SessionSearch
from avatar_actors.session import messages as session_messages
from avatar_actors.session.launch import Launcher
from avatar_actors.session.messages import CallAgent, EndTool, ResumeImpossible, SessionReady
from avatar_actors.wire.commands import Beginning
from supervisors import (
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


R = TypeVar("R")


class ActorClient:
    """Asks the actors; AvatarDown, with the reason, where there is nobody left to answer."""

    def __init__(self, name: str, actors: AvatarActors) -> None:
        self.name = name
        self.actors = actors
        self.monitor: Monitor = actors.supervisor.monitor()

    @property
    def is_down(self) -> bool:
        """Whether the avatar has stopped or given up."""
        # Not `in {…}`: an enum's hash is a call, and this is asked of all avatars at each start.
        phase = self.actors.supervisor.phase
        return phase is Phase.STOPPED or phase is Phase.GONE

    async def wait(self) -> None:
        """Until it has stopped; AvatarDown with the reason if it gave up."""
        reason = reason_of(await self.monitor.down())
        if reason:
            raise AvatarDown(f"{self.name} has ended: {reason}")

    async def session(self) -> session_messages.SessionReady:
        """The session as it is now; AvatarDown while there is none."""
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


async def sessions_of(contact: ActorClient, launcher: Launcher) -> tuple[StoredSession, ...]:
    """Those of the working directory, told by the agent and found in its store, each once."""
    session = await contact.session()
    can_list = session.capabilities.can_list_sessions
    if not can_list and launcher.provider.store is None:
        raise Unsupported(f"{launcher.provider.name} lists no sessions, and has no known store")
    stored = await trio.to_thread.run_sync(launcher.stored_sessions, abandon_on_cancel=True)
    told: tuple[StoredSession, ...] = ()
    remarks = stored.diagnostics
    if can_list:
        try:
            told = await _told(contact, launcher, session)
            unusable = [each.session_id for each in told if not is_session_id(each.session_id)]
            remarks = (*remarks, *map(unusable_session, unusable))
            told = tuple(each for each in told if each.session_id not in unusable)
        except Unsupported as error:
            remarks = (*remarks, f"the agent did not list its sessions: {error}")
    await _publish(contact, remarks)
    return merged(told, stored.sessions)


async def last_other(contact: ActorClient, launcher: Launcher) -> StoredSession:
    """The session that was used last, besides the present one."""
    health = await contact.ask(contact.actors.turn_queue, messages.GetHealth())
    for session in await sessions_of(contact, launcher):
        if session.session_id != health.session_id:
            return session
    raise UnknownRequest(f"there is no other session of {launcher.settings.working_dir}")


async def _told(
    contact: ActorClient, launcher: Launcher, session: session_messages.SessionReady
) -> tuple[StoredSession, ...]:
    directory = launcher.settings.working_dir
    call = session_messages.CallAgent("list_sessions", {"cwd": str(directory)})
    rows = msgspec.convert(await contact.ask(session.bridge, call), list[StoredSession])
    here = SessionSearch(env={}, working_dir=directory)
    # Not every agent looks at `cwd`.
    return tuple(each for each in rows if not each.working_dir or here.covers(each.working_dir))


async def _publish(contact: ActorClient, remarks: tuple[str, ...]) -> None:
    events = [
        DiagnosticEvent(message=remark, level=Level.WARNING, source="sessions")
        for remark in remarks
    ]
    if events:
        await contact.actors.hub.tell(session_messages.Publish(0, events))


# On top of what a restart may take by the settings.
_SLACK = 20.0


Stop: TypeAlias = Callable[[], Awaitable[None]]


async def switch_session(
    contact: ActorClient, wanted: ResumeThis, timeouts: Timeouts, stop: Stop
) -> str:
    """Go on with a stored session, or with a fork of it; the id of the session that it is now."""
    await contact.ask(contact.actors.turn_queue, wanted)
    await _switch(contact.actors, timeouts, stop)
    return await present_session(contact)


async def fork_wanted(contact: ActorClient, session_id: str) -> ResumeThis:
    """The fork of a session, or of the present one; Unsupported where the agent cannot."""
    agent = (await contact.session()).capabilities
    if not agent.can_fork_session:
        raise Unsupported(f"{agent.agent or contact.name} cannot fork a session")
    source = session_id or await present_session(contact)
    if not source:
        raise UnknownRequest("nothing was said in this session yet: there is nothing to fork")
    return ResumeThis(source, Beginning.FORK)


async def present_session(contact: ActorClient) -> str:
    """The id of the session now, as far as the agent has told it."""
    return (await contact.ask(contact.actors.turn_queue, GetHealth())).session_id


async def _switch(actors: AvatarActors, timeouts: Timeouts, stop: Stop) -> None:
    """Restart the session; if it cannot be, once more with a fresh one, else the avatar stops."""
    limit = 2 * timeouts.start + timeouts.stop + _SLACK
    # Not to be left half-way: without a session nobody would start one.
    with trio.CancelScope(shield=True, deadline=trio.current_time() + limit):
        await actors.supervisor.terminate("session")
        try:
            await actors.supervisor.restart("session")
        except StartFailed as failed:
            error = start_error(failed)
            await actors.turn_queue.tell(ResumeImpossible(str(error)))
            await _start_afresh(actors, stop)
            raise error from failed
        return
    await stop()
    raise AgentRefused("the agent did not come back in time")


async def _start_afresh(actors: AvatarActors, stop: Stop) -> None:
    try:
        await actors.supervisor.restart("session")
    except StartFailed as failed:
        await stop()
        raise start_error(failed) from failed


_TASKS = frozenset({"agent", "background_task"})


class Escalation(Enum):
    """Whether cancelling an activity may end the whole turn."""

    NEVER = "never"
    TURN = "turn"


class StopWanted(Struct, frozen=True):
    """Which activity is to be stopped, and how far that may go."""

    activity_id: str
    escalation: Escalation


async def cancel_activity(
    contact: ActorClient, wanted: StopWanted, end_turn: Callable[[int], Awaitable[bool]]
) -> CancelResult:
    """Stop one tool or task: by the protocol, else by its processes, else with its turn."""
    activity = await contact.ask(contact.actors.tracker, FindActivity(wanted.activity_id))
    if activity is None:
        raise UnknownRequest(f"no activity {wanted.activity_id!r} is known")
    if not activity.is_cancellable:
        return CancelResult.ALREADY_DONE
    if activity.activity_type == "turn":
        was_there = await end_turn(activity.turn_id)
        return CancelResult.STOPPED if was_there else CancelResult.ALREADY_DONE
    try:
        if await stop_activity(await contact.session(), activity):
            return CancelResult.STOPPED
    except AskFailed:
        return CancelResult.ALREADY_DONE
    if wanted.escalation is Escalation.TURN and await end_turn(activity.turn_id):
        return CancelResult.ESCALATED
    return CancelResult.UNSUPPORTED


async def stop_activity(session: SessionReady, activity: ActivityEvent) -> bool:
    """Whether it could be stopped alone."""
    if activity.activity_type in _TASKS:
        try:
            await session.bridge.ask(CallAgent("stop_task", {"task_id": activity.activity_id}))
        except Unsupported:
            pass
        else:
            return True
    return bool(activity.detail) and await session.process.ask(EndTool(activity.detail))


async def choose(contact: ActorClient, chosen: ModelChosen) -> None:
    """Unsupported, with what is offered, if the agent does not take it; then all stays as it is."""
    kind, wanted = ("model", chosen.model) if chosen.model else ("mode", chosen.mode)
    if not wanted:
        raise SettingsError("name the model or mode to switch to")
    check_name(kind, wanted)
    session = await contact.session()
    await contact.ask(session.bridge, CallAgent(f"set_{kind}", {kind: wanted}))
    await contact.actors.turn_queue.tell(chosen)


@asynccontextmanager
async def follow_all(
    herald: Address[EventRouterMessage], follow: Follow
) -> AsyncGenerator[EventStream]:
    """Its stream is filled for the length of a block; it ends by itself with the herald."""
    stream = follow.stream
    try:
        await herald.ask(FollowAll(follow))
        yield stream
    finally:
        stream.close()
        with suppress(MailboxFull):
            herald.tell_nowait(UnfollowAll(stream))
