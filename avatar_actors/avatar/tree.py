"""Starts an avatar: its supervisor, its actors in order, and its first session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import trio
from msgspec import Struct

from avatar_actors.avatar import messages
from avatar_actors.avatar.actor_client import is_resume_refused, start_error
from avatar_actors.avatar.actors.activity_tracker import activity_tracker
from avatar_actors.avatar.actors.gatekeeper import gatekeeper
from avatar_actors.avatar.actors.host_functions import HostFunctions
from avatar_actors.avatar.actors.private_dir import private_dir
from avatar_actors.avatar.actors.rate_limiter import rate_limiter
from avatar_actors.avatar.actors.turn_queue import turn_queue
from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.messages import Actors, AvatarBorn, RuntimeBudgetMessage
from avatar_actors.avatar.state.event_fanout import EventFanout
from avatar_actors.avatar.state.submission import next_attempt, time_for_attempts
from avatar_actors.model.errors import AgentNotReady, AgentRefused, AvatarStartError
from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.permission_rules import Rules
from avatar_actors.model.settings import AvatarSettings, Retry
from avatar_actors.model.values import Level
from avatar_actors.providers.provider import Provider
from avatar_actors.session import messages as session_messages
from avatar_actors.session.messages import AvatarActors
from avatar_actors.session.session import session_spec
from supervisors import (
    Address,
    AutoShutdown,
    ChildSpec,
    Inbox,
    Restart,
    StartFailed,
    Supervisor,
    SupervisorSpec,
    TooManyChildren,
)

M = TypeVar("M")

# How long the clean-up after a failed start may take.
_CLEAN_UP = 15.0


class AvatarSpec(Struct, frozen=True, kw_only=True):
    """What an avatar is started from."""

    name: str
    provider: Provider
    settings: AvatarSettings
    private_dir: Path
    runtime_budget: Address[RuntimeBudgetMessage]
    listener: EventStream | None = None


async def start_avatar(
    avatars: Supervisor,
    wanted: AvatarSpec,
    warden: Address[session_messages.Admit],
    event_router: Address[AvatarBorn],
) -> Actors:
    """Start all actors of an avatar, each ready before the next; AvatarStartError if one is not."""
    supervisor = await _open(avatars, wanted)
    each = 2 * wanted.settings.timeouts.start + _CLEAN_UP
    limit = time_for_attempts(wanted.settings.retry, each)
    try:
        with trio.move_on_after(limit):
            return await _start_actors(supervisor, wanted, warden, event_router)
        raise AvatarStartError(f"the avatar did not start within {limit:g} s")
    except BaseException as error:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + _CLEAN_UP):
            await avatars.terminate(supervisor)
        if isinstance(error, StartFailed):
            raise start_error(error) from error
        raise


async def _open(avatars: Supervisor, wanted: AvatarSpec) -> Supervisor:
    try:
        # Shielded: it starts once asked for, and only its handle can end it.
        with trio.CancelScope(shield=True, deadline=trio.current_time() + _CLEAN_UP):
            return await avatars.start(_supervisor_spec(wanted))
    except TooManyChildren as error:
        raise AvatarStartError("the runtime is full", "Stop one, or raise max_avatars.") from error
    raise AvatarStartError("the runtime does not answer")


def _supervisor_spec(wanted: AvatarSpec) -> SupervisorSpec:
    restarts = wanted.settings.restarts
    return SupervisorSpec(
        wanted.name,
        intensity=restarts.max_restarts if restarts.auto_restart else 0,
        period=restarts.period,
        restart=Restart.TEMPORARY,
        auto_shutdown=AutoShutdown.ANY_SIGNIFICANT,
    )


async def _start_actors(
    supervisor: Supervisor,
    wanted: AvatarSpec,
    warden: Address[session_messages.Admit],
    event_router: Address[AvatarBorn],
) -> Actors:
    settings, start = wanted.settings, supervisor.start
    await start(ChildSpec("private dir", partial(private_dir, path=wanted.private_dir)))
    tracker = await _start_tracker(supervisor, wanted)
    await event_router.ask(AvatarBorn(supervisor.path, tracker))
    limiting = partial(rate_limiter, limit=settings.rate_limit, tracker=tracker)
    limiter = await start(ChildSpec("rate limiter", limiting))
    rules, patience = Rules(settings.permissions, settings.tools), settings.timeouts.permission
    host = HostFunctions(settings.permission_handler, settings.question_handler)
    deciding = partial(gatekeeper, rules=rules, patience=patience, tracker=tracker, host=host)
    gate = await start(_vital("gatekeeper", deciding))
    queueing = partial(
        turn_queue,
        settings=settings,
        tracker=tracker,
        gatekeeper=gate,
        runtime_budget=wanted.runtime_budget,
        limiter=limiter if settings.rate_limit is not None else None,
        provider=wanted.provider.name,
    )
    actors = AvatarActors(
        supervisor=supervisor,
        warden=warden,
        tracker=tracker,
        gatekeeper=gate,
        turn_queue=await start(_vital("turn queue", queueing)),
    )
    await _start_agent(wanted, settings, actors)
    return actors


async def _start_agent(wanted: AvatarSpec, settings: AvatarSettings, actors: Actors) -> None:
    """Start a session; one process per prompt instead, if it does not start and that is allowed."""
    session = session_spec(wanted.provider, settings, actors, wanted.private_dir)
    begin = partial(_start_session, actors.supervisor, session, settings)
    try:
        await _start_patiently(begin, settings.retry, actors.tracker)
    except StartFailed as failed:
        error = start_error(failed)
        plain = wanted.provider.one_shot(settings) if wanted.provider.one_shot else None
        if plain is None or not isinstance(error, AgentRefused):
            raise
        words = f"fallback to one process for each prompt, since it did not start: {error.message}"
        told = DiagnosticEvent(message=words, level=Level.WARNING, source="fallback")
        await actors.tracker.tell(session_messages.Publish(0, [told]))
        await _start_agent(wanted, plain, actors)


async def _start_tracker(
    supervisor: Supervisor, wanted: AvatarSpec
) -> Address[messages.TrackerMessage]:
    tracking = partial(
        activity_tracker,
        fanout=EventFanout(wanted.provider.name, wanted.name),
        timeouts=wanted.settings.timeouts,
        max_answer=wanted.settings.max_answer,
    )
    tracker = await supervisor.start(_vital("activity tracker", tracking))
    if wanted.listener is not None:
        await tracker.ask(messages.Subscribe(wanted.listener))
    return tracker


async def _start_session(
    supervisor: Supervisor, session: SupervisorSpec, settings: AvatarSettings
) -> None:
    try:
        await supervisor.start(session)
    except StartFailed as failed:
        # The host did not name the last session: without it the avatar starts afresh.
        if not settings.continue_last or not is_resume_refused(failed):
            raise
        await supervisor.start(session)


async def _start_patiently(
    start: Callable[[], Awaitable[None]], retry: Retry, tracker: Address[messages.TrackerMessage]
) -> None:
    """Start a session; if the agent is not ready, try again by the policy, each time with an event.

    Only that: an agent that is not installed, not logged in or set wrongly stays so.
    """
    attempt = 1
    while True:
        try:
            return await start()
        except StartFailed as failed:
            error = start_error(failed)
            event = None
            if isinstance(error, AgentNotReady):
                event = next_attempt(retry, attempt, error.message)
            if event is None:
                raise
        await tracker.tell(session_messages.Publish(0, [event]))
        await trio.sleep(event.delay)
        attempt += 1


def _vital(name: str, actor: Callable[[Inbox[M]], Awaitable[None]]) -> ChildSpec[M]:
    """An actor that cannot lose its state: if it crashes, the avatar ends."""
    return ChildSpec(name, actor, restart=Restart.TEMPORARY, significant=True)
