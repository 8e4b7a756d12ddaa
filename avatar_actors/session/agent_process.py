"""The agent process: spawns the agent in a lease of the warden and ends its whole process tree."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import trio
from msgspec import Struct

from avatar_actors.model.errors import AgentNotFound, AvatarStartError
from avatar_actors.model.events import OrphansReapedEvent
from avatar_actors.processes import Launch, Lease, LeaseLost, end_command, exit_words, open_lease
from avatar_actors.session.messages import (
    Admit,
    EndTool,
    GetVitals,
    KillAgent,
    OuterActors,
    ProcessMessage,
    Publish,
    QuestionsOver,
    ResumePlan,
    SessionDown,
    SessionLost,
    SessionStarting,
    WhatToResume,
)
from supervisors import AskFailed, AskTimeout, Inbox

# How often a spawn is tried again when the warden is being replaced.
_TRIES = 50
_PAUSE = 0.02
_ADMISSION = 10.0


class Running(Struct, frozen=True):
    """What the other actors of the session learn of the process."""

    lease: Lease
    plan: ResumePlan


class ProcessContext(Struct, frozen=True, kw_only=True):
    """What a process is started with, and the actors that hear of it."""

    actors: OuterActors
    settle: Callable[[ResumePlan], Awaitable[ResumePlan]]
    prepare: Callable[[ResumePlan], Awaitable[Launch]]
    install: str
    stop_grace: float


async def agent_process(inbox: Inbox[ProcessMessage], around: ProcessContext) -> None:
    """Ready once the program runs. When it ends by itself, the bridge finds out how."""
    await around.actors.turn_queue.tell(SessionStarting())
    plan = await around.settle(await around.actors.turn_queue.ask(WhatToResume()))
    launch = await around.prepare(plan)
    lease = await _spawn(around, launch)
    try:
        inbox.ready(Running(lease, plan))
        async for message in inbox:
            match message:
                case GetVitals():
                    inbox.reply(message, await lease.vitals())
                case EndTool(command):
                    inbox.reply(message, end_command(lease.pid, command))
                case KillAgent():
                    await lease.end(0.0)
                    inbox.reply(message, None)
    finally:
        with inbox.grace():
            await around.actors.tracker.tell(SessionDown(lease.returncode is not None))
            await around.actors.gatekeeper.tell(QuestionsOver(None))
            await around.actors.turn_queue.tell(SessionLost(*_end_of(lease)))
            # A process that outlives its agent is of no use to the next one.
            ending = await lease.end(around.stop_grace if lease.returncode is None else 0.0)
            await lease.aclose()
            if ending.reaped:
                reaped = OrphansReapedEvent(count=ending.reaped)
                await around.actors.tracker.tell(Publish(0, [reaped]))


async def _spawn(around: ProcessContext, launch: Launch) -> Lease:
    for _ in range(_TRIES):
        try:
            lease, berth = open_lease()
        except OSError as error:
            words = f"the agent could not be started: {error.strerror}"
            raise AvatarStartError(words, "Raise the limit of open files: ulimit -n") from error
        try:
            with berth:
                await around.actors.warden.ask(Admit(berth), timeout=_ADMISSION)
            await lease.run(launch)
        except AskTimeout as error:
            await lease.aclose()
            raise AvatarStartError("the warden does not answer") from error
        except (AskFailed, LeaseLost):  # the warden is being replaced
            await lease.aclose()
            await trio.sleep(_PAUSE)
        except OSError as error:
            await lease.aclose()
            raise _explained(error, launch, around.install) from error
        except BaseException:
            await lease.aclose()
            raise
        else:
            return lease
    raise AvatarStartError("the warden could not be reached")


def _end_of(lease: Lease) -> tuple[str, int | None, bool]:
    if lease.returncode is None:
        return "it was stopped", None, False
    return exit_words(lease.returncode), lease.returncode, True


def _explained(error: OSError, launch: Launch, install: str) -> AvatarStartError:
    if not Path(launch.cwd).is_dir():
        return AvatarStartError(f"the working directory {launch.cwd} is gone", "Create it again.")
    program = launch.argv[0]
    if isinstance(error, FileNotFoundError):
        return AgentNotFound(f"{program!r} was not found", install and f"Install it: {install}")
    if isinstance(error, PermissionError):
        return AgentNotFound(f"{program!r} may not be executed", f"chmod +x {program}")
    return AvatarStartError(f"{program!r} could not be started: {error.strerror or error}")
