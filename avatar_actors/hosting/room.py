"""An engine's room in the runtime's thread: its avatar, and what a host may have done with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import trio
from msgspec import Struct

from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.handle import Avatar
from avatar_actors.hosting.bell import Bell
from avatar_actors.hosting.handlers import EventEmitter
from avatar_actors.hosting.hatch import Hatch
from avatar_actors.hosting.runtime_thread import Inside
from avatar_actors.model.errors import AvatarDown
from avatar_actors.model.events import AvatarEvent, TextEvent
from avatar_actors.model.response import BridgeResponse
from avatar_actors.model.settings import AvatarOptions, PromptOptions
from avatar_actors.model.values import Message
from avatar_actors.providers.provider import Provider

T = TypeVar("T")


class Wish(Struct, frozen=True):
    """The avatar that an engine is to have."""

    provider: Provider
    name: str
    options: AvatarOptions


class Room:
    """Made by the host; all but `history` and `closed` belongs to the runtime's thread.

    It is used from one start to one stop: the engine's next start takes another room.
    """

    def __init__(self, wish: Wish, emitter: EventEmitter, previous: Bell | None) -> None:
        self.closed = Bell()
        self.history: tuple[Message, ...] = ()
        self._wish, self._emitter, self._previous = wish, emitter, previous
        self._door = trio.Lock()
        self._avatar: Avatar | None = None
        self._starting = trio.CancelScope()
        self._is_closed = False
        # What the avatar said has gone to the handlers, to the last.
        self._fed = trio.Event()

    async def start(self, inside: Inside) -> Avatar:
        """The avatar, started if there is none or if it gave up."""
        async with self._door:
            avatar = self._avatar
            if avatar is None or avatar.is_down:
                avatar = self._avatar = await self._start(inside)
            return avatar

    async def close(self, _: Inside) -> None:
        """Stop the avatar, also one that is just starting; nobody gets in any more."""
        self._is_closed = True
        self._starting.cancel()
        try:
            async with self._door:
                if self._avatar is not None:
                    await self._avatar.stop()
                    await self._fed.wait()
        finally:
            self.closed.ring()

    @property
    def is_empty(self) -> bool:
        """Whether nothing has come of it: no avatar was started here."""
        return self._avatar is None

    async def use(self, work: Callable[[Avatar], Awaitable[T]], inside: Inside) -> T:
        """Do something with the avatar, which is started for it if there is none."""
        return await work(await self._present(inside))

    async def look(self, work: Callable[[Avatar], Awaitable[T]], _: Inside) -> T | None:
        """The same, but nothing is started for it."""
        return await work(self._avatar) if self._avatar is not None else None

    async def chat(self, prompt: str, options: PromptOptions, inside: Inside) -> BridgeResponse:
        """The whole answer."""
        avatar = await self._present(inside)
        response = await avatar.chat(prompt, **options)
        await self._remember(avatar)
        return response

    async def talk(
        self,
        prompt: str,
        options: PromptOptions,
        pick: Callable[[list[AvatarEvent]], list[T]],
        inside: Inside,
        hatch: Hatch[T],
    ) -> BridgeResponse:
        """The answer as it comes: what `pick` takes of its events."""
        avatar = await self._present(inside)
        async with avatar.turn(prompt, **options) as turn:
            while events := await turn.take():
                if picked := pick(events):
                    await hatch.put(picked)
        await self._remember(avatar)
        return turn.response()

    async def listen(
        self, kinds: tuple[type[AvatarEvent], ...], inside: Inside, hatch: Hatch[AvatarEvent]
    ) -> None:
        """What happens from now on, to the avatar's end."""
        avatar = await self._present(inside)
        async with avatar.events(*kinds) as stream:
            while events := await stream.take():
                await hatch.put(events)

    async def _present(self, inside: Inside) -> Avatar:
        return self._avatar or await self.start(inside)

    async def _remember(self, avatar: Avatar) -> None:
        with suppress(AvatarDown):  # it gave up with this turn, which has its outcome all the same
            self.history = await avatar.history()

    async def _start(self, inside: Inside) -> Avatar:
        if self._previous is not None:
            await self._previous.hear()
        wish, stream = self._wish, EventStream()
        with trio.CancelScope() as self._starting:
            if self._is_closed:
                self._starting.cancel()
            self._fed = trio.Event()
            inside.feeds.start_soon(self._feed, stream, self._fed)
            try:
                return await inside.runtime.start(
                    wish.provider, wish.name, listener=stream, **wish.options
                )
            except BaseException:
                stream.close()
                raise
        raise AvatarDown("the engine was stopped while it started")

    async def _feed(self, stream: EventStream, fed: trio.Event) -> None:
        while events := await stream.take():
            self._emitter.deliver(events)
        fed.set()


def texts(events: list[AvatarEvent]) -> list[str]:
    """The pieces of text among these events."""
    return [event.text for event in events if type(event) is TextEvent]


def all_of(events: list[AvatarEvent]) -> list[AvatarEvent]:
    """Every one of them."""
    return events
