"""The turn queue: runs prompts one at a time; keeps history, budget and session record."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

import trio

from avatar_actors.avatar import messages
from avatar_actors.avatar.actors.turn_limits import TurnLimits
from avatar_actors.avatar.actors.turn_runner import TurnRunner
from avatar_actors.avatar.actors.unasked_turn import UnaskedTurns
from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.messages import ModelChosen, ResumeThis
from avatar_actors.avatar.state.session_state import History, SessionRecord
from avatar_actors.model.errors import AgentNeedsLogin
from avatar_actors.model.events import AvatarEvent, ErrorEvent, QueueEvent
from avatar_actors.model.settings import AvatarSettings, WhileBusy
from avatar_actors.model.values import HealthStatus, Outcome
from avatar_actors.session import messages as session_messages
from avatar_actors.session.messages import (
    QuestionsOver,
    ResumeImpossible,
    TurnEnding,
    UnaskedTurnEnded,
    UnaskedTurnStarted,
    WhatToResume,
)
from avatar_actors.wire.commands import Beginning
from supervisors import Address, AskFailed, Inbox, Phase

# Seconds that the end of a turn waits for the news that its session has died: that is told first.
_DEATH_IS_TOLD = 0.25


async def turn_queue(
    inbox: Inbox[messages.TurnMessage],
    settings: AvatarSettings,
    *,
    tracker: Address[messages.TrackerMessage],
    gatekeeper: Address[session_messages.GatekeeperMessage],
    runtime_budget: Address[messages.RuntimeBudgetMessage],
    limiter: Address[messages.LimiterMessage] | None,
    provider: str,
) -> None:
    """One task takes messages, one runs the turns; the state of both is this actor's own."""
    limits = TurnLimits(settings.budget, inbox.address, tracker, runtime_budget, limiter)
    await limits.open_account()
    queue = _Queue(provider, settings, tracker, gatekeeper, limits)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(queue.run_turns)
            async for message in inbox:
                await _obey(queue, message, inbox)
    finally:
        with inbox.grace():
            await queue.abandon()
            await limits.close_account()


async def _obey(
    queue: _Queue, message: messages.TurnMessage, inbox: Inbox[messages.TurnMessage]
) -> None:
    match message:
        case messages.Submit(submission, stream):
            inbox.reply(message, None)
            await queue.submit(submission, stream)
        case messages.Interrupt(turn_id, outcome, reason):
            requested = TurnEnding(outcome=outcome, reason=reason)
            inbox.reply(message, await queue.interrupt(turn_id, requested))
        case messages.CloseDown(reason):
            await queue.close_down(reason)
            inbox.reply(message, None)
        case UnaskedTurnStarted():
            inbox.reply(message, await queue.begin_unasked(message))
        case WhatToResume():
            inbox.reply(message, queue.record.plan())
        case messages.GetHealth():
            inbox.reply(message, queue.health())
        case messages.CurrentSession():
            inbox.reply(message, queue.record.ready)
        case ResumeThis():
            queue.record.switch_to(message)
            requested = TurnEnding(outcome=Outcome.CANCELLED, reason="another session is taken up")
            await queue.interrupt(0, requested)
            inbox.reply(message, None)
        case messages.RaiseBudget(budget):
            queue.limits.ledger.raise_to(budget)
            inbox.reply(message, None)
        case messages.GetHistory():
            await queue.settled()
            inbox.reply(message, queue.history.messages())
        case messages.ClearHistory():
            await queue.settled()
            queue.history.clear()
            inbox.reply(message, None)
        case _:
            await queue.take(message)


class _News:
    """Wakes those who wait for something to become so."""

    def __init__(self) -> None:
        self._event = trio.Event()

    async def until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            await self._event.wait()

    def come(self) -> None:
        self._event.set()
        self._event = trio.Event()


class _Queue:
    def __init__(
        self,
        provider: str,
        settings: AvatarSettings,
        tracker: Address[messages.TrackerMessage],
        gatekeeper: Address[session_messages.GatekeeperMessage],
        limits: TurnLimits,
    ) -> None:
        self.history = History(settings.max_history, settings.max_history_bytes)
        begins = Beginning.LAST if settings.continue_last else Beginning.AS_NAMED
        begins = Beginning.FORK if settings.fork else begins
        self.record = SessionRecord(settings.fork or settings.resume, begins)
        self.limits = limits
        self._unasked = UnaskedTurns(self.history, limits, tracker, gatekeeper)
        self._provider = provider
        self._settings, self._tracker, self._gatekeeper = settings, tracker, gatekeeper
        self._waiting: deque[messages.Submission] = deque()
        # Of the turns without an end, by their numbers.
        self._streams: dict[int, EventStream] = {}
        self._present: TurnRunner | None = None
        self._closed = ""
        self._turns = 0
        self._told_waiting = 0
        self._began = trio.current_time()
        self._news = _News()

    async def take(self, message: messages.TurnNews) -> None:
        """Handle a message that has no answer."""
        match message:
            case session_messages.SessionStarting():
                await self._tell(self.record.starting())
            case session_messages.SessionReady():
                await self._tell(self.record.opened(message))
                self._news.come()
            case session_messages.SessionLost(why, has_died=has_died):
                await self._unasked.lost(why, has_died=has_died)
                await self._tell(self.record.lost(message))
                self._news.come()
            case UnaskedTurnEnded(turn_id, ending):
                await self._end_unasked(turn_id, ending)
            case session_messages.SessionIs(session_id):
                self.record.session_id = session_id
            case session_messages.LoginRefused(words, advice):
                self._give_up(AgentNeedsLogin(words, advice))
            case ResumeImpossible(why):
                self.record.cannot_resume(why)
            case ModelChosen():
                self.record.choose(message)
            case session_messages.Spent(turn_id):
                overrun = await self.limits.spent(message)
                if overrun:
                    requested = TurnEnding(outcome=Outcome.OVER_BUDGET, reason=overrun)
                    await self.interrupt(turn_id, requested)
            case messages.RuntimeLimited(is_limited):
                await self.limits.set_runtime_limited(is_limited)

    def _give_up(self, refused: AgentNeedsLogin) -> None:
        """Trying again does not help. A failed first start is reported to its caller instead."""
        if self.record.has_been_open:
            self.record.last_words = f"the avatar has ended: {refused}"
            raise refused

    async def interrupt(self, turn_id: int, requested: TurnEnding) -> bool:
        """End a turn, wherever it stands; False if it has ended already."""
        present = self._present
        if present is not None and not present.is_ended:
            if turn_id in {0, present.turn_id}:
                await present.interrupt(requested)
                return True
            for submission in present.steered:
                if submission.turn_id == turn_id:
                    present.steered = tuple(x for x in present.steered if x is not submission)
                    await self._dismiss(submission, requested)
                    return True
        for submission in self._waiting:
            if submission.turn_id == turn_id:
                self._waiting.remove(submission)
                await self._tell_waiting()
                await self._dismiss(submission, requested)
                return True
        return await self._unasked.interrupt(turn_id, requested)

    async def settled(self) -> None:
        """A turn whose end is told already is in the history."""
        await self._news.until(lambda: self._present is None or not self._present.is_ended)

    async def begin_unasked(self, started: UnaskedTurnStarted) -> int:
        """The agent began a turn by itself; returns its number."""
        await self._tell(self.record.spoken())
        return await self._unasked.begin(started)

    async def _end_unasked(self, turn_id: int, ending: TurnEnding) -> None:
        if await self._unasked.end(turn_id, ending, self.record.session_id):
            self._turns += 1
        if self._present is None:
            await self._tell(self.record.silent())
        self._news.come()

    async def close_down(self, reason: str) -> None:
        """Take no more prompts; end those that wait and the one that runs."""
        self._closed = reason
        requested = TurnEnding(outcome=Outcome.CANCELLED, reason=reason)
        while self._waiting:
            await self._dismiss(self._waiting.popleft(), requested)
        await self._tell_waiting()
        await self.interrupt(0, requested)

    async def abandon(self) -> None:
        """This actor ends, and with it the avatar: every turn still gets its outcome."""
        outcome = Outcome.CANCELLED if self._closed else Outcome.CRASHED
        ending = TurnEnding(outcome=outcome, reason=self._closed or self.record.last_words)
        if not self._closed:
            await self._tell([ErrorEvent(error=ending.reason, recoverable=False)])
        present = self._present
        if present is not None and not present.is_ended:
            self._waiting.extendleft([*reversed(present.steered), present.submission])
        try:
            with suppress(AskFailed):
                await self._unasked.lost(ending.reason, has_died=not self._closed)
                for submission in self._waiting:
                    await self._dismiss(submission, ending)
        finally:
            # Without a tracker nobody else would.
            for stream in self._streams.values():
                stream.close()

    def health(self) -> HealthStatus:
        """The avatar's current health."""
        record = self.record
        return HealthStatus(
            state=record.state,
            provider=self._provider,
            session_id=record.session_id,
            continuity=record.continuity,
            continuity_why=record.continuity_why,
            pid=record.ready.pid if record.ready is not None else None,
            returncode=record.returncode,
            uptime_seconds=trio.current_time() - self._began,
            restarts=record.restarts,
            turns=self._turns,
            waiting=len(self._waiting),
            history_length=len(self.history),
            total=self.limits.ledger.total(),
        )

    async def run_turns(self) -> None:
        """Run the waiting prompts one after the other, for ever."""
        while True:
            # One that is being interrupted for this prompt must not take it along.
            await self._news.until(lambda: bool(self._waiting) and not self._unasked.is_ending)
            submission = self._waiting.popleft()
            present = TurnRunner(
                submission, self._settings, self._tracker, self.limits, self._session
            )
            self._present = present
            await self._tell_waiting()
            await self._finish(present, await present.run())
            self._present = None
            self._news.come()

    async def submit(self, submission: messages.Submission, stream: EventStream) -> None:
        """Run the prompt now or later, or refuse it; `stream` hears of it in any case."""
        self._streams[submission.turn_id] = stream
        await self._tracker.tell(messages.Subscribe(stream))
        await self._place(submission)

    async def _place(self, submission: messages.Submission) -> None:
        how, present = submission.while_busy, self._present
        is_busy = present is not None or bool(self._waiting)
        # What is meant for the running turn is not meant for one that nobody asked for.
        is_busy = is_busy or (self._unasked.is_running and how is not WhileBusy.STEER)
        refusal = self._closed
        if refusal or not is_busy or how is WhileBusy.QUEUE:
            pass
        elif how is WhileBusy.REJECT:
            refusal = "another turn is running"
        elif how is WhileBusy.INTERRUPT:
            self._waiting.appendleft(submission)
            requested = TurnEnding(outcome=Outcome.CANCELLED, reason="interrupted by a new prompt")
            await self.interrupt(0, requested)
            self._news.come()
            return
        elif self.record.can_steer and present is not None and await present.steer(submission):
            return
        else:
            refusal = "this agent takes nothing into the running turn"
            if self.record.can_steer and submission.schema is not None:
                refusal = "what is said into a running turn cannot have a schema of its own"
        if refusal:
            await self._dismiss(submission, TurnEnding(outcome=Outcome.REJECTED, reason=refusal))
        else:
            self._waiting.append(submission)
            self._news.come()
            if is_busy:
                await self._tell_waiting()

    async def _session(self) -> session_messages.SessionReady:
        await self._news.until(self._has_session)
        ready = self.record.ready
        assert ready is not None
        await self._tell(self.record.spoken())
        return ready

    def _has_session(self) -> bool:
        # News of its death may still be on the way.
        ready = self.record.ready
        return ready is not None and ready.bridge.phase is Phase.RUNNING

    async def _finish(self, present: TurnRunner, ending: TurnEnding) -> None:
        submission = present.submission
        self._turns += 1
        if ending.has_asked:
            await self._gatekeeper.ask(QuestionsOver(submission.turn_id))
        await self.limits.settle(submission.turn_id, ending.outcome)
        if ending.outcome is Outcome.CRASHED:
            with trio.move_on_after(_DEATH_IS_TOLD):
                await self._news.until(lambda: self.record.ready is not present.talks_with)
        present.is_ended = True
        session_id = ending.session_id or present.session_id or self.record.session_id
        # After any other end, news of the session's death may be on the way.
        is_idle = ending.outcome is Outcome.COMPLETED and not self._unasked.is_running
        then = self.record.silent() if is_idle and self._has_session() else ()
        end = messages.EndTurn(submission.turn_id, ending, session_id, then)
        ended = await self._tracker.ask(end)
        self._streams.pop(submission.turn_id, None)
        if present.was_tried:
            self.history.add(submission.text, ended, time.time())
        if self._has_session() and not self._unasked.is_running:
            await self._tell(self.record.silent())
        for steered in present.steered:
            await self._dismiss(steered, ending)

    async def _dismiss(self, submission: messages.Submission, ending: TurnEnding) -> None:
        end = messages.EndTurn(submission.turn_id, ending, self.record.session_id)
        await self._tracker.ask(end)
        self._streams.pop(submission.turn_id, None)

    async def _tell(self, events: Sequence[AvatarEvent]) -> None:
        if events:
            await self._tracker.tell(session_messages.Publish(0, events))

    async def _tell_waiting(self) -> None:
        if len(self._waiting) != self._told_waiting:
            self._told_waiting = len(self._waiting)
            await self._tell([QueueEvent(waiting=self._told_waiting)])
