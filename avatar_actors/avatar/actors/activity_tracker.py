"""The activity tracker: folds every event into the turn's account and fans it out."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import suppress

import trio

from avatar_actors.avatar.messages import (
    AskSubscribers,
    BeginTurn,
    EndTurn,
    FindActivity,
    Follow,
    ListActivities,
    ListQuestions,
    Subscribe,
    TrackerMessage,
    TryAgain,
    TurnText,
    Unsubscribe,
    WasSent,
)
from avatar_actors.avatar.state.activities import Activities, Stall, judge
from avatar_actors.avatar.state.event_fanout import EventFanout
from avatar_actors.avatar.state.turn_account import Moment, TurnAccount
from avatar_actors.model.events import (
    AvatarEvent,
    DiagnosticEvent,
    OrphansReapedEvent,
    PermissionEvent,
    QuestionEvent,
    QueueEvent,
    StallEvent,
    SupervisionEvent,
    TurnEndedEvent,
)
from avatar_actors.model.settings import Timeouts
from avatar_actors.processes import Vitals
from avatar_actors.session.messages import (
    GetVitals,
    ProcessMessage,
    PromptSent,
    Publish,
    SessionDown,
    SessionUp,
)
from supervisors import Address, AskFailed, Inbox, MailboxFull

# Outside of a turn these come from the runtime itself: they do not end the agent's silence.
_NOT_FROM_AGENT = (DiagnosticEvent, OrphansReapedEvent, QueueEvent, SupervisionEvent)


async def activity_tracker(
    inbox: Inbox[TrackerMessage], fanout: EventFanout, timeouts: Timeouts, max_answer: int
) -> None:
    """Takes messages; finds out why a turn is silent for long. Its streams end with it.

    Silence takes no task of its own until then: it is the deadline of the wait for messages.
    """
    tracker = _Tracker(fanout, max_answer, timeouts)
    try:
        async with trio.open_nursery() as nursery:
            while True:
                with tracker.waiting:
                    await _take_messages(tracker, fanout, inbox)
                tracker.waiting = trio.CancelScope()
                if tracker.is_stalled():
                    nursery.start_soon(_report_stall, tracker, timeouts, tracker.reporting)
    finally:
        fanout.close()


async def _take_messages(
    tracker: _Tracker, fanout: EventFanout, inbox: Inbox[TrackerMessage]
) -> None:
    async for message in inbox:
        match message:
            case Publish(turn_id, events):
                tracker.take(turn_id, events)
            case BeginTurn():
                tracker.begin(message)
            case Subscribe(stream):
                fanout.subscribe(stream)
                inbox.reply(message, None)
            case Unsubscribe(stream):
                fanout.remove(stream)
            case Follow():
                fanout.follow(message)
            case EndTurn():
                inbox.reply(message, tracker.end(message))
            case TryAgain():
                inbox.reply(message, tracker.try_again(message))
            case AskSubscribers(turn_id, event):
                inbox.reply(message, tracker.ask(turn_id, event))
            case PromptSent() | SessionUp() | SessionDown():
                tracker.note(message)
            case _:
                _answer(tracker.account, message, inbox)


def _answer(
    account: TurnAccount,
    message: WasSent | TurnText | FindActivity | ListActivities | ListQuestions,
    inbox: Inbox[TrackerMessage],
) -> None:
    match message:
        case WasSent(turn_id):
            inbox.reply(message, account.sent == turn_id)
        case TurnText(turn_id):
            inbox.reply(message, account.said(turn_id))
        case FindActivity(activity_id):
            inbox.reply(message, account.activities.find(activity_id))
        case ListActivities():
            inbox.reply(message, tuple(account.activities.open.values()))
        case ListQuestions():
            inbox.reply(message, tuple(account.activities.questions.values()))


class _Tracker:
    """The accounts, their subscribers, and since when the agent is silent.

    A prompt may have been sent while an unasked turn runs, so that has an account of its own.
    """

    def __init__(self, fanout: EventFanout, max_answer: int, timeouts: Timeouts) -> None:
        activities = Activities()
        self.account = TurnAccount(max_answer, activities)
        self._unasked = TurnAccount(max_answer, activities)
        self.process: Address[ProcessMessage] | None = None
        self.heard_at: float = 0.0
        # The wait for messages: its deadline is the next look at the turn's silence.
        self.waiting = trio.CancelScope()
        self.reporting = trio.CancelScope()
        self._fanout = fanout
        self._marks = sorted({timeouts.stall_warning, timeouts.stall_alarm})
        self._silent_since: float = 0.0
        self._told = 0

    def publish(self, turn_id: int, events: Sequence[AvatarEvent]) -> None:
        slow = self._fanout.publish(turn_id, events) if events else None
        if slow is not None:
            for watcher in self._fanout.watchers:
                with suppress(MailboxFull):
                    watcher.tell_nowait(slow)

    def take(self, turn_id: int, events: Sequence[AvatarEvent]) -> None:
        account = self._of(turn_id)
        is_present = turn_id == account.turn_id
        if is_present if turn_id else not isinstance(events[0], _NOT_FROM_AGENT):
            self.heard_at = trio.current_time()
        self.publish(turn_id, account.fold(turn_id, events, time.time()))

    def ask(self, turn_id: int, question: PermissionEvent | QuestionEvent) -> bool:
        could_answer = self._fanout.has_listener(turn_id, type(question))
        if could_answer:
            self.take(turn_id, [question])
        return could_answer

    def begin(self, begin: BeginTurn) -> None:
        self.heard_at = trio.current_time()
        if begin.turn_id > 0:  # nobody waits for one that nobody asked for
            self._silent_since, self._told = self.heard_at, 0
            self.waiting.deadline = self.heard_at + self._marks[0]
        self.publish(begin.turn_id, self._of(begin.turn_id).begin(begin, _now()))

    def try_again(self, again: TryAgain) -> bool:
        if not self.account.try_again(again):
            return False
        self.publish(again.turn_id, [again.event])
        return True

    def end(self, end: EndTurn) -> TurnEndedEvent:
        if end.turn_id == self.account.turn_id:
            self.waiting.deadline = math.inf
            self.reporting.cancel()
        events = self._of(end.turn_id).end(end, _now())
        self.publish(end.turn_id, events)
        ended = events[-1]
        assert isinstance(ended, TurnEndedEvent)
        self.publish(0, end.then)
        return ended

    def is_stalled(self) -> bool:
        """Whether the turn is silent beyond the next mark; if not, wait for that."""
        now = trio.current_time()
        if self.heard_at != self._silent_since:
            self._silent_since, self._told = self.heard_at, 0
        due = self._marks[self._told] if self._told < len(self._marks) else math.inf
        if self.account.turn_id and now < self._silent_since + due:
            # Never later than after the first mark: the agent may speak meanwhile.
            self.waiting.deadline = min(self._silent_since + due, now + self._marks[0])
        elif self.account.turn_id:
            self._told += 1
            self.reporting = trio.CancelScope()
            return True
        return False

    def look_on(self) -> None:
        """The silence has been judged: look again at the next mark."""
        self.waiting.deadline = -math.inf

    def _of(self, turn_id: int) -> TurnAccount:
        return self._unasked if turn_id < 0 else self.account

    def note(self, news: PromptSent | SessionUp | SessionDown) -> None:
        activities = self.account.activities
        match news:
            case PromptSent(turn_id):
                self.account.sent = turn_id
            case SessionUp(capabilities, process):
                self.process = process
                self.account.shows_thoughts = capabilities.thinking_supported
                self.publish(0, activities.recovered())
            case SessionDown(has_died):
                self.process = None
                self.publish(0, activities.lose_all(time.time()))
                self.publish(0, activities.broken() if has_died else ())


def _now() -> Moment:
    return Moment(trio.current_time(), time.time())


async def _report_stall(
    tracker: _Tracker, timeouts: Timeouts, during_turn: trio.CancelScope
) -> None:
    turn_id, heard_at = tracker.account.turn_id, tracker.heard_at
    silence = trio.current_time() - heard_at
    with during_turn:
        before = await _vitals(tracker.process)
        await trio.sleep(timeouts.health_check_interval)
        after = await _vitals(tracker.process)
        if tracker.heard_at == heard_at:  # it has not spoken meanwhile
            activities = tracker.account.activities
            stall = Stall(
                silence=silence,
                waits_for_host=activities.waits_for_host,
                tools=tuple(tool.tool_name for tool in activities.tools.values()),
                before=before,
                after=after,
            )
            verdict, evidence = judge(stall)
            event = StallEvent(verdict=verdict, seconds=silence, evidence=evidence)
            tracker.publish(turn_id, [event])
        tracker.look_on()


async def _vitals(process: Address[ProcessMessage] | None) -> Vitals | None:
    if process is None:
        return None
    try:
        return await process.ask(GetVitals(), timeout=1)
    except AskFailed:
        return None
