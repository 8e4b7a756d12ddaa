"""Which faults are planned for which agents, and each at its time, slice by slice."""

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
from avatar_actors.chaos.faults.kinds import FaultKind, Needs, possible
from avatar_actors.chaos.faults.schedule import PlannedFault, ScheduleWish, Slice, schedule
from avatar_actors.chaos.oracle.leak_check import Alone, LeakCheck
from avatar_actors.chaos.report.report import ChaosOptions
from avatar_actors.chaos.report.samples import Effort, effort
from avatar_actors.chaos.slot import Slot
from avatar_actors.providers.registry import provider_named

SCRIPTED = "embedded"


class ChaosAgents(Struct, frozen=True, kw_only=True):
    """Who is tried: a provider and the options for each of its avatars."""

    provider: str | Provider = SCRIPTED
    options: AvatarOptions = {}

    @property
    def kind(self) -> Provider:
        """The provider itself."""
        named = self.provider
        return provider_named(named) if isinstance(named, str) else named

    @property
    def needs(self) -> Needs:
        """What it can play."""
        return Needs.SCRIPT if self.kind.name == SCRIPTED else Needs.NOTHING


def plan_of(options: ChaosOptions, cast: ChaosAgents) -> tuple[PlannedFault, ...]:
    """The schedule of these options for this provider; a SettingsError if it can suffer none."""
    kinds = possible(options.kinds, cast.needs)
    if not kinds:
        names = ", ".join(kind.value for kind in options.kinds)
        raise SettingsError(f"{cast.kind.name} plays no scripts, without which there is no {names}")
    wish = ScheduleWish(
        seed=options.seed,
        seconds=options.seconds,
        every=options.every,
        avatars=options.avatars,
        kinds=kinds,
        order=options.order,
    )
    return schedule(wish)


def left_out(options: ChaosOptions, cast: ChaosAgents) -> tuple[FaultKind, ...]:
    """The kinds that were wished, or all, without those that it can play."""
    can = possible(options.kinds, cast.needs)
    return tuple(kind for kind in options.kinds or FaultKind if kind not in can)


class FaultClock:
    """`began`: where 0 is, on the system's monotonic clock; it moves on with every rest."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self._effort = effort()

    @property
    def now(self) -> float:
        """Seconds since the faults began, without rests."""
        return time.monotonic() - self.began

    @property
    def effort(self) -> Effort:
        """What the host did in these seconds."""
        return effort() - self._effort

    async def until(self, seconds: float) -> None:
        """Until it shows this, if it does not yet."""
        await trio.sleep(max(0.0, seconds - self.now))

    @contextmanager
    def standing_still(self) -> Generator[None]:
        """What happens inside takes no time, and no effort."""
        now, done = self.now, self.effort
        try:
            yield
        finally:
            self.began, self._effort = time.monotonic() - now, effort() - done


class Campaign:
    """`alone`: what each kind did that had a slice of its own, to its end.

    `phase`, `kind`, `done`, `missed` and `last` tell how far it is.
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
        """How far it is in its schedule, whatever the faults took beyond their slices."""
        return min(self.clock.now - self._late, self._end)

    async def run(self, stages: Sequence[Slot], survey: LeakCheck, records: IO[bytes]) -> None:
        """To its end; the one slice of a mixed run is surveyed by who looks for what is left."""
        self.clock = FaultClock()
        for part in self._parts:
            await self._inject_all(part, stages, records)
            if part.kind is not None:
                self.phase = "looking around"
                with self.clock.standing_still():
                    self.alone[part.kind] = await survey.of_slice()

    async def _inject_all(self, part: Slice, stages: Sequence[Slot], records: IO[bytes]) -> None:
        """Each at its time, side by side; and until the last has been dealt with."""
        self.phase, self.kind = "faults", "" if part.kind is None else part.kind.value
        self._late, self._end = max(0.0, self.clock.now - part.begin), part.end
        async with trio.open_nursery() as nursery:
            for fault in part.faults:
                await self.clock.until(fault.at + self._late)
                nursery.start_soon(self._inject, fault, stages[fault.avatar], records)
            await self.clock.until(part.end + self._late)

    async def _inject(self, fault: PlannedFault, stage: Slot, records: IO[bytes]) -> None:
        record = await inject(stage, fault, self.clock.began)
        # To a file: what is kept in memory would look like a leak of what is measured.
        records.write(msgspec.json.encode(record) + b"\n")
        self.done += 1
        self.missed += not record.is_landed
        self.last = f"{fault.kind.value} on a{fault.avatar}: {record.proof}"
