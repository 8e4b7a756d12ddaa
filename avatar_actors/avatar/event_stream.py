"""A subscriber's own stream of events: bounded, merging what a slow reader has not taken yet."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Sequence

import msgspec
import trio
from trio.lowlevel import Abort, Task, current_task, enable_ki_protection, reschedule

from avatar_actors.model.checks import checked
from avatar_actors.model.events import (
    AvatarEvent,
    EventsLostEvent,
    PermissionClosedEvent,
    PermissionEvent,
    QuestionClosedEvent,
    QuestionEvent,
    TextEvent,
    ThinkingEvent,
    TurnEndedEvent,
)
from avatar_actors.model.fields import Count, PositiveCount

# So many events are handed out between two checkpoints: more than one block of an agent's output
# holds (64 KiB, some 500 lines), so that a reader keeps up with any agent.
_BATCH = 1024
_CAPACITY = 4096
# What may wait of text and thoughts, in characters, each piece with what an object weighs: as much
# as the longest answer that is kept by default.
_MOST_WORDS = 16 * 1024 * 1024
_PIECE = 64
_CHUNK = 256 * 1024


class EventStream:
    """Filled by the activity tracker, read by one task with `async for`.

    A reader that keeps up sees every event. For one that does not, adjacent pieces of text and of
    a thought are merged. Only if even that exceeds `capacity` are the oldest other events dropped,
    and when 16 Mi characters wait, the oldest of these. An EventsLostEvent says how many are
    missing. A slow reader never holds anybody up.
    """

    @checked
    def __init__(
        self,
        turn_id: int | None = None,
        kinds: Sequence[type[AvatarEvent]] = (),
        capacity: PositiveCount = _CAPACITY,
        passes_on: Callable[[type[AvatarEvent]], bool] | None = None,
    ) -> None:
        self.turn_id = turn_id
        self.kinds: tuple[type[AvatarEvent], ...] = tuple(kinds)
        self.lost: int = 0
        self.merged: int = 0
        self.is_closed: bool = False
        self._passes_on = passes_on
        self._wanted = _Wanted(self.kinds)
        self._capacity = capacity
        self._roof = capacity
        self._words = 0
        self._queue: deque[AvatarEvent | _TextRun] = deque()
        self._unseen_losses = 0
        self._credit = _BATCH
        self._reader: Task | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to take now."""
        return not self._queue and not self._unseen_losses

    def reaches(self, kind: type[AvatarEvent]) -> bool:
        """Whether somebody gets the events of this kind that are pushed now.

        A stream that is passed on, to handlers, says by `passes_on` what they take.
        """
        is_wanted = not self.kinds or self._wanted[kind]
        return (
            not self.is_closed and is_wanted and (self._passes_on is None or self._passes_on(kind))
        )

    def __aiter__(self) -> EventStream:
        return self

    async def __anext__(self) -> AvatarEvent:
        self._credit -= 1
        if not self._queue or self._credit <= 0:
            await self._wait()
        if self._unseen_losses:
            count, self._unseen_losses = self._unseen_losses, 0
            return EventsLostEvent(count=count)
        event = self._queue.popleft()
        return event.whole() if isinstance(event, _TextRun) else event

    async def take(self) -> list[AvatarEvent]:
        """All events that have arrived, once there is one; an empty list at the end."""
        try:
            await self._wait()
        except StopAsyncIteration:
            return []
        return self.take_nowait()

    @checked
    def take_nowait(self, most: Count = sys.maxsize) -> list[AvatarEvent]:
        """The events that have arrived, at most so many."""
        queue = self._queue
        if len(queue) <= most:
            waiting, self._queue = list(queue), deque()
        else:
            waiting = [queue.popleft() for _ in range(most)]
        events = [event.whole() if isinstance(event, _TextRun) else event for event in waiting]
        if not self._unseen_losses:
            return events
        count, self._unseen_losses = self._unseen_losses, 0
        return [EventsLostEvent(count=count), *events]

    def push(self, events: Sequence[AvatarEvent]) -> None:
        """For the activity tracker: add these at the end."""
        if self.kinds:
            wanted = self._wanted
            events = [event for event in events if wanted[type(event)]]
            if not events:
                return
        # Weighed only while the reader is behind: what comes at one time is a block of output.
        self._words = self._words + _weight(events) if self._queue else 0
        if len(self._queue) + len(events) <= self._capacity:
            self._queue.extend(events)
            self._roof = self._capacity
        else:
            for event in events:
                self._squeeze_in(event)
        if self._words > _MOST_WORDS:
            self._drop_words()
        if self._reader is not None and self._queue:
            self._wake(self._reader)

    @checked
    def append(self, event: AvatarEvent) -> None:
        """Add one event at the end; nothing is merged or dropped for it."""
        if not self.kinds or isinstance(event, self.kinds):
            self._queue.append(event)

    def close(self) -> None:
        """For the activity tracker: nothing more will come. What is here can still be read."""
        self.is_closed = True
        if self._reader is not None:
            self._wake(self._reader)

    async def _wait(self) -> None:
        self._credit = _BATCH
        if self._queue:
            await trio.lowlevel.checkpoint()
        while not self._queue and not self._unseen_losses:
            if self.is_closed:
                raise StopAsyncIteration
            if self._reader is not None:
                raise trio.BusyResourceError("two tasks read one stream; subscribe once for each")
            # Parked by itself: a trio.Event for each wait costs twice as much.
            self._reader = current_task()
            await trio.lowlevel.wait_task_rescheduled(self._leave)

    @enable_ki_protection
    def _wake(self, reader: Task) -> None:
        self._reader = None
        reschedule(reader)

    def _leave(self, _: object) -> Abort:
        self._reader = None
        return Abort.SUCCEEDED

    def _squeeze_in(self, event: AvatarEvent) -> None:
        if self._queue and isinstance(event, TextEvent | ThinkingEvent):
            last = self._queue[-1]
            if not isinstance(last, _TextRun):
                last = _TextRun(last)
            if last.takes(event):
                self._queue[-1] = last
                self.merged += 1
                return
        self._queue.append(event)
        if len(self._queue) > self._roof:
            self._make_room()

    def _make_room(self) -> None:
        self._merge()
        for kept in (_PRECIOUS, _SACRED):
            if len(self._queue) > self._capacity:
                self._drop_oldest(len(self._queue) - self._capacity // 2, kept)
                self._merge()
        # Not again before it has doubled, so that making room stays cheap per event.
        self._roof = max(self._capacity, 2 * len(self._queue))

    def _merge(self) -> None:
        runs: list[_TextRun] = []
        for event in self._queue:
            if not (runs and runs[-1].takes(event)):
                runs.append(event if isinstance(event, _TextRun) else _TextRun(event))
        self.merged += len(self._queue) - len(runs)
        self._queue = deque(run.shrunk() for run in runs)

    def _drop_oldest(self, count: int, kinds: tuple[type[AvatarEvent], ...]) -> None:
        kept: deque[AvatarEvent | _TextRun] = deque()
        for event in self._queue:
            first = event.first if isinstance(event, _TextRun) else event
            if count and not isinstance(first, kinds):
                count -= 1
                self.lost += 1
                self._unseen_losses += 1
            else:
                kept.append(event)
        self._queue = kept

    def _drop_words(self) -> None:
        # Weighed anew: some of it may have been read since, and many small pieces weigh most.
        for event in self._queue:
            if isinstance(event, _TextRun):
                event.compact()
        self._words = sum(map(_weight_of, self._queue))
        excess = self._words - _MOST_WORDS // 2
        if self._words <= _MOST_WORDS:
            return
        kept: deque[AvatarEvent | _TextRun] = deque()
        for event in self._queue:
            run = event if isinstance(event, _TextRun) else _TextRun(event)
            if excess > 0 and isinstance(run.first, TextEvent | ThinkingEvent):
                lost, weight = run.drop(excess)
                excess -= weight
                self._words -= weight
                self.lost += lost
                self._unseen_losses += lost
                event = run  # noqa: PLW2901 - what is left of it
            if run.parts:
                kept.append(event)
        self._queue = kept


class _Wanted(dict[type[AvatarEvent], bool]):
    """Whether an event type is one of the kinds, remembered: most events are text."""

    def __init__(self, kinds: tuple[type[AvatarEvent], ...]) -> None:
        super().__init__()
        self._kinds = kinds

    def __missing__(self, kind: type[AvatarEvent]) -> bool:
        self[kind] = wanted = issubclass(kind, self._kinds)
        return wanted


class _TextRun:
    """Adjacent pieces of one text, or of one thought."""

    __slots__ = ("first", "last", "parts")

    def __init__(self, first: AvatarEvent) -> None:
        self.first = first
        self.last = first
        self.parts = [_words(first)]

    def takes(self, event: AvatarEvent | _TextRun) -> bool:
        """Append a piece if it continues this run."""
        follower = event if isinstance(event, _TextRun) else _TextRun(event)
        if not _go_together(self.last, follower.first):
            return False
        self.parts.extend(follower.parts)
        self.last = follower.last
        return True

    def compact(self) -> None:
        """Join the words into few pieces."""
        words = "".join(self.parts)
        starts = range(0, max(len(words), 1), _CHUNK)
        self.parts = [words[start : start + _CHUNK] for start in starts]

    def drop(self, weight: int) -> tuple[int, int]:
        """Drop the oldest pieces, at least of this weight; returns their number and weight."""
        count = dropped = 0
        while count < len(self.parts) and dropped < weight:
            dropped += len(self.parts[count]) + _PIECE
            count += 1
        del self.parts[:count]
        return count, dropped

    def shrunk(self) -> AvatarEvent | _TextRun:
        """Itself, or its only event."""
        return self.first if len(self.parts) == 1 else self

    def whole(self) -> AvatarEvent:
        """One event with everything in it."""
        first, last = self.first, self.last
        if isinstance(first, TextEvent) and isinstance(last, TextEvent):
            text = "".join(self.parts)
            return msgspec.structs.replace(first, text=text, is_complete=last.is_complete)
        if isinstance(first, ThinkingEvent) and isinstance(last, ThinkingEvent):
            thought = "".join(self.parts)
            return msgspec.structs.replace(first, thought=thought, is_complete=last.is_complete)
        return first


def _weight(events: Sequence[AvatarEvent]) -> int:
    return sum([len(event.text) + _PIECE for event in events if type(event) is TextEvent]) + sum(
        [len(event.thought) + _PIECE for event in events if type(event) is ThinkingEvent]
    )


def _weight_of(event: AvatarEvent | _TextRun) -> int:
    if isinstance(event, _TextRun):
        return sum(map(len, event.parts)) + _PIECE * len(event.parts)
    return _weight([event])


def _words(event: AvatarEvent) -> str:
    if isinstance(event, TextEvent):
        return event.text
    return event.thought if isinstance(event, ThinkingEvent) else ""


def _go_together(first: AvatarEvent, second: AvatarEvent) -> bool:
    if first.avatar != second.avatar:
        return False
    if isinstance(first, TextEvent) and isinstance(second, TextEvent):
        return first.turn_id == second.turn_id and not first.is_complete
    if isinstance(first, ThinkingEvent) and isinstance(second, ThinkingEvent):
        return first.block_id == second.block_id and first.turn_id == second.turn_id
    return False


# Never dropped: what is said and how it ended. Dropped last: thoughts and questions.
_SACRED = (TextEvent, TurnEndedEvent)
_QUESTIONS = (PermissionEvent, PermissionClosedEvent, QuestionEvent, QuestionClosedEvent)
_PRECIOUS = (*_SACRED, ThinkingEvent, *_QUESTIONS)
