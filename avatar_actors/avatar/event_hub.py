"""The event hub: numbers events and hands them to the subscribers' streams, never waiting."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.messages import HubMessage, Publish, Subscribe, Unsubscribe
from avatar_actors.avatar.runtime_messages import Follow, SlowReaders
from avatar_actors.model.events import AvatarEvent, TextEvent
from supervisors import Inbox, MailboxFull


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
