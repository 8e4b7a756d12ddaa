"""Numbers an avatar's events and pushes them to every subscriber's own stream."""

from __future__ import annotations

from collections.abc import Sequence
from time import time

import msgspec

from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.messages import Follow, SlowReaders
from avatar_actors.model.events import AvatarEvent, TextEvent
from supervisors import Address


class EventFanout:
    """The subscribers of one avatar. Pushing never waits, so none of them can hold up another."""

    def __init__(self, provider: str, avatar: str) -> None:
        self._provider, self._avatar = provider, avatar
        # By the turn they want; None: all. A hundred waiting prompts cost the running one nothing.
        self._streams: dict[int | None, list[EventStream]] = {None: []}
        self._follows: list[Follow] = []
        self._seq = 0

    @property
    def watchers(self) -> list[Address[SlowReaders]]:
        """Actors that want to hear of subscribers that are too slow."""
        return [follow.watcher for follow in self._follows if follow.watcher is not None]

    def subscribe(self, stream: EventStream) -> None:
        """Fill this stream, which ends together with the avatar."""
        self._streams.setdefault(stream.turn_id, []).append(stream)

    def follow(self, follow: Follow) -> None:
        """Fill a stream that other avatars fill too; it outlives this one."""
        self._follows.append(follow)
        self.subscribe(follow.stream)

    def remove(self, stream: EventStream) -> None:
        """Stop filling this stream and close it."""
        stream.close()
        self._drop_closed(stream.turn_id)

    def close(self) -> None:
        """The avatar ends: close the streams that are its own."""
        shared = [follow.stream for follow in self._follows]
        for streams in self._streams.values():
            for stream in streams:
                if stream not in shared:
                    stream.close()

    def publish(self, turn_id: int, events: Sequence[AvatarEvent]) -> SlowReaders | None:
        """Number the events of a turn (or of none: 0) and push them; returns what was lost."""
        first, self._seq = self._seq + 1, self._seq + len(events)
        listeners = self._streams[None]
        if turn_id in self._streams:
            listeners = listeners + self._streams[turn_id]
        return self._push(self._stamped(turn_id, events, first), listeners) if listeners else None

    def has_listener(self, turn_id: int, kind: type[AvatarEvent]) -> bool:
        """Whether a subscriber gets events of this kind, of this turn."""
        streams = (*self._streams[None], *self._streams.get(turn_id, ()))
        return any(stream.reaches(kind) for stream in streams)

    def _push(self, events: list[AvatarEvent], listeners: list[EventStream]) -> SlowReaders | None:
        merged = dropped = 0
        for stream in listeners:
            if stream.is_closed:  # its reader has left, and no word of it came
                self._drop_closed(stream.turn_id)
                continue
            merged_before, lost_before = stream.merged, stream.lost
            stream.push(events)
            merged += stream.merged - merged_before
            dropped += stream.lost - lost_before
        return SlowReaders(self._provider, merged, dropped) if merged or dropped else None

    def _drop_closed(self, turn_id: int | None) -> None:
        is_open = [stream for stream in self._streams.get(turn_id, ()) if not stream.is_closed]
        self._follows = [follow for follow in self._follows if not follow.stream.is_closed]
        if is_open or turn_id is None:
            self._streams[turn_id] = is_open
        else:
            self._streams.pop(turn_id, None)

    def _stamped(
        self, turn_id: int, events: Sequence[AvatarEvent], first: int
    ) -> list[AvatarEvent]:
        now, provider, avatar = time(), self._provider, self._avatar
        return [
            # By position: half the price of `replace`, and most events are text.
            TextEvent(seq, now, provider, avatar, turn_id, event.text, event.is_complete)
            if type(event) is TextEvent
            else msgspec.structs.replace(
                event, seq=seq, timestamp=now, provider=provider, avatar=avatar, turn_id=turn_id
            )
            for seq, event in enumerate(events, first)
        ]
