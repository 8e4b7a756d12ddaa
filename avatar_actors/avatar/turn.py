"""A turn as its caller sees it: a prompt, a stream of events, an outcome."""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType

import msgspec
import trio
from msgspec import Struct

from avatar_actors.avatar import messages
from avatar_actors.avatar.control import reason_of
from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.messages import Submission
from avatar_actors.avatar.structured_output import check_schema, instruction
from avatar_actors.model.errors import AvatarDown, SettingsError
from avatar_actors.model.events import AvatarEvent, BridgeResponse, TurnEndedEvent, response_of
from avatar_actors.model.settings import AvatarSettings, PromptOptions
from avatar_actors.model.values import JsonObject, Outcome, Usage
from supervisors import Address, AskFailed, MailboxFull, Monitor

# On top of the interrupt's grace, what an abandoned turn's end may take: kill, and the news of it.
_SLACK = 10.0


class TurnContext(Struct, frozen=True):
    """Where a turn is handed in, heard of and ended."""

    hub: Address[messages.HubMessage]
    turn_queue: Address[messages.TurnMessage]
    monitor: Monitor
    interrupt_grace: float


class Turn:
    """`async with avatar.turn("…") as turn: async for event in turn: …`

    After the loop `turn.outcome` is set. Leaving the block early, or being cancelled in it,
    interrupts the turn and waits for its outcome.
    """

    def __init__(
        self, desk: TurnContext, submission: messages.Submission, stream: EventStream
    ) -> None:
        self.turn_id: int = submission.turn_id
        self.ended: TurnEndedEvent | None = None
        self._desk = desk
        self._submission = submission
        self._stream = stream

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
        """Why it ended so, where there is something to say."""
        return self.ended.reason if self.ended is not None else ""

    @property
    def usage(self) -> Usage:
        """What it used, once it has ended."""
        return self.ended.usage if self.ended is not None else Usage()

    @property
    def cost(self) -> float | None:
        """What it cost in USD, if anybody can say it; `usage.cost_source` says who."""
        return self.usage.cost_usd

    def response(self) -> BridgeResponse:
        """The whole answer as one value; only once it has ended."""
        if self.ended is None:
            raise RuntimeError("the turn still runs: read its events, or wait()")
        return response_of(self.ended)

    async def wait(self) -> BridgeResponse:
        """Read on to the end, and give the whole answer."""
        async for _ in self:
            pass
        return self.response()

    async def interrupt(self) -> bool:
        """Ask the agent to end it; False if it has ended already."""
        try:
            return await self._desk.turn_queue.ask(messages.Interrupt(self.turn_id))
        except AskFailed:
            return False

    async def __aenter__(self) -> Turn:
        try:
            await self._desk.hub.ask(messages.Subscribe(self._stream))
            await self._desk.turn_queue.tell(messages.Submit(self._submission))
        except AskFailed as error:
            reason = reason_of(await self._desk.monitor.down()) or "it was stopped"
            raise AvatarDown(f"the avatar has ended: {reason}") from error
        except BaseException:
            self._leave()
            # The prompt may be in the queue already.
            with suppress(MailboxFull):
                self._desk.turn_queue.tell_nowait(messages.Interrupt(self.turn_id))
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        limit = self._desk.interrupt_grace + _SLACK
        with trio.CancelScope(shield=True, deadline=trio.current_time() + limit):
            if self.ended is None:
                await self.interrupt()
                await self.wait()
        self._leave()

    def _leave(self) -> None:
        # A hub without room for this is about to find out by itself: the stream is closed.
        self._stream.close()
        with suppress(MailboxFull):
            self._desk.hub.tell_nowait(messages.Unsubscribe(self._stream))

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
        """All events that are here, once there is one; none after the end."""
        if self.ended is not None:
            return []
        events = await self._stream.take() or [await self._ending_of_the_avatar()]
        last = events[-1]
        if type(last) is TurnEndedEvent:
            self.ended = last
        return events

    async def _ending_of_the_avatar(self) -> TurnEndedEvent:
        reason = reason_of(await self._desk.monitor.down())
        outcome = Outcome.CRASHED if reason else Outcome.CANCELLED
        words = f"the avatar has ended: {reason}" if reason else "the avatar was stopped"
        return TurnEndedEvent(turn_id=self.turn_id, outcome=outcome, reason=words)


def submission_of(
    turn_id: int, prompt: str, options: PromptOptions, settings: AvatarSettings
) -> Submission:
    """The prompt with its options, checked; where it has none, the avatar's settings hold."""
    unknown = set(options) - set(PromptOptions.__annotations__)
    if unknown:
        known = ", ".join(sorted(PromptOptions.__annotations__))
        raise SettingsError(f"a prompt has no option {min(unknown)!r}; there are: {known}")
    limit = options.get("timeout")
    limit = settings.timeouts.turn if limit is None else limit
    if not limit > 0:
        raise SettingsError(f"timeout must be a number of seconds above 0; got {limit!r}")
    schema, context = options.get("schema"), options.get("context", {})
    if schema is not None:
        check_schema(schema)
    _as_json(context)
    return Submission(
        turn_id=turn_id,
        text=prompt,
        attachments=tuple(options.get("attachments", ())),
        context=context,
        schema=schema,
        while_busy=options.get("while_busy") or settings.while_busy,
        timeout=limit,
    )


def prompt_text(submission: Submission, schema: JsonObject | None = None) -> str:
    """What is sent: the context in a marked block, the prompt, and how the answer shall look."""
    parts = [submission.text]
    if submission.context:
        parts.insert(0, f"<context>\n{_as_json(submission.context)}\n</context>")
    if schema is not None:
        parts.append(instruction(schema))
    return "\n\n".join(parts)


def _as_json(context: JsonObject) -> str:
    try:
        # "</" as JSON may also write it: nothing in the context can end its block.
        return msgspec.json.encode(context).decode().replace("</", "<\\/")
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        # ValueError: half a surrogate pair, which UTF-8 cannot carry, or an endless number.
        raise SettingsError(f"the context of a prompt must be JSON: {error}") from error
