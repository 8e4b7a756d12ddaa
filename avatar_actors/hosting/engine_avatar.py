"""An engine's stay in a runtime's thread: it begins with a call and ends with the engine's stop."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from avatar_actors.avatar.handle import Avatar
from avatar_actors.hosting.bell import Bell, rung
from avatar_actors.hosting.forking import forks_so_far, is_of_a_parent, refuse_a_parents
from avatar_actors.hosting.handlers import EventEmitter
from avatar_actors.hosting.landlords import Landlord
from avatar_actors.hosting.portal import Errand, Parked
from avatar_actors.hosting.room import Room, Wish
from avatar_actors.hosting.runtime_thread import Inside, RuntimeThread
from avatar_actors.model.errors import AvatarDown, AvatarError
from avatar_actors.model.values import Message

T = TypeVar("T")


class _Stay:
    def __init__(self, room: Room, thread: RuntimeThread) -> None:
        self.room, self.thread = room, thread
        self.calls: set[int] = set()


class Tenancy:
    """Any thread may call. A stay in which no avatar could be started ends by itself."""

    def __init__(self, landlord: Landlord, emitter: EventEmitter) -> None:
        self._landlord, self._emitter = landlord, emitter
        self._lock = threading.Lock()
        self._stay: _Stay | None = None
        self._previous: Bell | None = None
        self._left: RuntimeThread | None = None
        self._is_over = False
        # Set by the first call: an engine that was only made before a fork can be used after it.
        self._used_after: int | None = None
        self._numbers = itertools.count(1)

    @property
    def room(self) -> Room | None:
        """The present room."""
        stay = self._stay
        return stay.room if stay is not None else None

    def history(self) -> tuple[Message, ...]:
        """What was said in this stay."""
        room = self.room
        return room.history if room is not None else ()

    def send(self, wish: Wish, work: Callable[[Room, Inside], Awaitable[T]]) -> Errand[T]:
        """Have this done in the room, which is taken if there is none."""
        self._claim()
        if self._is_leaving:
            return Parked()
        if self._is_over:
            raise AvatarDown("the program is being stopped; the engine takes no more calls")
        stay, end = self._enter(wish)

        async def call(inside: Inside) -> T:
            # Ended here and not when the caller knows: by then nothing more may happen.
            try:
                return await work(stay.room, inside)
            finally:
                end()

        errand = stay.thread.send(call)
        errand.done.when_rung(end)  # one that could not be run
        return errand

    async def wait(self, errand: Errand[T]) -> T:
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

    def wait_sync(self, errand: Errand[T]) -> T:
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

    def look(self, work: Callable[[Avatar], Awaitable[T]]) -> Errand[T | None]:
        """Do this with the avatar if there is one; no room is taken for it."""
        self._claim()
        stay = self._stay
        if stay is not None:
            return stay.thread.send(partial(stay.room.look, work))
        errand: Errand[T | None] = Errand(_nothing)
        errand.succeed(None)
        return errand

    def forget(self) -> None:
        """Clear the history."""
        room = self.room
        if room is not None:
            self.look(Avatar.clear_history).wait_sync()
            room.history = ()

    def leave(self) -> Errand[None] | None:
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

    def close_for_good(self) -> Bell:
        """End the stay; there will be no other. Rings when nothing is left."""
        self._is_over = True
        left, errand = Bell(), self.leave()
        if errand is None:
            self.gone().when_rung(left.ring)
        else:
            errand.done.when_rung(lambda: self.gone().when_rung(left.ring))
        return left

    def gone(self) -> Bell:
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
                room = Room(wish, self._emitter, self._previous)
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
