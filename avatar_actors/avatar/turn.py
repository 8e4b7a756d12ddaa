"""A turn as its caller sees it: a prompt, a stream of events, an outcome."""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType

import trio

from avatar_actors.avatar import messages
from avatar_actors.avatar.actor_client import ActorClient, reason_of
from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.model.errors import AvatarDown
from avatar_actors.model.events import AvatarEvent, BridgeResponse, TurnEndedEvent, response_of
from avatar_actors.model.values import Outcome, Usage
from supervisors import AskFailed, MailboxFull

# On top of the interrupt's grace, what an abandoned turn's end may take: kill, and the news of it.
_SLACK = 10.0


class Turn:
    """`async with avatar.turn("…") as turn: async for event in turn: …`

    After the loop `turn.outcome` is set. Leaving the block early, or being cancelled in it,
    interrupts the turn and waits for its outcome.
    """

    def __init__(
        self,
        client: ActorClient,
        submission: messages.Submission,
        stream: EventStream,
        interrupt_grace: float,
    ) -> None:
        self.turn_id: int = submission.turn_id
        self.ended: TurnEndedEvent | None = None
        self._monitor, self._actors = client.monitor, client.actors
        self._submission, self._stream = submission, stream
        self._interrupt_grace = interrupt_grace

    @property
    def outcome(self) -> Outcome | None:
        """How it ended; None while it runs."""
        return self.ended.outcome if self.ended is not None else None

    @property
    def text(self) -> str:
        """The answer, once it has ended; `is_cut` tells whether it is whole."""
        return self.ended.text if self.ended is not None else ""

    @property
    def is_cut(self) -> bool:
        """Whether there was more text than `max_answer`, so that `text` is only its beginning."""
        return self.ended is not None and self.ended.is_cut

    @property
    def reason(self) -> str:
        """The reason for its outcome, if there is one to give."""
        return self.ended.reason if self.ended is not None else ""

    @property
    def usage(self) -> Usage:
        """What it used, once it has ended."""
        return self.ended.usage if self.ended is not None else Usage()

    @property
    def cost(self) -> float | None:
        """Its cost in USD, if known; `usage.cost_source` tells where the figure comes from."""
        return self.usage.cost_usd

    def response(self) -> BridgeResponse:
        """The whole answer as one value; only once it has ended."""
        if self.ended is None:
            raise RuntimeError("the turn still runs: read its events, or wait()")
        return response_of(self.ended)

    async def wait(self) -> BridgeResponse:
        """Read to the end and return the whole answer."""
        async for _ in self:
            pass
        return self.response()

    async def interrupt(self) -> bool:
        """Ask the agent to end it; False if it has ended already."""
        try:
            return await self._actors.turn_queue.ask(messages.Interrupt(self.turn_id))
        except AskFailed:
            return False

    async def __aenter__(self) -> Turn:
        try:
            await self._actors.turn_queue.ask(messages.Submit(self._submission, self._stream))
        except AskFailed as error:
            reason = reason_of(await self._monitor.down()) or "it was stopped"
            raise AvatarDown(f"the avatar has ended: {reason}") from error
        except BaseException:
            self._leave()
            # The prompt may be in the queue already.
            with suppress(MailboxFull):
                self._actors.turn_queue.tell_nowait(messages.Interrupt(self.turn_id))
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.ended is None:
            limit = self._interrupt_grace + _SLACK
            with trio.CancelScope(shield=True, deadline=trio.current_time() + limit):
                await self.interrupt()
                await self.wait()
        self._leave()

    def _leave(self) -> None:
        # A tracker without room for this finds out by itself: the stream is closed.
        self._stream.close()
        with suppress(MailboxFull):
            self._actors.tracker.tell_nowait(messages.Unsubscribe(self._stream))

    def __aiter__(self) -> Turn:
        return self

    async def __anext__(self) -> AvatarEvent:
        if self.ended is not None:
            raise StopAsyncIteration
        try:
            event = await self._stream.__anext__()
        except StopAsyncIteration:
            event = await self._ending_of_the_avatar()
        if type(event) is TurnEndedEvent:
            self.ended = event
        return event

    async def take(self) -> list[AvatarEvent]:
        """All events that have arrived, once there is one; an empty list after the end."""
        if self.ended is not None:
            return []
        events = await self._stream.take() or [await self._ending_of_the_avatar()]
        last = events[-1]
        if type(last) is TurnEndedEvent:
            self.ended = last
        return events

    async def _ending_of_the_avatar(self) -> TurnEndedEvent:
        reason = reason_of(await self._monitor.down())
        outcome = Outcome.CRASHED if reason else Outcome.CANCELLED
        words = f"the avatar has ended: {reason}" if reason else "the avatar was stopped"
        return TurnEndedEvent(turn_id=self.turn_id, outcome=outcome, reason=words)
