"""One prompt at a time to the engine, from its start to the last event of its turn."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

from msgspec import Struct

from avatar_actors import (
    AvatarDown,
    AvatarEngine,
    AvatarEvent,
    BridgeResponse,
    Outcome,
    TurnEndedEvent,
)

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
