"""The activity tracker and the event hub: what runs now, the text of the turn, who hears of it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import suppress

import msgspec
import trio

from avatar_actors.avatar.activities import Activities, AnswerText, Stall, judge
from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.messages import (
    BeginTurn,
    EndTurn,
    FindActivity,
    Follow,
    HubMessage,
    ListActivities,
    Said,
    SlowReaders,
    Subscribe,
    TrackerMessage,
    TryAgain,
    TurnText,
    Unsubscribe,
    WasSent,
)
from avatar_actors.model.events import (
    AvatarEvent,
    CostEvent,
    DiagnosticEvent,
    QueueEvent,
    StallEvent,
    TextEvent,
    ThinkingEvent,
    ToolEvent,
    TurnEndedEvent,
    TurnStartedEvent,
)
from avatar_actors.model.settings import Timeouts
from avatar_actors.model.values import ActivityStatus, Level, Outcome, ToolCall, ToolStatus, Usage
from avatar_actors.processes import Vitals
from avatar_actors.session.messages import (
    GetVitals,
    Happened,
    ProcessMessage,
    PromptSent,
    Publish,
    SessionDown,
    SessionUp,
)
from supervisors import Address, AskFailed, Inbox, MailboxFull

_ENDED = {
    Outcome.COMPLETED: (ToolStatus.UNKNOWN, ActivityStatus.COMPLETED),
    Outcome.CANCELLED: (ToolStatus.CANCELLED, ActivityStatus.CANCELLED),
    Outcome.TIMED_OUT: (ToolStatus.CANCELLED, ActivityStatus.CANCELLED),
    Outcome.OVER_BUDGET: (ToolStatus.CANCELLED, ActivityStatus.CANCELLED),
    Outcome.CRASHED: (ToolStatus.UNKNOWN, ActivityStatus.UNKNOWN),
}
# How much of a tool's output the end of its turn repeats.
_TAIL = 4000
_ENDED_BADLY = (ToolStatus.UNKNOWN, ActivityStatus.FAILED)


async def activity_tracker(
    inbox: Inbox[TrackerMessage], hub: Address[HubMessage], timeouts: Timeouts, max_answer: int
) -> None:
    """One task keeps the account, another watches the silence of a turn."""
    account = _Account(hub, max_answer)
    async with trio.open_nursery() as nursery:
        async for message in inbox:
            match message:
                case Happened(turn_id, events):
                    await account.happened(turn_id, events)
                case BeginTurn(turn_id, prompt):
                    await account.begin(turn_id, prompt)
                    nursery.start_soon(_watch_silence, account, timeouts, account.silence)
                case PromptSent(turn_id):
                    account.sent = turn_id
                case WasSent(turn_id):
                    inbox.reply(message, account.sent == turn_id)
                case TurnText(turn_id):
                    inbox.reply(message, account.said(turn_id))
                case TryAgain():
                    inbox.reply(message, await account.try_again(message))
                case EndTurn():
                    inbox.reply(message, await account.end(message))
                case SessionUp(capabilities, process):
                    account.process = process
                    account.shows_thoughts = capabilities.thinking_supported
                    await account.publish(0, account.activities.recovered())
                case SessionDown(has_died):
                    await account.lose_session(has_died=has_died)
                case FindActivity(activity_id):
                    inbox.reply(message, account.activities.find(activity_id))
                case ListActivities():
                    inbox.reply(message, tuple(account.activities.open.values()))


class _Account:
    """The present turn, and what runs beside it."""

    def __init__(self, hub: Address[HubMessage], max_answer: int) -> None:
        self.activities = Activities()
        self.process: Address[ProcessMessage] | None = None
        self.shows_thoughts = True
        self.turn_id = 0
        self.sent = 0
        self.heard_at = 0.0
        self.silence = trio.CancelScope()
        self._hub = hub
        self._max_answer = max_answer
        self._text = AnswerText(max_answer)
        self._usage = Usage()
        self._refused = Usage()
        self._began = 0.0
        self._calls: dict[str, ToolCall] = {}
        self._unknown: dict[str, None] = {}
        self._guess = ""

    def said(self, turn_id: int) -> Said:
        is_present = self.turn_id == turn_id
        return Said(self._text.whole(), self._text.is_cut) if is_present else Said()

    async def publish(self, turn_id: int, events: Sequence[AvatarEvent]) -> None:
        if events:
            await self._hub.tell(Publish(turn_id, events))

    async def begin(self, turn_id: int, prompt: str) -> None:
        self.turn_id, self._text, self._usage = turn_id, AnswerText(self._max_answer), Usage()
        self._refused, self._calls = Usage(), {}
        self._began = trio.current_time()
        self.heard_at = trio.current_time()
        self.silence = trio.CancelScope()
        name = prompt.splitlines()[0][:60] if prompt.strip() else "prompt"
        events = [TurnStartedEvent(prompt=prompt)]
        activity = self.activities.begin_turn(turn_id, name, time.time())
        await self.publish(turn_id, [*events, *activity, *self._guessed_thought()])

    async def happened(self, turn_id: int, events: Sequence[AvatarEvent]) -> None:
        if turn_id != self.turn_id and turn_id:
            return  # of a turn that has ended: nothing of it may follow its end
        if not (events and isinstance(events[0], QueueEvent)):  # which is no word of the agent
            self.heard_at = trio.current_time()
        texts = [event.text for event in events if type(event) is TextEvent]
        is_cut = bool(turn_id) and self._text.add("".join(texts))
        if len(texts) < len(events) or self._guess or not turn_id:
            events = self._with_consequences(turn_id, events)
        elif events:
            events = [*self.activities.observe(events[0], 0.0), *events]
        await self.publish(turn_id, [*events, self._cut_event()] if is_cut else events)

    async def lose_session(self, *, has_died: bool) -> None:
        self.process = None
        await self.publish(0, self.activities.lose_all(time.time()))
        if has_died:
            await self.publish(0, self.activities.broken())

    async def try_again(self, again: TryAgain) -> bool:
        said, refused = self._text.whole().strip(), again.refused
        # Some agents say the refusal as their answer.
        if again.turn_id != self.turn_id or self._calls or said not in refused.reason:
            return False
        self._refused += refused.usage or self._usage
        self._text, self._usage, self.sent = AnswerText(self._max_answer), Usage(), 0
        await self.publish(self.turn_id, [again.event])
        return True

    async def end(self, end: EndTurn) -> TurnEndedEvent:
        ending = end.ending
        if end.turn_id != self.turn_id:  # it never began
            unbegun = TurnEndedEvent(outcome=ending.outcome, reason=ending.reason)
            await self.publish(end.turn_id, [unbegun])
            return unbegun
        outcome = ending.outcome
        tool_status, status = _ENDED.get(outcome, _ENDED_BADLY)
        rest = self._close_guess()
        rest += self.activities.end_turn(tool_status, status, time.time())
        self._note_tools(end.turn_id, rest)
        may_help = outcome is Outcome.CRASHED or ending.is_recoverable
        ended = TurnEndedEvent(
            outcome=outcome,
            text=self._text.whole(),
            is_cut=self._text.is_cut,
            reason=ending.reason,
            stop_reason=ending.stop_reason,
            usage=self._refused + (ending.usage or self._usage),
            duration=trio.current_time() - self._began,
            unknown_tools=tuple(self._unknown),
            can_retry=may_help and not self._calls,
            session_id=end.session_id,
            data=ending.data,
            tool_calls=tuple(self._calls.values()),
        )
        self.turn_id, self._text = 0, AnswerText(self._max_answer)
        self._unknown, self._calls = {}, {}
        self.silence.cancel()
        await self.publish(end.turn_id, [*rest, ended])
        return ended

    def _with_consequences(self, turn_id: int, events: Sequence[AvatarEvent]) -> list[AvatarEvent]:
        now, told = time.time(), list[AvatarEvent]()
        for event in events:
            if isinstance(event, CostEvent) and turn_id:
                self._usage = event.usage
            if self._guess and isinstance(event, TextEvent | ToolEvent | ThinkingEvent):
                told += self._close_guess()
            # A task's own report is replaced by its node of the tree.
            consequences = self.activities.observe(event, now)
            told += consequences if _is_node(event, consequences) else [event, *consequences]
        self._note_tools(turn_id, told)
        return told

    def _note_tools(self, turn_id: int, events: Sequence[AvatarEvent]) -> None:
        for event in events:
            if isinstance(event, ToolEvent):
                if turn_id:
                    self._calls[event.tool_id] = _call(event)
                if event.status is ToolStatus.UNKNOWN:
                    self._unknown[event.tool_id] = None

    def _cut_event(self) -> DiagnosticEvent:
        words = f"the answer is longer than max_answer ({self._max_answer} characters)"
        rest = "what follows is told by events and not kept"
        return DiagnosticEvent(message=f"{words}; {rest}", level=Level.WARNING, source="turn")

    def _guessed_thought(self) -> list[AvatarEvent]:
        if self.shows_thoughts:
            return []
        self._guess = f"guess-{self.turn_id}"
        return [ThinkingEvent(is_start=True, block_id=self._guess, synthetic=True)]

    def _close_guess(self) -> list[AvatarEvent]:
        guess, self._guess = self._guess, ""
        if not guess:
            return []
        return [ThinkingEvent(is_complete=True, block_id=guess, synthetic=True)]


def _call(tool: ToolEvent) -> ToolCall:
    return ToolCall(
        tool_id=tool.tool_id,
        tool_name=tool.tool_name,
        parameters=tool.parameters,
        status=tool.status,
        result=(tool.result or "")[-_TAIL:],
        error=tool.error or "",
    )


def _is_node(event: AvatarEvent, consequences: Sequence[AvatarEvent]) -> bool:
    return bool(consequences) and type(consequences[0]) is type(event)


async def _watch_silence(
    account: _Account, timeouts: Timeouts, during_turn: trio.CancelScope
) -> None:
    marks = sorted({timeouts.stall_warning, timeouts.stall_alarm})
    heard_at, told = account.heard_at, 0
    with during_turn:
        while True:
            if account.heard_at != heard_at:
                heard_at, told = account.heard_at, 0
            due = heard_at + (marks[told] if told < len(marks) else math.inf)
            # Never longer than to the first mark: something may be heard meanwhile.
            await trio.sleep_until(min(due, trio.current_time() + marks[0]))
            if account.heard_at == heard_at and trio.current_time() >= due:
                told += 1
                await _report_stall(account, timeouts, trio.current_time() - heard_at)


async def _report_stall(account: _Account, timeouts: Timeouts, silence: float) -> None:
    turn_id, heard_at = account.turn_id, account.heard_at
    before = await _vitals(account.process)
    await trio.sleep(timeouts.health_check_interval)
    after = await _vitals(account.process)
    if account.heard_at != heard_at:
        return  # it has spoken meanwhile
    stall = judge(
        Stall(
            silence=silence,
            waits_for_host=account.activities.waits_for_host,
            tools=tuple(tool.tool_name for tool in account.activities.tools.values()),
            before=before,
            after=after,
        )
    )
    event = StallEvent(verdict=stall[0], seconds=silence, evidence=stall[1])
    await account.publish(turn_id, [event])


async def _vitals(process: Address[ProcessMessage] | None) -> Vitals | None:
    if process is None:
        return None
    try:
        return await process.ask(GetVitals(), timeout=1)
    except AskFailed:
        return None


async def event_hub(inbox: Inbox[HubMessage], provider: str, avatar: str) -> None:
    """Keeps the list of streams; when it ends, they end, except those of who follows all."""
    streams: list[EventStream] = []
    follows: list[Follow] = []
    seq = 0
    try:
        async for message in inbox:
            match message:
                case Publish(turn_id, events):
                    streams = [stream for stream in streams if not stream.is_closed]
                    follows = [follow for follow in follows if not follow.stream.is_closed]
                    listeners = [s for s in streams if s.turn_id is None or s.turn_id == turn_id]
                    listeners += [follow.stream for follow in follows]
                    if listeners:
                        stamp = _Stamp(provider, avatar, turn_id)
                        _hand_out(stamp.all(events, seq + 1), listeners, follows)
                    seq += len(events)
                case Subscribe(stream):
                    streams.append(stream)
                    inbox.reply(message, None)
                case Follow():
                    follows.append(message)
                case Unsubscribe(stream):
                    streams = [other for other in streams if other is not stream]
                    follows = [other for other in follows if other.stream is not stream]
                    stream.close()
    finally:
        for stream in streams:
            stream.close()


def _hand_out(
    events: list[AvatarEvent], listeners: list[EventStream], follows: list[Follow]
) -> None:
    merged = dropped = 0
    for stream in listeners:
        before = stream.merged, stream.lost
        stream.push(events)
        merged += stream.merged - before[0]
        dropped += stream.lost - before[1]
    if merged or dropped:
        slow = SlowReaders(events[0].provider, merged, dropped)
        for follow in follows:
            if follow.watcher is not None:
                with suppress(MailboxFull):
                    follow.watcher.tell_nowait(slow)


class _Stamp:
    def __init__(self, provider: str, avatar: str, turn_id: int) -> None:
        self._provider, self._avatar, self._turn_id = provider, avatar, turn_id
        self._now = time.time()

    def all(self, events: Sequence[AvatarEvent], first: int) -> list[AvatarEvent]:
        now, provider, avatar, turn_id = self._now, self._provider, self._avatar, self._turn_id
        return [
            # By position: half the price of `replace`, and most events are text.
            TextEvent(seq, now, provider, avatar, turn_id, event.text, event.is_complete)
            if type(event) is TextEvent
            else self._one(event, seq)
            for seq, event in enumerate(events, first)
        ]

    def _one(self, event: AvatarEvent, seq: int) -> AvatarEvent:
        return msgspec.structs.replace(
            event,
            seq=seq,
            timestamp=self._now,
            provider=self._provider,
            avatar=self._avatar,
            turn_id=self._turn_id,
        )
