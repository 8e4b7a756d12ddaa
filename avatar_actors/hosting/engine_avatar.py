"""An engine's avatar in the runtime's thread: started by the first call, ended with the engine."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

import trio
from msgspec import Struct

from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.handle import Avatar
from avatar_actors.hosting.forking import forks_so_far, is_of_a_parent, refuse_a_parents
from avatar_actors.hosting.handlers import EventEmitter
from avatar_actors.hosting.portal import Parked, PortalCall, ThreadEvent, rung
from avatar_actors.hosting.runtime_thread import RuntimeContext, RuntimeSource, RuntimeThread
from avatar_actors.hosting.streams import BatchSlot, HostStream
from avatar_actors.model.errors import AvatarDown, AvatarError
from avatar_actors.model.events import AvatarEvent, BridgeResponse, TextEvent
from avatar_actors.model.settings import AvatarOptions, PromptOptions
from avatar_actors.model.values import Message
from avatar_actors.providers.provider import Provider

T = TypeVar("T")


class Wish(Struct, frozen=True):
    """The avatar that an engine is to have."""

    provider: Provider
    name: str
    options: AvatarOptions


class EngineAvatar:
    """Made by the host; all but `history` and `closed` belongs to the runtime's thread.

    It is used from one start to one stop: the engine's next start takes another room.
    """

    def __init__(self, wish: Wish, emitter: EventEmitter, previous: ThreadEvent | None) -> None:
        self.closed = ThreadEvent()
        self.history: tuple[Message, ...] = ()
        self._wish, self._emitter, self._previous = wish, emitter, previous
        self._door = trio.Lock()
        self._avatar: Avatar | None = None
        self._starting = trio.CancelScope()
        self._is_closed = False
        # What the avatar said has gone to the handlers, to the last.
        self._fed = trio.Event()

    async def start(self, inside: RuntimeContext) -> Avatar:
        """The avatar, started if there is none or if it gave up."""
        async with self._door:
            avatar = self._avatar
            if avatar is None or avatar.is_down:
                avatar = self._avatar = await self._start(inside)
            return avatar

    async def close(self, _: RuntimeContext) -> None:
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

    async def use(self, work: Callable[[Avatar], Awaitable[T]], inside: RuntimeContext) -> T:
        """Do something with the avatar, which is started for it if there is none."""
        return await work(await self._present(inside))

    async def look(self, work: Callable[[Avatar], Awaitable[T]], _: RuntimeContext) -> T | None:
        """The same, but nothing is started for it."""
        return await work(self._avatar) if self._avatar is not None else None

    async def chat(
        self, prompt: str, options: PromptOptions, inside: RuntimeContext
    ) -> BridgeResponse:
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
        inside: RuntimeContext,
        hatch: BatchSlot[T],
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
        self,
        kinds: tuple[type[AvatarEvent], ...],
        inside: RuntimeContext,
        hatch: BatchSlot[AvatarEvent],
    ) -> None:
        """What happens from now on, to the avatar's end."""
        avatar = await self._present(inside)
        async with avatar.events(*kinds) as stream:
            while events := await stream.take():
                await hatch.put(events)

    async def _present(self, inside: RuntimeContext) -> Avatar:
        return self._avatar or await self.start(inside)

    async def _remember(self, avatar: Avatar) -> None:
        with suppress(AvatarDown):  # it gave up with this turn, which has its outcome all the same
            self.history = await avatar.history()

    async def _start(self, inside: RuntimeContext) -> Avatar:
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


class _Stay:
    def __init__(self, room: EngineAvatar, thread: RuntimeThread) -> None:
        self.room, self.thread = room, thread
        self.calls: set[int] = set()


class Tenancy:
    """Any thread may call. A stay in which no avatar could be started ends by itself."""

    def __init__(self, landlord: RuntimeSource, emitter: EventEmitter) -> None:
        self._landlord, self._emitter = landlord, emitter
        self._lock = threading.Lock()
        self._stay: _Stay | None = None
        self._previous: ThreadEvent | None = None
        self._left: RuntimeThread | None = None
        self._is_over = False
        # Set by the first call: an engine that was only made before a fork can be used after it.
        self._used_after: int | None = None
        self._numbers = itertools.count(1)

    @property
    def room(self) -> EngineAvatar | None:
        """The present room."""
        stay = self._stay
        return stay.room if stay is not None else None

    def history(self) -> tuple[Message, ...]:
        """What was said in this stay."""
        room = self.room
        return room.history if room is not None else ()

    def send(
        self, wish: Wish, work: Callable[[EngineAvatar, RuntimeContext], Awaitable[T]]
    ) -> PortalCall[T]:
        """Have this done in the room, which is taken if there is none."""
        self._claim()
        if self._is_leaving:
            return Parked()
        if self._is_over:
            raise AvatarDown("the program is being stopped; the engine takes no more calls")
        stay, end = self._enter(wish)

        async def call(inside: RuntimeContext) -> T:
            # Ended here and not when the caller knows: by then nothing more may happen.
            try:
                return await work(stay.room, inside)
            finally:
                end()

        errand = stay.thread.send(call)
        errand.done.when_rung(end)  # one that could not be run
        return errand

    async def wait(self, errand: PortalCall[T]) -> T:
        """Its result; after a failure nothing is left of a stay that came to nothing."""
        try:
            result = await errand.wait()
        except BaseException as error:
            await self.gone().hear_out()
            if isinstance(error, AvatarError) and self._is_leaving:
                await Parked[None]().wait()
            raise
        if self._is_leaving:
            await Parked[None]().wait()
        return result

    def wait_sync(self, errand: PortalCall[T]) -> T:
        """The same, holding this thread."""
        try:
            result = errand.wait_sync()
        except BaseException as error:
            self.gone().hear_sync()
            if isinstance(error, AvatarError) and self._is_leaving:
                Parked[None]().wait_sync()
            raise
        if self._is_leaving:
            Parked[None]().wait_sync()
        return result

    def look(self, work: Callable[[Avatar], Awaitable[T]]) -> PortalCall[T | None]:
        """Do this with the avatar if there is one; no room is taken for it."""
        self._claim()
        stay = self._stay
        if stay is not None:
            return stay.thread.send(partial(stay.room.look, work))
        errand: PortalCall[T | None] = PortalCall(_nothing)
        errand.succeed(None)
        return errand

    def forget(self) -> None:
        """Clear the history."""
        room = self.room
        if room is not None:
            self.look(Avatar.clear_history).wait_sync()
            room.history = ()

    def leave(self) -> PortalCall[None] | None:
        """End the stay, with its avatar. None if there is no stay, or if it is a parent's."""
        if self.is_of_a_parent:
            return None
        with self._lock:
            stay, self._stay = self._stay, None
            if stay is None:
                return None
            self._previous = stay.room.closed
        errand = stay.thread.send(stay.room.close)
        errand.done.when_rung(partial(self._vacate, stay))
        return errand

    def close_for_good(self) -> ThreadEvent:
        """End the stay; there will be no other. Rings when nothing is left."""
        self._is_over = True
        left, errand = ThreadEvent(), self.leave()
        if errand is None:
            self.gone().when_rung(left.ring)
        else:
            errand.done.when_rung(lambda: self.gone().when_rung(left.ring))
        return left

    def gone(self) -> ThreadEvent:
        """Rings when nothing is left of the stays that have ended."""
        if self.is_of_a_parent:
            return rung()
        return self._left.down if self._left is not None else rung()

    @property
    def is_of_a_parent(self) -> bool:
        """Whether this process was forked from the one that used it."""
        return self._used_after is not None and is_of_a_parent(self._used_after)

    def _claim(self) -> None:
        if self._used_after is None:
            self._used_after = forks_so_far()
        refuse_a_parents(self._used_after)

    @property
    def _is_leaving(self) -> bool:
        """Whether the main thread is about to be told to leave: then it waits for that.

        What it called was ended for the shutdown; its own code is not to take that for a failure.
        """
        return self._is_over and threading.current_thread() is threading.main_thread()

    def _enter(self, wish: Wish) -> tuple[_Stay, Callable[[], None]]:
        """A stay for one more call, and what is to be called at its end."""
        with self._lock:
            if self._stay is None:
                room = EngineAvatar(wish, self._emitter, self._previous)
                self._stay = _Stay(room, self._landlord.borrow())
            stay, number = self._stay, next(self._numbers)
            stay.calls.add(number)
        return stay, partial(self._called, stay, number)

    def _called(self, stay: _Stay, number: int) -> None:
        """A call has ended; if nothing came of the stay, it ends too."""
        with self._lock:
            stay.calls.discard(number)
            if stay.calls or stay is not self._stay or not stay.room.is_empty:
                return
            self._stay = None
        self._vacate(stay)

    def _vacate(self, stay: _Stay) -> None:
        stay.room.closed.ring()
        if self._landlord.give_back(stay.thread):
            self._left = stay.thread
            stay.thread.stop_nowait()


async def _nothing() -> None:
    return None


R = TypeVar("R")


class Reception:
    """Knows which avatar is wished, and sends what is to be done with it to the room."""

    def __init__(self, wish: Wish, tenancy: Tenancy) -> None:
        self.wish = wish
        self._tenancy = tenancy

    def start(self) -> PortalCall[Avatar]:
        """Start the avatar."""
        return self._send(EngineAvatar.start)

    def chat(self, message: str, options: PromptOptions) -> PortalCall[BridgeResponse]:
        """One prompt, to its answer."""
        return self._send(lambda room, inside: room.chat(message, options, inside))

    def use(self, work: Callable[[Avatar], Awaitable[T]]) -> PortalCall[T]:
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

    def _send(self, work: Callable[[EngineAvatar, RuntimeContext], Awaitable[T]]) -> PortalCall[T]:
        return self._tenancy.send(self.wish, work)

    def _stream(
        self, source: Callable[[EngineAvatar, RuntimeContext, BatchSlot[T]], Awaitable[R]]
    ) -> HostStream[T, R]:
        def open_source(hatch: BatchSlot[T]) -> PortalCall[R]:
            return self._send(lambda room, inside: source(room, inside, hatch))

        return HostStream(open_source, self._tenancy.gone)
