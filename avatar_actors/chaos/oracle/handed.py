"""What the caller of one prompt was handed: whether it is in order, and whether it is all."""

from __future__ import annotations

from msgspec import Struct

from avatar_actors import AvatarEvent, EventsLostEvent, TextEvent, ThinkingEvent

# What a slow reader may get as one event.
_MERGED = (TextEvent, ThinkingEvent)


def is_counted(event: AvatarEvent) -> bool:
    """Whether everybody who hears of the turn gets as many of these."""
    return not isinstance(event, _MERGED)


class Handed(Struct):
    """So far. Not `is_whole`: it was slow, and was told that it missed some."""

    seq: int = 0
    count: int = 0
    is_whole: bool = True
    is_in_order: bool = True

    def takes(self, event: AvatarEvent) -> bool:
        """Whether this may come now. One without a number is the caller's own."""
        if isinstance(event, EventsLostEvent):
            self.is_whole = False
            return True
        if 0 < event.seq <= self.seq:
            self.is_in_order = False
            return False
        self.seq = event.seq
        self.count += is_counted(event)
        return True
