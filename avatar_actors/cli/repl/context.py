"""What the commands of the REPL work with: the engine, its turns, what is known of the session."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeVar

from msgspec import Struct

from avatar_actors import (
    Avatar,
    AvatarDown,
    AvatarEngine,
    AvatarEvent,
    BridgeResponse,
    Outcome,
    Permit,
    ProviderCapabilities,
    RuntimeThread,
    TurnEndedEvent,
)
from avatar_actors.cli.agent_choice import AgentChoice
from avatar_actors.cli.repl.conversation import Conversation
from avatar_actors.cli.repl.session_log import SessionLog
from avatar_actors.cli.terminal.approvals import Input
from avatar_actors.cli.terminal.text import plain

# The answer and the events come by two ways; an avatar that gave up may not tell the last one.
_LAST_EVENT: Final = 2.0


class Told(Struct, frozen=True):
    """It is over, and its end was told by an event."""

    outcome: Outcome


class Untold(Struct, frozen=True):
    """It is over, and no event told it: this one would have."""

    ending: TurnEndedEvent

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        return self.ending.outcome


class NotSent(Exception):
    """It was interrupted before the agent had it."""


class Turns:
    """For tasks of one asyncio loop."""

    def __init__(self, engine: AvatarEngine) -> None:
        self._engine = engine
        self._starting: asyncio.Task[None] | None = None
        self._sending: asyncio.Task[BridgeResponse] | None = None
        self._is_unwanted = False
        self._ended: set[int] = set()
        self._news = asyncio.Event()

    def tell(self, event: AvatarEvent) -> None:
        """An event was shown."""
        if isinstance(event, TurnEndedEvent):
            self._ended.add(event.turn_id)
            self._news.set()

    async def start(self) -> None:
        """Start the avatar if it is not up; who stops waiting does not end the start."""
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._engine.start())
        await asyncio.shield(self._starting)

    async def run(self, prompt: str) -> Told | Untold:
        """To its outcome."""
        self._is_unwanted = False
        self._ended.clear()
        self._sending = asyncio.create_task(self._send(prompt))
        try:
            response = await self._sending
        except asyncio.CancelledError:
            if self._is_unwanted:
                raise NotSent from None
            raise
        finally:
            self._sending = None
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_EVENT):
                while response.turn_id not in self._ended:
                    self._news.clear()
                    await self._news.wait()
                return Told(response.outcome)
        return Untold(_ending(response))

    async def interrupt(self) -> bool:
        """End the turn, also one that still waits for the avatar; False if there is none."""
        with suppress(AvatarDown):
            if await self._engine.interrupt():
                return True
        sending = self._sending
        if sending is None:
            return False
        self._is_unwanted = True
        return sending.cancel()

    async def _send(self, prompt: str) -> BridgeResponse:
        # One that gave up is not asked again: another is started.
        await self.start()
        return await self._engine.chat(prompt)


def _ending(response: BridgeResponse) -> TurnEndedEvent:
    return TurnEndedEvent(
        turn_id=response.turn_id,
        outcome=response.outcome,
        text=response.content,
        reason=response.error,
        usage=response.usage,
        session_id=response.session_id,
        tool_calls=response.tool_calls,
    )


T = TypeVar("T")


class ReplContext(Struct, frozen=True, kw_only=True):
    """The avatar, the thread that it runs in, and what is known of the conversation."""

    casting: AgentChoice
    engine: AvatarEngine
    runtime: RuntimeThread
    conversation: Conversation
    minutes: SessionLog
    turns: Turns

    async def ask(self, work: Callable[[Avatar], Awaitable[T]]) -> T:
        """Whatever an Avatar can do; one that gave up is replaced first."""
        await self.turns.start()
        return await self.engine.run(work)


class EngineAnswers:
    """An engine's avatar, as approvals know one."""

    def __init__(self, engine: AvatarEngine) -> None:
        self._engine = engine

    async def capabilities(self) -> ProviderCapabilities:
        """What the agent can do."""
        return await self._engine.run(Avatar.capabilities)

    async def answer(
        self, request_id: str, permit: Permit, *, updated_input: Input | None = None
    ) -> None:
        """As Avatar's."""
        await self._engine.run(
            lambda avatar: avatar.answer(request_id, permit, updated_input=updated_input)
        )


def one_line(text: str) -> str:
    """Foreign words for a line of ours: no escape codes, no controls, no line breaks."""
    return " ".join(plain(text).split())
