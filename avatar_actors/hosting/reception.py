"""What an engine has done in its room: each call as an errand, each stream as a host's stream."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from avatar_actors.avatar.handle import Avatar
from avatar_actors.hosting.engine_avatar import Tenancy
from avatar_actors.hosting.hatch import Hatch
from avatar_actors.hosting.portal import Errand
from avatar_actors.hosting.room import Room, Wish
from avatar_actors.hosting.runtime_thread import Inside
from avatar_actors.hosting.streams import HostStream
from avatar_actors.model.events import AvatarEvent
from avatar_actors.model.response import BridgeResponse
from avatar_actors.model.settings import PromptOptions

T = TypeVar("T")
R = TypeVar("R")


class Reception:
    """Knows which avatar is wished, and sends what is to be done with it to the room."""

    def __init__(self, wish: Wish, tenancy: Tenancy) -> None:
        self.wish = wish
        self._tenancy = tenancy

    def start(self) -> Errand[Avatar]:
        """Start the avatar."""
        return self._send(Room.start)

    def chat(self, message: str, options: PromptOptions) -> Errand[BridgeResponse]:
        """One prompt, to its answer."""
        return self._send(lambda room, inside: room.chat(message, options, inside))

    def use(self, work: Callable[[Avatar], Awaitable[T]]) -> Errand[T]:
        """Do this with the avatar, which is started if there is none."""
        return self._send(lambda room, inside: room.use(work, inside))

    def talk(
        self,
        message: str,
        options: PromptOptions,
        pick: Callable[[list[AvatarEvent]], list[T]],
    ) -> HostStream[T, BridgeResponse]:
        """One prompt, and what `pick` takes of its events."""
        return self._stream(
            lambda room, inside, hatch: room.talk(message, options, pick, inside, hatch)
        )

    def listen(self, kinds: tuple[type[AvatarEvent], ...]) -> HostStream[AvatarEvent, None]:
        """What happens to the avatar."""
        return self._stream(lambda room, inside, hatch: room.listen(kinds, inside, hatch))

    def _send(self, work: Callable[[Room, Inside], Awaitable[T]]) -> Errand[T]:
        return self._tenancy.send(self.wish, work)

    def _stream(self, source: Callable[[Room, Inside, Hatch[T]], Awaitable[R]]) -> HostStream[T, R]:
        def open_source(hatch: Hatch[T]) -> Errand[R]:
            return self._send(lambda room, inside: source(room, inside, hatch))

        return HostStream(open_source, self._tenancy.gone)
