"""What is left over while a runtime lives on, after all faults or after those of one kind."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import trio
from msgspec import Struct

from avatar_actors import AvatarDown, HealthStatus, Timeouts
from avatar_actors.chaos.load import PATIENCE
from avatar_actors.chaos.oracle.event_recorder import UP
from avatar_actors.chaos.oracle.leftovers import (
    Inventory,
    Leftovers,
    difference,
    inventory,
    settled,
    steady,
)
from avatar_actors.chaos.report.statistics import Histogram
from avatar_actors.chaos.slot import RunContext, Slot

_LOOK = 0.1


class Alone(Struct, frozen=True, kw_only=True):
    """Of the slice of one kind. `p99`: of siblings' `answers`, in seconds; None of nothing.

    `disturbed`: siblings that had another outcome than they should. `left`: what there was more
    than before the slice.
    """

    dead_letters: int
    disturbed: int
    answers: int
    p99: float | None
    left: Leftovers


class LeakCheck:
    """Counts when nobody asks: before the first question and after the last, and between slices.

    What is there after a slice is what the next is held against.
    """

    def __init__(self, house: RunContext, stages: Sequence[Slot]) -> None:
        self._house, self._stages = house, stages
        self._first: Inventory | None = None
        self._there: Inventory | None = None
        self._dead_letters = self._disturbed = 0

    async def before_questions(self) -> None:
        """All are up, and nobody was asked anything yet."""
        self._first = await self._look()

    async def after_questions(self) -> Leftovers:
        """What there is more than then, with all up again."""
        assert self._first is not None
        async with self._rest():
            return difference(self._first, await settled(self._first, self._look))

    async def of_peace(self) -> None:
        """Before the first slice."""
        patience = self._house.options.get("timeouts", Timeouts()).interrupt
        async with self._rest():
            # A cancelled turn has a task that waits so long, whether the agent was deaf or not.
            self._there = await steady(self._look, patience + _LOOK)
        self._begin()

    async def of_slice(self) -> Alone:
        """What came since the last survey."""
        before = self._there
        assert before is not None
        async with self._rest():
            self._there = await settled(before, self._look)
        tally = self._house.tally
        found = Alone(
            dead_letters=self._house.runtime.dead_letters - self._dead_letters,
            disturbed=tally.disturbed - self._disturbed,
            answers=tally.in_slice.total,
            p99=tally.in_slice.percentile(99),
            left=difference(before, self._there),
        )
        self._begin()
        return found

    def _begin(self) -> None:
        """Before anybody asks again."""
        tally = self._house.tally
        self._dead_letters, self._disturbed = self._house.runtime.dead_letters, tally.disturbed
        tally.in_slice = Histogram()

    @asynccontextmanager
    async def _rest(self) -> AsyncGenerator[None]:
        """Every question has its outcome, every place its agent, and no other is asked."""
        async with AsyncExitStack() as locks:
            for stage in self._stages:
                await locks.enter_async_context(stage.player.asking)
            with trio.move_on_after(PATIENCE):
                await self._until_up()
            yield

    async def _until_up(self) -> None:
        while True:
            healths = await self._healths()
            if all(health.state in UP for health in healths):
                return
            await trio.sleep(_LOOK)

    async def _look(self) -> Inventory:
        pids = (health.pid for health in await self._healths())
        agents = frozenset(pid for pid in pids if pid is not None)
        return inventory(self._house.run, self._house.wardens, agents)

    async def _healths(self) -> list[HealthStatus]:
        """Asked anew for each look: who starts late has another pid than before."""
        healths: list[HealthStatus] = []
        for stage in self._stages:
            with suppress(AvatarDown):  # it gave up; its player will see that, and replace it
                healths.append(await stage.avatar.health())
        return healths
