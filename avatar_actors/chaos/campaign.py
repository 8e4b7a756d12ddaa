"""Plans the faults for the chosen agents and injects each at its time, slice by slice."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import IO

import msgspec
import trio
from msgspec import Struct

from avatar_actors import AvatarOptions, Provider, SettingsError
from avatar_actors.chaos.faults.injector import inject
from avatar_actors.chaos.faults.kinds import FaultKind, possible
from avatar_actors.chaos.faults.schedule import ChaosOptions, PlannedFault, Slice, schedule
from avatar_actors.chaos.leak_check import Alone, LeakCheck
from avatar_actors.chaos.report.samples import Effort, effort
from avatar_actors.chaos.slot import Slot
from avatar_actors.providers.registry import provider_named

SCRIPTED = "embedded"


class ChaosAgents(Struct, frozen=True, kw_only=True):
    """The agents under test: a provider and the options for each of its avatars."""

    provider: str | Provider = SCRIPTED
    options: AvatarOptions = {}

    @property
    def kind(self) -> Provider:
        """The provider."""
        named = self.provider
        return provider_named(named) if isinstance(named, str) else named

    @property
    def plays_scripts(self) -> bool:
        """Whether the agent plays scripts."""
        return self.kind.name == SCRIPTED


def plan_of(options: ChaosOptions, agents: ChaosAgents) -> tuple[PlannedFault, ...]:
    """The schedule for these options; raises SettingsError if no kind of fault is possible."""
    kinds = possible(options.kinds, plays_scripts=agents.plays_scripts)
    if not kinds:
        names = ", ".join(kind.value for kind in options.kinds)
        raise SettingsError(
            f"{agents.kind.name} plays no scripts, without which there is no {names}"
        )
    return schedule(options, kinds)


def left_out(options: ChaosOptions, agents: ChaosAgents) -> tuple[FaultKind, ...]:
    """The requested kinds of faults, or all, that this agent cannot play."""
    can = possible(options.kinds, plays_scripts=agents.plays_scripts)
    return tuple(kind for kind in options.kinds or FaultKind if kind not in can)


class FaultClock:
    """Time under faults; paused while leaks are checked.

    `began` is its zero on the monotonic clock, which moves on with every pause.
    """

    def __init__(self) -> None:
        self.began = time.monotonic()
        self._effort = effort()

    @property
    def now(self) -> float:
        """Seconds since the faults began, without pauses."""
        return time.monotonic() - self.began

    @property
    def effort(self) -> Effort:
        """How much the host has worked in that time."""
        return effort() - self._effort

    async def until(self, seconds: float) -> None:
        """Waits until the clock shows this."""
        await trio.sleep(max(0.0, seconds - self.now))

    @contextmanager
    def standing_still(self) -> Generator[None]:
        """Pauses the clock and the measured effort."""
        now, done = self.now, self.effort
        try:
            yield
        finally:
            self.began, self._effort = time.monotonic() - now, effort() - done


class Campaign:
    """Injects the faults of every slice, and tells how far it is.

    `alone` holds what each kind did that had a slice of its own.
    """

    def __init__(self, parts: Sequence[Slice]) -> None:
        self.alone: dict[FaultKind, Alone] = {}
        self.phase, self.kind, self.last = "faults", "", ""
        self.done = self.missed = 0
        self.clock = FaultClock()
        self._parts = parts
        self._late, self._end = 0.0, 0.0

    @property
    def seconds(self) -> float:
        """The position in the schedule, whatever faults took beyond their slices."""
        return min(self.clock.now - self._late, self._end)

    async def run(self, slots: Sequence[Slot], leak_check: LeakCheck, records: IO[bytes]) -> None:
        """Runs every slice; after one of a single kind, checks what it has left."""
        self.clock = FaultClock()
        for part in self._parts:
            await self._inject_all(part, slots, records)
            if part.kind is not None:
                self.phase = "looking around"
                with self.clock.standing_still():
                    self.alone[part.kind] = await leak_check.of_slice()

    async def _inject_all(self, part: Slice, slots: Sequence[Slot], records: IO[bytes]) -> None:
        """Starts each fault at its time and waits for the last one to end."""
        self.phase, self.kind = "faults", "" if part.kind is None else part.kind.value
        self._late, self._end = max(0.0, self.clock.now - part.begin), part.end
        async with trio.open_nursery() as nursery:
            for fault in part.faults:
                await self.clock.until(fault.at + self._late)
                nursery.start_soon(self._inject, fault, slots[fault.avatar], records)
            await self.clock.until(part.end + self._late)

    async def _inject(self, fault: PlannedFault, slot: Slot, records: IO[bytes]) -> None:
        record = await inject(slot, fault, self.clock.began)
        # To a file: what is kept in memory would look like a leak of what is measured.
        records.write(msgspec.json.encode(record) + b"\n")
        self.done += 1
        self.missed += not record.is_landed
        self.last = f"{fault.kind.value} on a{fault.avatar}: {record.proof}"
