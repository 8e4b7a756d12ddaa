"""How long there was fire: a clock that stands still while everybody rests."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager

import trio

from avatar_actors.chaos.report.samples import Effort, effort


class FireClock:
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
