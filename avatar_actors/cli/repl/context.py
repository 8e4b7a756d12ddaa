"""What the REPL's commands work with: the engine, its turns, and the log of the session."""

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
    RuntimeThread,
    TurnEndedEvent,
)
from avatar_actors.cli.agent_choice import AgentChoice
from avatar_actors.cli.repl.conversation import Conversation
from avatar_actors.cli.repl.session_log import SessionLog

# How long to wait for a turn's last event after its response; an avatar that gave up sends none.
_LAST_EVENT: Final = 2.0


class NotSent(Exception):
    """The prompt was interrupted before the agent got it."""


class Turns:
    """Runs the turns of an engine, for the tasks of one asyncio loop."""

    def __init__(self, engine: AvatarEngine) -> None:
        self._engine = engine
        self._starting: asyncio.Task[None] | None = None
        self._sending: asyncio.Task[BridgeResponse] | None = None
        self._is_unwanted = False
        self._ended: set[int] = set()
        self._news = asyncio.Event()

    def tell(self, event: AvatarEvent) -> None:
        """An event has been shown."""
        if isinstance(event, TurnEndedEvent):
            self._ended.add(event.turn_id)
            self._news.set()

    async def start(self) -> None:
        """Start the avatar if needed; cancelling the wait does not cancel the start."""
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._engine.start())
        await asyncio.shield(self._starting)

    async def run(self, prompt: str) -> tuple[Outcome, TurnEndedEvent | None]:
        """Send the prompt; its outcome, and its last event if the avatar did not send one."""
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
                return response.outcome, None
        return response.outcome, _end_event(response)

    async def interrupt(self) -> bool:
        """End the turn, even one that waits for the avatar to start; False if there is none."""
        with suppress(AvatarDown):
            if await self._engine.interrupt():
                return True
        sending = self._sending
        if sending is None:
            return False
        self._is_unwanted = True
        return sending.cancel()

    async def _send(self, prompt: str) -> BridgeResponse:
        # An avatar that gave up is replaced by a new one.
        await self.start()
        return await self._engine.chat(prompt)


def _end_event(response: BridgeResponse) -> TurnEndedEvent:
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
    """The avatar, the thread it runs in, and what is known of the conversation."""

    choice: AgentChoice
    engine: AvatarEngine
    runtime: RuntimeThread
    conversation: Conversation
    log: SessionLog
    turns: Turns

    @classmethod
    def of(cls, choice: AgentChoice, engine: AvatarEngine, runtime: RuntimeThread) -> ReplContext:
        """A new conversation."""
        options = choice.options
        return cls(
            choice=choice,
            engine=engine,
            runtime=runtime,
            conversation=Conversation(),
            log=SessionLog(options.get("model", ""), options.get("mode", "")),
            turns=Turns(engine),
        )

    async def ask(self, work: Callable[[Avatar], Awaitable[T]]) -> T:
        """Call the avatar; one that gave up is replaced first."""
        await self.turns.start()
        return await self.engine.run(work)
