"""The messages of the runtime's level: who is born, and who looks on at all avatars at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from avatar_actors.avatar.event_stream import EventStream
from supervisors import Address, Request

if TYPE_CHECKING:
    from avatar_actors.avatar.messages import HubMessage


class SlowReaders(Struct, frozen=True):
    """To a watcher: so many events were merged or dropped for subscribers that are too slow."""

    provider: str
    merged: int
    dropped: int


class Follow(Struct, frozen=True):
    """To an event hub: fill this stream too. It is not this hub's alone, so it outlives it.

    The watcher hears of subscribers, of any stream, that are too slow.
    """

    stream: EventStream
    watcher: Address[SlowReaders] | None = None


class AvatarBorn(Struct, Request[None], frozen=True):
    """To the herald: notices about what is below `path` go to this hub.

    Answered when the hub fills the streams of all who follow, so that they miss nothing.
    """

    path: str
    hub: Address[HubMessage]


class FollowAll(Struct, Request[None], frozen=True):
    """To the herald: this stream gets the events of all avatars, present and future."""

    follow: Follow


class UnfollowAll(Struct, frozen=True):
    """To the herald: it gets them no longer."""

    stream: EventStream


HeraldMessage: TypeAlias = AvatarBorn | FollowAll | UnfollowAll
