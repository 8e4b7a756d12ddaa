"""The remote link: replaces agent process, writer and reader where the agent runs elsewhere."""

from __future__ import annotations

import importlib
import os
from contextlib import suppress
from types import ModuleType

import trio
from msgspec import Struct

from avatar_actors.model.errors import AgentError, AvatarStartError, WireBroken
from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.redaction import Redactor
from avatar_actors.model.values import Level
from avatar_actors.processes import Vitals
from avatar_actors.providers.provider import Remote
from avatar_actors.session.messages import (
    EndTool,
    FromAgent,
    GetVitals,
    KillAgent,
    LinkMessage,
    OuterActors,
    Publish,
    QuestionsOver,
    ResumePlan,
    SessionDown,
    SessionLost,
    SessionStarting,
    StderrTail,
    StreamEnded,
    WhatToResume,
    Write,
)
from supervisors import Inbox, MailboxFull

# Messages that may wait for a connection; with more it counts as broken.
_UNSENT = 4096
_UNSEEN = Vitals(cpu_seconds=0.0, processes=0, states={})


class RemoteContext(Struct, frozen=True, kw_only=True):
    """The agent's address, and the actors that hear of the connection."""

    actors: OuterActors
    remote: Remote
    redactor: Redactor
    patience: float
    """Seconds within which the agent must be reached."""
    max_message: int

    def remark(self, message: str, level: Level = Level.WARNING) -> None:
        """Publish a diagnostic event for the host, without its secrets."""
        text = self.redactor.hide(message)
        event = DiagnosticEvent(message=text, level=level, source="remote link")
        with suppress(MailboxFull):  # a remark is not worth a wait
            self.actors.tracker.tell_nowait(Publish(0, [event]))


class Reached(Struct, frozen=True):
    """What the bridge learns of the link."""

    plan: ResumePlan
    life: str


async def remote_link(
    inbox: Inbox[LinkMessage], context: RemoteContext, out: trio.MemorySendChannel[FromAgent]
) -> None:
    """Ready at once: the first message opens the connection. The bridge reports its end.

    Questions that only a local process can answer get empty answers.
    """
    await context.actors.turn_queue.tell(SessionStarting())
    plan = await context.actors.turn_queue.ask(WhatToResume())
    connection = _RemoteConnection(context, out)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(connection.hold)
            inbox.ready(Reached(plan, os.urandom(4).hex()))
            async for message in inbox:
                match message:
                    case Write(data):
                        connection.say(data)
                    case GetVitals():
                        inbox.reply(message, _UNSEEN)
                    case EndTool():
                        inbox.reply(message, False)
                    case KillAgent():
                        inbox.reply(message, None)
                    case StderrTail():
                        inbox.reply(message, ())
    finally:
        with inbox.grace():
            await context.actors.tracker.tell(SessionDown(connection.end is not None))
            await context.actors.gatekeeper.tell(QuestionsOver(None))
            how = str(connection.end) if connection.end is not None else "it was stopped"
            await context.actors.turn_queue.tell(SessionLost(how, None, connection.end is not None))


class _RemoteConnection:
    """One connection, from the first message to its end."""

    def __init__(self, context: RemoteContext, out: trio.MemorySendChannel[FromAgent]) -> None:
        self._context, self._out = context, out
        self._to_say, self._said = trio.open_memory_channel[bytes](_UNSENT)
        self.end: AgentError | AvatarStartError | None = None

    def say(self, data: bytes) -> None:
        """Queue whole messages, as lines."""
        try:
            self._to_say.send_nowait(data)
        except trio.WouldBlock:
            raise WireBroken("the connection takes no messages") from None

    async def hold(self) -> None:
        """Carry messages until the connection is gone, and say why."""
        try:
            exchange = await trio.to_thread.run_sync(_load, abandon_on_cancel=True)
        except ImportError as error:
            self.end = AvatarStartError(
                f"a remote agent needs more packages: {error}",
                "pip install 'avatar-actors[remote]'",
            )
            await self._tell_end()
            return
        await exchange.exchange(self._context, self._said, self._out, self._ended)

    async def _ended(self, why: AgentError | AvatarStartError) -> None:
        self.end = why
        await self._tell_end()

    async def _tell_end(self) -> None:
        with suppress(trio.BrokenResourceError):  # the bridge has left: the session is stopped
            await self._out.send(StreamEnded(None, self.end))


def _load() -> ModuleType:
    # In a thread: the SDK's models take half a second.
    return importlib.import_module("avatar_actors.session.remote.exchange")
