"""The avatar's level of the tree: its actors, and its private directory."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import trio
from msgspec import Struct

from avatar_actors.avatar import messages
from avatar_actors.avatar.activity_tracker import activity_tracker, event_hub
from avatar_actors.avatar.budget_keeper import budget_keeper
from avatar_actors.avatar.control import is_resume_refused, start_error
from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.gatekeeper import gatekeeper
from avatar_actors.avatar.messages import AvatarActors, AvatarBorn, RuntimeBudgetMessage
from avatar_actors.avatar.rate_limiter import rate_limiter
from avatar_actors.avatar.turn_queue import turn_queue
from avatar_actors.avatar.turn_runner import TurnQueueAddresses, patience, start_patiently
from avatar_actors.model.errors import AvatarStartError
from avatar_actors.model.permission_rules import Rules
from avatar_actors.model.settings import AvatarSettings
from avatar_actors.processes import remove_tree
from avatar_actors.providers.provider import Provider
from avatar_actors.session import messages as session_messages
from avatar_actors.session.messages import Nothing
from avatar_actors.session.session import SessionAddresses, session_spec
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

# To remove a directory takes a descriptor. Soon there is one, unless the host itself is in trouble:
# then it goes with the runtime's own.
_SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
_AGAIN = 0.05


async def private_dir(inbox: Inbox[Nothing], path: Path) -> None:
    """There while this actor lives."""
    await trio.Path(path).mkdir(mode=0o700, exist_ok=True)
    inbox.ready()
    try:
        await trio.sleep_forever()
    finally:
        with inbox.grace():
            while not await trio.to_thread.run_sync(partial(_remove, path)):  # noqa: ASYNC110 - nobody tells
                await trio.sleep(_AGAIN)


def _remove(path: Path) -> bool:
    """Whether all was done that can be done."""
    try:
        shutil.rmtree(path)
    except RecursionError:
        remove_tree(path)
    except OSError as error:
        if error.errno in _SHORTAGES:
            return False
        remove_tree(path)
    return True


M = TypeVar("M")

# How long the clean-up after a failed start may take.
_CLEAN_UP = 15.0


class AvatarSpec(Struct, frozen=True, kw_only=True):
    """An avatar that is to be started."""

    name: str
    provider: Provider
    settings: AvatarSettings
    private_dir: Path
    treasurer: Address[RuntimeBudgetMessage]
    listener: EventStream | None = None


async def start_avatar(
    avatars: Supervisor,
    wanted: AvatarSpec,
    warden: Address[session_messages.Admit],
    herald: Address[AvatarBorn],
) -> AvatarActors:
    """Start all actors of an avatar, each ready before the next; AvatarStartError if one is not."""
    supervisor = await _open(avatars, wanted)
    each = 2 * wanted.settings.timeouts.start + _CLEAN_UP
    limit = patience(wanted.settings.retry, each)
    try:
        with trio.move_on_after(limit):
            return await _start_actors(supervisor, wanted, warden, herald)
        raise AvatarStartError(f"the avatar did not start within {limit:g} s")
    except BaseException as error:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + _CLEAN_UP):
            await avatars.terminate(supervisor)
        if isinstance(error, StartFailed):
            raise start_error(error) from error
        raise


async def _open(avatars: Supervisor, wanted: AvatarSpec) -> Supervisor:
    try:
        # Shielded: once asked for it comes, and only who knows it can end it.
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
    herald: Address[AvatarBorn],
) -> AvatarActors:
    provider, settings, start = wanted.provider, wanted.settings, supervisor.start
    await start(ChildSpec("private dir", partial(private_dir, path=wanted.private_dir)))
    numbering = partial(event_hub, provider=provider.name, avatar=wanted.name)
    hub = await start(_vital("event hub", numbering))
    if wanted.listener is not None:
        await hub.ask(messages.Subscribe(wanted.listener))
    await herald.ask(AvatarBorn(supervisor.path, hub))
    times, most = settings.timeouts, settings.max_answer
    tracking = partial(activity_tracker, hub=hub, timeouts=times, max_answer=most)
    tracker = await start(_vital("activity tracker", tracking))
    limiting = partial(rate_limiter, limit=settings.rate_limit, tracker=tracker)
    limiter = await start(ChildSpec("rate limiter", limiting))
    keeping = partial(budget_keeper, budget=settings.budget, hub=hub, treasurer=wanted.treasurer)
    budget = await start(_vital("budget keeper", keeping))
    gate = await start(_vital("gatekeeper", _guarding(settings, tracker)))
    links = TurnQueueAddresses(tracker=tracker, budget=budget, limiter=limiter, gatekeeper=gate)
    queueing = partial(turn_queue, provider=provider.name, settings=settings, links=links)
    queue = await start(_vital("turn queue", queueing))
    company = SessionAddresses(
        warden=warden, hub=hub, tracker=tracker, budget=budget, gatekeeper=gate, turn_queue=queue
    )
    session = session_spec(provider, settings, company, wanted.private_dir)
    begin = partial(_start_session, supervisor, session, settings)
    await start_patiently(begin, settings.retry, hub)
    return AvatarActors(
        supervisor=supervisor,
        hub=hub,
        tracker=tracker,
        budget=budget,
        gatekeeper=gate,
        turn_queue=queue,
    )


def _guarding(
    settings: AvatarSettings, tracker: Address[messages.TrackerMessage]
) -> Callable[[Inbox[session_messages.GatekeeperMessage]], Awaitable[None]]:
    rules, patience = Rules(settings.permissions, settings.tools), settings.timeouts.permission
    return partial(gatekeeper, rules=rules, patience=patience, tracker=tracker)


async def _start_session(
    supervisor: Supervisor, session: SupervisorSpec, settings: AvatarSettings
) -> None:
    try:
        await supervisor.start(session)
    except StartFailed as failed:
        # The last session was not named by the host: without it the avatar starts afresh.
        if not settings.continue_last or not is_resume_refused(failed):
            raise
        await supervisor.start(session)


def _vital(name: str, actor: Callable[[Inbox[M]], Awaitable[None]]) -> ChildSpec[M]:
    """An actor that holds the truth about turns: without it the avatar ends."""
    return ChildSpec(name, actor, restart=Restart.TEMPORARY, significant=True)
