"""Errors in this process, raised in actors through the public API, and a lack of descriptors.

A host may pass any Provider and any EventStream of its own. These behave until an error is set;
then they raise in the actor that calls them. Nothing of the product knows about it.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final, TypeVar

import msgspec
import trio

from avatar_actors import AvatarEvent, AvatarSettings, EventStream, LaunchPlan, Place, Provider
from avatar_actors.wire.commands import Command
from avatar_actors.wire.facts import Fact
from avatar_actors.wire.wire import Wire

# Whatever is written to it fails with the kernel's own ENOSPC, for every user.
_FULL_DISK: Final = Path("/dev/full")
_FULL_FILE: Final = "chaos-full-disk"
# So large that nothing is ever merged: the recorder sees every event by itself.
_EVERYTHING: Final = 10**6


class ChaosError(Exception):
    """An error that is raised on purpose."""


class InjectedErrors:
    """The errors to raise next; an empty text, 0 and False mean none. `said`: the last one."""

    def __init__(self) -> None:
        self.in_wire = ""
        self.in_tracker = ""
        self.said = ""
        self.said_at = 0.0
        self.in_start = ""
        self.starts_to_fail = 0
        self.starts_failed = 0
        self.is_disk_full = False

    def raise_in_wire(self) -> None:
        """Raises the error for the wire, if one is set."""
        words, self.in_wire = self.in_wire, ""
        self._raise(words)

    def raise_in_tracker(self) -> None:
        """Raises the error for the event stream, if one is set."""
        words, self.in_tracker = self.in_tracker, ""
        self._raise(words)

    def _raise(self, words: str) -> None:
        if words:
            self.said, self.said_at = words, time.monotonic()
            raise ChaosError(words)

    def fail_start(self, plan: LaunchPlan, place: Place) -> LaunchPlan:
        """Raises, or adds a file that cannot be written, if that is set."""
        if self.starts_to_fail:
            self.starts_to_fail -= 1
            self.starts_failed += 1
            raise ChaosError(self.in_start)
        if not self.is_disk_full:
            return plan
        full = place.private_dir / _FULL_FILE
        full.unlink(missing_ok=True)
        full.symlink_to(_FULL_DISK)
        return msgspec.structs.replace(plan, files={**plan.files, _FULL_FILE: "x" * 8})


def with_injected_errors(provider: Provider, errors: InjectedErrors) -> Provider:
    """The same provider, with these errors in its plan and its wire."""

    def plan(settings: AvatarSettings, place: Place) -> LaunchPlan:
        return errors.fail_start(provider.plan(settings, place), place)

    def wire(settings: AvatarSettings) -> Wire:
        return FaultyWire(provider.wire(settings), errors)

    return msgspec.structs.replace(provider, plan=plan, wire=wire)


class FaultyWire:
    """A wire that raises on receipt when an error is set."""

    def __init__(self, wire: Wire, errors: InjectedErrors) -> None:
        self._wire, self._errors = wire, errors

    def command(self, command: Command) -> list[Fact]:
        """Passes through."""
        return self._wire.command(command)

    def receive(self, data: bytes) -> list[Fact]:
        """Raises the error if one is set, else passes through."""
        self._errors.raise_in_wire()
        return self._wire.receive(data)

    def end_of_stream(self) -> list[Fact]:
        """Passes through."""
        return self._wire.end_of_stream()

    def data_to_send(self) -> bytes:
        """Passes through."""
        return self._wire.data_to_send()


class FaultyStream(EventStream):
    """An event stream that raises in the activity tracker when an error is set."""

    def __init__(self, errors: InjectedErrors) -> None:
        super().__init__(capacity=_EVERYTHING)
        self._errors = errors

    def push(self, events: Sequence[AvatarEvent]) -> None:
        """Raises the error if one is set, else passes through."""
        self._errors.raise_in_tracker()
        super().push(events)


def has_full_disk() -> bool:
    """Whether this system has /dev/full."""
    return os.access(_FULL_DISK, os.W_OK)


_PRESS = 0.005
_LOOKS = 2

R = TypeVar("R")


class Shortage:
    """A lack of descriptors; others wait, or they would take an unreadable /proc for "gone"."""

    def __init__(self) -> None:
        self._lock = trio.Lock()
        self._is_over = trio.Event()
        self._is_over.set()
        self._looks = trio.CapacityLimiter(_LOOKS)

    async def over(self) -> None:
        """Waits until descriptors are available; they are until the next checkpoint."""
        while not self._is_over.is_set():
            await self._is_over.wait()

    async def look(self, work: Callable[[], R]) -> R:
        """Runs this in a thread while no shortage can begin."""
        async with self._looks:
            return await trio.to_thread.run_sync(work)

    @asynccontextmanager
    async def of_descriptors(self) -> AsyncGenerator[None]:
        """Allows no new descriptor inside, not even those that other code closes."""
        async with self._lock, AsyncExitStack() as looks:
            for place in range(_LOOKS):
                await self._looks.acquire_on_behalf_of(place)
                looks.callback(self._looks.release_on_behalf_of, place)
            before = resource.getrlimit(resource.RLIMIT_NOFILE)
            self._is_over = trio.Event()
            try:
                async with trio.open_nursery() as nursery:
                    _press(before[1])
                    nursery.start_soon(_keep_pressing, before[1])
                    yield
                    nursery.cancel_scope.cancel()
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, before)
                self._is_over.set()


async def _keep_pressing(hard: int) -> None:
    while True:
        await trio.sleep(_PRESS)
        _press(hard)


def _press(hard: int) -> None:
    try:
        lowest = os.dup(2)
    except OSError:
        return
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
