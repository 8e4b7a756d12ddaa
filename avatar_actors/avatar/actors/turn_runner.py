"""Runs one turn: waits for the limits and a session, prompts the agent, retries by the policy."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import trio
from msgspec.structs import replace

from avatar_actors.avatar import messages
from avatar_actors.avatar.actors.turn_limits import TurnLimits
from avatar_actors.avatar.state.submission import prompt_text, retry_of
from avatar_actors.avatar.structured_output import StructuredAnswer, answer_in, fitting
from avatar_actors.model.settings import AvatarSettings
from avatar_actors.model.values import JsonObject, Outcome
from avatar_actors.session import messages as session_messages
from avatar_actors.session.messages import TurnEnding
from supervisors import Address, AskFailed

R = TypeVar("R")

_TOO_LONG = "the answer does not fit the schema: it is longer than max_answer"


class TurnRunner:
    """The turn that runs now. `session` waits for a session and returns it."""

    def __init__(
        self,
        submission: messages.Submission,
        settings: AvatarSettings,
        tracker: Address[messages.TrackerMessage],
        limits: TurnLimits,
        session: Callable[[], Awaitable[session_messages.SessionReady]],
    ) -> None:
        self.submission = submission
        self.steered: tuple[messages.Submission, ...] = ()
        self.was_tried = False
        self.talks_with: session_messages.SessionReady | None = None
        self.session_id = ""
        self.is_ended = False
        self._settings = settings
        self._tracker, self._limits, self._session = tracker, limits, session
        # Cancelled by an interrupt that comes while the agent has no prompt.
        self._before = trio.CancelScope()
        self._requested: TurnEnding | None = None
        self._bridge: Address[session_messages.BridgeMessage] | None = None
        self._is_given = trio.Event()

    @property
    def turn_id(self) -> int:
        """The number of the turn."""
        return self.submission.turn_id

    async def interrupt(self, requested: TurnEnding) -> None:
        """End the turn: at once before the agent has it, else by the agent's protocol."""
        self._requested = self._requested or requested
        if self._bridge is None:
            self._before.cancel()
        else:
            cancel = session_messages.CancelTurn(self.turn_id, requested.outcome, requested.reason)
            await self._bridge.tell(cancel)

    async def steer(self, submission: messages.Submission) -> bool:
        """Send this into the running turn, if the agent has it; both end together."""
        if self._bridge is None or submission.schema is not None:
            return False
        self.steered += (submission,)
        await self._bridge.tell(session_messages.SteerTurn(self.turn_id, prompt_text(submission)))
        return True

    async def run(self) -> TurnEnding:
        """Run it to its ending, which is not published yet."""
        submission = self.submission
        begin = messages.BeginTurn(self.turn_id, submission.text, submission.trace_parent)
        await self._tracker.tell(begin)
        if math.isinf(self.submission.timeout):
            return await self._checked(await self._try_all())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._time_out)
            ending = await self._try_all()
            nursery.cancel_scope.cancel()
        return await self._checked(ending)

    async def _try_all(self) -> TurnEnding:
        """Try once, or again by the policy if the model's API refused the prompt for now."""
        attempt = 1
        while True:
            ending = await self._try()
            retry = retry_of(self._settings.retry, attempt, ending)
            if retry is None or self._requested is not None:
                return ending
            again = messages.TryAgain(self.turn_id, ending, retry)
            if not await self._tracker.ask(again):
                return ending
            await self._unless_interrupted(partial(trio.sleep, retry.delay))
            attempt += 1

    async def _try(self) -> TurnEnding:
        ready = await self._unless_interrupted(self._admit)
        while isinstance(ready, session_messages.SessionReady):
            ending = await self._talk(ready)
            if ending is not None:
                return ending
            ready = await self._unless_interrupted(self._session)
        return ready or self._requested or TurnEnding(outcome=Outcome.CANCELLED)

    async def _admit(self) -> TurnEnding | session_messages.SessionReady:
        """Wait for the limits and a session; the turn's ending if a limit refuses it."""
        return await self._limits.admit(self.turn_id) or await self._session()

    async def _unless_interrupted(self, work: Callable[[], Awaitable[R]]) -> R | None:
        with trio.CancelScope() as self._before:
            if self._requested is None:
                return await work()
        return None

    async def _talk(self, ready: session_messages.SessionReady) -> TurnEnding | None:
        if self._requested is not None:
            return self._requested
        # An agent with a way of its own got output_schema at its start.
        has_schema = (
            ready.capabilities.structured_output == "native"
            and self._settings.output_schema is not None
        )
        if has_schema and self.submission.schema is not None:
            conflict = "this agent answers by output_schema; a prompt cannot have another schema"
            return TurnEnding(outcome=Outcome.REJECTED, reason=conflict)
        self.talks_with, self._bridge = ready, ready.bridge
        self.session_id = ready.session_id
        self.was_tried = True
        self._is_given.set()
        ending = await self._await_ending(ready.bridge, None if has_schema else self._schema)
        self._bridge = None
        self._limits.count(self.turn_id, ending.spent if ending is not None else None)
        return ending

    async def _await_ending(
        self, bridge: Address[session_messages.BridgeMessage], schema: JsonObject | None
    ) -> TurnEnding | None:
        """The ending, or None: the prompt was not sent, so the next session may have it."""
        submission = self.submission
        text = prompt_text(submission, schema)
        try:
            return await bridge.ask(
                session_messages.RunTurn(
                    self.turn_id, text, submission.attachments, submission.raw_events
                )
            )
        except AskFailed as error:
            was_sent = await self._tracker.ask(messages.WasSent(self.turn_id))
            if self._requested is not None or not was_sent:
                return self._requested
            return TurnEnding(outcome=Outcome.CRASHED, reason=str(error))

    @property
    def _schema(self) -> JsonObject | None:
        own = self.submission.schema
        return self._settings.output_schema if own is None else own

    async def _checked(self, ending: TurnEnding) -> TurnEnding:
        """A completed turn whose answer is not what the schema asks for has failed."""
        schema = self._schema
        if schema is None or ending.outcome is not Outcome.COMPLETED:
            return ending
        if ending.data is None:
            said = await self._tracker.ask(messages.TurnText(self.turn_id))
            answer = (
                StructuredAnswer(fault=_TOO_LONG)
                if said.is_cut
                else await answer_in(said.text, schema)
            )
        else:
            answer = await fitting(ending.data, schema)
        if answer.fault:
            return replace(ending, outcome=Outcome.FAILED, reason=answer.fault, data=None)
        return replace(ending, data=answer.data)

    async def _time_out(self) -> None:
        await self._is_given.wait()
        await trio.sleep(self.submission.timeout)
        late = f"no end within {self.submission.timeout:g} s"
        if waiting := await self._tracker.ask(messages.ListQuestions()):
            late = f"{late}; nobody answered {' and '.join(waiting)}"
        await self.interrupt(TurnEnding(outcome=Outcome.TIMED_OUT, reason=late))
