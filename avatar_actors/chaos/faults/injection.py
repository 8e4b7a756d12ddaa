"""What an injection gives: when the fault was there, and what proves it."""

from __future__ import annotations

import signal
import time
from typing import NoReturn

import trio
from msgspec import Struct

from avatar_actors.chaos.faults.schedule import PlannedFault
from avatar_actors.chaos.load import PromptOutcome
from avatar_actors.chaos.oracle.process_view import ProcessSeen
from avatar_actors.chaos.slot import Slot

_LOOK = 0.003


class Landing(Struct, frozen=True, kw_only=True):
    """`at`: the moment on the system's monotonic clock. `frozen`: so long nobody could answer."""

    at: float
    proof: str
    frozen: float = 0.0


class NotLanded(Exception):
    """It came too late, or found nobody: another attempt may hit."""


class FaultTarget(Struct, frozen=True):
    """A fault and the place that it is for."""

    stage: Slot
    fault: PlannedFault

    @property
    def words(self) -> str:
        """What only this fault says."""
        return f"chaos fault {self.fault.number}"

    async def hit(self, process: ProcessSeen, number: signal.Signals) -> float:
        """When the signal was given; it misses when there is nobody."""
        await self.stage.house.shortage.over()
        at = time.monotonic()
        if not process.signal(number):
            miss(f"pid {process.pid} had gone")
        return at

    async def until_gone(self, *processes: ProcessSeen) -> None:
        """Until none of them stands in the table, reaped."""
        for process in processes:
            await self.until(process, "")

    async def until(self, process: ProcessSeen, *states: str) -> None:
        """Until the kernel shows it in one of these states; empty: gone."""
        while True:
            await self.stage.house.shortage.over()
            if process.state in states:
                return
            await trio.sleep(_LOOK)


def miss(words: str) -> NoReturn:
    """It did not land."""
    raise NotLanded(words)


def outcome_of(answer: PromptOutcome) -> str:
    """How the question of a fault ended."""
    return answer.ended.outcome.value if answer.ended is not None else "refused"
