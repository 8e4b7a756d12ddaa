"""The faults, slice by slice, each at its time; and the survey after the slice of a kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

import msgspec
import trio

from avatar_actors.chaos.faults.injector import inject
from avatar_actors.chaos.faults.kinds import FaultKind
from avatar_actors.chaos.faults.schedule import PlannedFault, Slice
from avatar_actors.chaos.fire_clock import FireClock
from avatar_actors.chaos.oracle.leak_check import Alone, Survey
from avatar_actors.chaos.slot import Stage


class Campaign:
    """`alone`: what each kind did that had a slice of its own, to its end.

    `phase`, `kind`, `done`, `missed` and `last` tell how far it is.
    """

    def __init__(self, parts: Sequence[Slice]) -> None:
        self.alone: dict[FaultKind, Alone] = {}
        self.phase, self.kind, self.last = "faults", "", ""
        self.done = self.missed = 0
        self.clock = FireClock()
        self._parts = parts
        self._late, self._end = 0.0, 0.0

    @property
    def seconds(self) -> float:
        """How far it is in its schedule, whatever the faults took beyond their slices."""
        return min(self.clock.now - self._late, self._end)

    async def run(self, stages: Sequence[Stage], survey: Survey, records: IO[bytes]) -> None:
        """To its end; the one slice of a mixed run is surveyed by who looks for what is left."""
        self.clock = FireClock()
        for part in self._parts:
            await self._inject_all(part, stages, records)
            if part.kind is not None:
                self.phase = "looking around"
                with self.clock.standing_still():
                    self.alone[part.kind] = await survey.of_slice()

    async def _inject_all(self, part: Slice, stages: Sequence[Stage], records: IO[bytes]) -> None:
        """Each at its time, side by side; and until the last has been dealt with."""
        self.phase, self.kind = "faults", "" if part.kind is None else part.kind.value
        self._late, self._end = max(0.0, self.clock.now - part.begin), part.end
        async with trio.open_nursery() as nursery:
            for fault in part.faults:
                await self.clock.until(fault.at + self._late)
                nursery.start_soon(self._inject, fault, stages[fault.avatar], records)
            await self.clock.until(part.end + self._late)

    async def _inject(self, fault: PlannedFault, stage: Stage, records: IO[bytes]) -> None:
        record = await inject(stage, fault, self.clock.began)
        # To a file: what is kept in memory would look like a leak of what is measured.
        records.write(msgspec.json.encode(record) + b"\n")
        self.done += 1
        self.missed += not record.is_landed
        self.last = f"{fault.kind.value} on a{fault.avatar}: {record.proof}"
