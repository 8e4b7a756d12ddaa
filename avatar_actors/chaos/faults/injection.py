"""What a fault is aimed at, and what it returns: when it landed, and the proof."""

from __future__ import annotations

import signal
import time
from typing import NoReturn

import trio
from msgspec import Struct

from avatar_actors.chaos.faults.schedule import PlannedFault
from avatar_actors.chaos.load import PromptOutcome
from avatar_actors.chaos.process_view import ProcessSeen
from avatar_actors.chaos.slot import Slot

_LOOK = 0.003


class Landing(Struct, frozen=True, kw_only=True):
    """`at`: the monotonic time of the fault; `frozen`: how long nothing could answer."""

    at: float
    proof: str
    frozen: float = 0.0


class NotLanded(Exception):
    """The fault came too late or found no process; another attempt may land."""


class FaultTarget(Struct, frozen=True):
    """A fault and the slot that it hits."""

    slot: Slot
    fault: PlannedFault

    @property
    def words(self) -> str:
        """A text that only this fault uses."""
        return f"chaos fault {self.fault.number}"

    async def hit(self, process: ProcessSeen, number: signal.Signals) -> float:
        """Sends the signal and gives the time; raises NotLanded if the process is gone."""
        await self.slot.context.shortage.over()
        at = time.monotonic()
        if not process.signal(number):
            miss(f"pid {process.pid} had gone")
        return at

    async def until_gone(self, *processes: ProcessSeen) -> None:
        """Waits until all of them are gone and reaped."""
        for process in processes:
            await self.until(process, "")

    async def until(self, process: ProcessSeen, *states: str) -> None:
        """Waits until the kernel shows one of these states; an empty one means gone."""
        while True:
            await self.slot.context.shortage.over()
            if process.state in states:
                return
            await trio.sleep(_LOOK)


def miss(words: str) -> NoReturn:
    """Raises NotLanded."""
    raise NotLanded(words)


def outcome_of(answer: PromptOutcome) -> str:
    """The outcome of a fault's prompt."""
    return answer.ended.outcome.value if answer.ended is not None else "refused"
