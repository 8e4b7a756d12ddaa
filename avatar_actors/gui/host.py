"""One avatar of the app: its engine, the events that wait for the next beat, and its calls.

Knows no widget. Events are handed over by a dispatcher that is the heartbeat itself: until then the
engine keeps them, and merges text.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import msgspec

from avatar_actors import (
    Avatar,
    AvatarDown,
    AvatarEngine,
    AvatarError,
    AvatarEvent,
    BridgeResponse,
    CancelResult,
    Escalation,
    RuntimeThread,
    SessionTranscript,
    StoredSession,
    Timeouts,
    TurnEndedEvent,
    UnknownRequest,
    WhileBusy,
    list_sessions,
    read_session,
)
from avatar_actors.cli.agent_choice import AgentChoice, choose_agent
from avatar_actors.cli.options import CommandOptions


class AvatarHost:
    """An engine for one tab; for the tasks of one asyncio loop."""

    def __init__(
        self,
        choice: AgentChoice,
        runtime: RuntimeThread,
        name: str,
        hear: Callable[[AvatarEvent], None],
    ) -> None:
        self.choice = choice
        self.name = name
        self.runtime = runtime
        self._hear = hear
        self._handovers: deque[Callable[[], None]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._sending: set[asyncio.Task[BridgeResponse]] = set()
        self._ended: set[int] = set()
        options = choice.options.copy()
        # A person sees that it takes long and can press Escape: no limit unless one is set.
        options.setdefault("timeouts", Timeouts())
        self.engine = AvatarEngine(choice.provider, name=name, runtime=runtime, **options)
        self.engine.on_any(self._told, dispatcher=self._handovers.append)

    # Events.

    def deliver(self) -> None:
        """For the heartbeat: hear what happened since the last one."""
        for _ in range(len(self._handovers)):
            self._handovers.popleft()()

    def _told(self, event: AvatarEvent) -> None:
        if isinstance(event, TurnEndedEvent):
            self._ended.add(event.turn_id)
        self._hear(event)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Do this in the background; it must handle its own errors."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # Life.

    async def start(self) -> None:
        """Start the agent; AvatarError says why it cannot."""
        await self.engine.start()

    async def stop(self) -> None:
        """End everything; a closed screen hears no more."""
        self.engine.clear_handlers()
        await self.engine.stop()
        for task in (*self._tasks, *self._sending):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._sending, return_exceptions=True)

    async def switch(self, wanted: CommandOptions, provider: str) -> None:
        """Another agent in this tab, with the same options."""
        again = msgspec.structs.replace(
            wanted, provider=provider, model="", resume="", fork="", continue_last=False
        )
        choice = choose_agent(again)
        options = choice.options.copy()
        options.setdefault("timeouts", Timeouts())
        await self.engine.switch_provider(choice.provider, **options)
        self.choice = choice

    # Turns.

    async def send(self, prompt: str, while_busy: WhileBusy = WhileBusy.QUEUE) -> str:
        """Send a prompt and wait for its end; an error in words, or nothing."""
        task = asyncio.create_task(self.engine.chat(prompt, while_busy=while_busy))
        self._sending.add(task)
        try:
            response = await task
        except asyncio.CancelledError:
            return "" if task.cancelled() else "interrupted"
        except AvatarError as error:
            return str(error)
        finally:
            self._sending.discard(task)
        await self._see_the_end(response)
        return ""

    async def _see_the_end(self, response: BridgeResponse) -> None:
        """An avatar that gave up sends no last event: make it from the response."""
        for _ in range(20):
            if response.turn_id in self._ended:
                return
            await asyncio.sleep(0.1)
        self._told(
            TurnEndedEvent(
                turn_id=response.turn_id,
                outcome=response.outcome,
                text=response.content,
                reason=response.error,
                usage=response.usage,
            )
        )

    @property
    def is_sending(self) -> bool:
        """Whether a prompt has no outcome yet."""
        return bool(self._sending)

    async def interrupt(self) -> None:
        """End the turn, also one that waits for the agent to start."""
        with suppress(AvatarDown):
            if await self.engine.interrupt():
                return
        for task in self._sending:
            task.cancel()

    async def cancel(self, job_id: str, escalation: Escalation) -> CancelResult:
        """Stop one job."""
        try:
            return await self.engine.run(lambda avatar: avatar.cancel_activity(job_id, escalation))
        except (UnknownRequest, AvatarDown):
            return CancelResult.ALREADY_DONE

    # Sessions.

    async def sessions(self) -> tuple[StoredSession, ...]:
        """The stored sessions of the working directory, the last used first."""
        return await self.engine.run(Avatar.sessions)

    async def resume(self, session: StoredSession) -> SessionTranscript:
        """Continue a stored session; what was said in it."""
        await self.engine.run(lambda avatar: avatar.resume(session.session_id))
        return await asyncio.to_thread(self._read, session)

    def _read(self, session: StoredSession) -> SessionTranscript:
        stored = [session] if session.file else self._stored(session)
        return read_session(self.choice.provider, (stored or [session])[0])

    def _stored(self, session: StoredSession) -> list[StoredSession]:
        folder = self.choice.options.get("working_dir", "")
        listing = list_sessions(self.choice.provider, folder)
        return [each for each in listing.sessions if each.session_id == session.session_id]
