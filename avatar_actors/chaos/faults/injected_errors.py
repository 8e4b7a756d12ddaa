"""Ways into a living avatar that its public API offers: its provider, and its listener.

A host may give any Provider and any EventStream of its own. These do as they are told until a trap
is set; then they raise in the actor that calls them. Nothing of the product knows of it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from avatar_actors import AvatarEvent, AvatarSettings, EventStream, LaunchPlan, Place, Provider
from avatar_actors.wire.commands import Command
from avatar_actors.wire.facts import Fact
from avatar_actors.wire.wire import Wire

# Whatever is written to it fails with the kernel's own ENOSPC, for every user.
_FULL_DISK: Final = Path("/dev/full")
_FULL_FILE: Final = "chaos-full-disk"
# More than an avatar will ever be behind: so that its witness sees every event by itself.
_EVERYTHING: Final = 10**6


class ChaosError(Exception):
    """Raised on purpose, in somebody else's work."""


class InjectedErrors:
    """What is to go wrong next; an empty text, 0 and False: nothing. And what was `said`, when."""

    def __init__(self) -> None:
        self.in_wire = ""
        self.in_tracker = ""
        self.said = ""
        self.said_at = 0.0
        self.in_start = ""
        self.starts_to_fail = 0
        self.starts_failed = 0
        self.is_disk_full = False

    def spring_in_wire(self) -> None:
        """Raise if it is set."""
        words, self.in_wire = self.in_wire, ""
        self._raise(words)

    def spring_in_tracker(self) -> None:
        """Raise if it is set."""
        words, self.in_tracker = self.in_tracker, ""
        self._raise(words)

    def _raise(self, words: str) -> None:
        if words:
            self.said, self.said_at = words, time.monotonic()
            raise ChaosError(words)

    def spring_in_start(self, plan: LaunchPlan, place: Place) -> LaunchPlan:
        """Raise, or give a plan with a file that cannot be written, if it is set."""
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


def with_injected_errors(provider: Provider, trap: InjectedErrors) -> Provider:
    """The same agent, with these traps in its plan and its wire."""

    def plan(settings: AvatarSettings, place: Place) -> LaunchPlan:
        return trap.spring_in_start(provider.plan(settings, place), place)

    def wire(settings: AvatarSettings) -> Wire:
        return FaultyWire(provider.wire(settings), trap)

    return msgspec.structs.replace(provider, plan=plan, wire=wire)


class FaultyWire:
    """A wire that raises when bytes come and its trap is set."""

    def __init__(self, wire: Wire, trap: InjectedErrors) -> None:
        self._wire, self._trap = wire, trap

    def command(self, command: Command) -> list[Fact]:
        """As the wire."""
        return self._wire.command(command)

    def receive(self, data: bytes) -> list[Fact]:
        """As the wire, or not."""
        self._trap.spring_in_wire()
        return self._wire.receive(data)

    def end_of_stream(self) -> list[Fact]:
        """As the wire."""
        return self._wire.end_of_stream()

    def data_to_send(self) -> bytes:
        """As the wire."""
        return self._wire.data_to_send()


class FaultyStream(EventStream):
    """A listener that raises in the activity tracker when its trap is set."""

    def __init__(self, trap: InjectedErrors) -> None:
        super().__init__(capacity=_EVERYTHING)
        self._trap = trap

    def push(self, events: Sequence[AvatarEvent]) -> None:
        """As the stream, or not."""
        self._trap.spring_in_tracker()
        super().push(events)


def has_full_disk() -> bool:
    """Whether this system can play one."""
    return os.access(_FULL_DISK, os.W_OK)
