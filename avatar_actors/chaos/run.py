"""One run: avatars under load, a while of peace, the faults, the end, and what is left."""

from __future__ import annotations

import os
import platform
import secrets
import signal
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TypeAlias

import msgspec
import trio

from avatar_actors import (
    Restarts,
    Runtime,
    Timeouts,
    __version__,
    open_runtime,
)
from avatar_actors.chaos.campaign import Campaign, ChaosAgents, left_out, plan_of
from avatar_actors.chaos.counters import Prompts, RunCounters, RunProgress
from avatar_actors.chaos.faults.injector import FaultRecord
from avatar_actors.chaos.faults.kinds import Needs
from avatar_actors.chaos.faults.schedule import FaultOrder, PlannedFault, slices
from avatar_actors.chaos.faults.shortage import Shortage
from avatar_actors.chaos.oracle.leak_check import LeakCheck
from avatar_actors.chaos.oracle.leftovers import (
    NOTHING_LEFT,
    Inventory,
    difference,
    inventory,
    settled,
)
from avatar_actors.chaos.oracle.process_view import Wardens
from avatar_actors.chaos.report.report import ChaosOptions, ChaosReport
from avatar_actors.chaos.report.samples import Effort, Sampler
from avatar_actors.chaos.report.verdict import Evidence, judged
from avatar_actors.chaos.slot import RunContext, Slot, open_all

# As often as the schedule likes, each after the same short pause, in which faults can fall too.
_RESTARTS = Restarts(max_restarts=1_000_000, period=1.0, first_delay=0.05, factor=1.0)
_TIMEOUTS = Timeouts(start=30, interrupt=2.0, stop=1.0)
# Prompts per second of all avatars together, and of one at most.
_RATE, _FASTEST = 100.0, 0.1
# Seconds between two questions to an agent with a model, whose answers cost something.
_GENTLE = 2.0
# Little is remembered, so that what is remembered is soon as much as it will ever be.
_HISTORY = 20
_TELL_EVERY = 0.25
# Seconds that are sampled beyond those of the faults, for each slice.
_LONGEST_REST = 15.0


Tell: TypeAlias = Callable[[RunProgress], None]


async def run_chaos(
    options: ChaosOptions,
    cast: ChaosAgents,
    tell: Tell,
    planned: Sequence[PlannedFault] | None = None,
) -> ChaosReport:
    """Run it to its end, or to the first SIGINT or SIGTERM; nothing of it is left afterwards."""
    faults = tuple(plan_of(options, cast) if planned is None else planned)
    with tempfile.TemporaryDirectory(prefix="avatar-chaos-") as home:
        async with trio.open_nursery() as nursery:
            run = _ChaosRun(options, cast, faults, Path(home))
            nursery.start_soon(_heed_signals, run)
            nursery.start_soon(run.keep_telling, tell)
            evidence = await run.go()
            nursery.cancel_scope.cancel()
    return judged(evidence)


async def _heed_signals(run: _ChaosRun) -> None:
    """The first ends the run in order, the second at once."""
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            if not run.is_complete:
                raise KeyboardInterrupt
            run.interrupt()


class _ChaosRun:
    def __init__(
        self,
        options: ChaosOptions,
        cast: ChaosAgents,
        faults: tuple[PlannedFault, ...],
        home: Path,
    ) -> None:
        self._options, self._cast, self._faults = options, cast, faults
        self._home = home
        self._name = secrets.token_hex(8)
        self._tally = RunCounters()
        self._shortage = Shortage()
        self._wardens = Wardens()
        parts = slices(faults, options.order, options.seconds)
        self._campaign = Campaign(parts)
        self._sampler = Sampler(options.seconds + _LONGEST_REST * len(parts))
        self._stages: list[Slot] = []
        self._scope = trio.CancelScope()
        self._took = 0.0
        self._effort = Effort()
        self._dead_letters = 0
        self._grown = NOTHING_LEFT
        self._phase = "starting"
        self.is_complete = True

    def interrupt(self) -> None:
        """No more faults: end in order, and report what there is."""
        self.is_complete = False
        for stage in self._stages:
            stage.player.finish()
        self._scope.cancel()

    async def go(self) -> Evidence:
        """All phases."""
        before = await self._look()
        spool = self._home / "faults"
        with spool.open("wb", buffering=0) as records:
            async with open_runtime() as runtime:
                try:
                    await self._play(runtime, records)
                finally:
                    self._phase = "stopping"
        self._phase = "looking for what is left"
        return await self._evidence(spool, before)

    async def _play(self, runtime: Runtime, records: IO[bytes]) -> None:
        # The witnesses end by themselves, with their avatars.
        async with trio.open_nursery() as witnesses:
            house = self._house(runtime, witnesses)
            self._stages = [Slot(number, house) for number in range(self._options.avatars)]
            survey = LeakCheck(house, self._stages)
            async with trio.open_nursery() as players:
                with self._scope:
                    await open_all(self._stages)
                    await survey.before_questions()
                    for stage in self._stages:
                        players.start_soon(stage.play)
                    self._phase = "baseline"
                    await trio.sleep(_baseline(self._options))
                    await self._inject_all(house, survey, records)
                self._took, self._effort = self._campaign.clock.now, self._campaign.clock.effort
                self._phase = "stopping"
                for stage in self._stages:
                    stage.player.finish()
            self._dead_letters = runtime.dead_letters - self._dead_letters
            if self.is_complete:
                self._grown = await survey.after_questions()
            async with trio.open_nursery() as nursery:
                for stage in self._stages:
                    nursery.start_soon(stage.stop)

    def _house(self, runtime: Runtime, witnesses: trio.Nursery) -> RunContext:
        options = self._cast.options.copy()
        is_scripted = self._cast.needs is Needs.SCRIPT
        options["restarts"] = _RESTARTS
        options.setdefault("max_history", _HISTORY)
        options.setdefault("working_dir", self._home)
        if is_scripted:
            options["timeouts"] = _TIMEOUTS
            options["env"] = {**options.get("env", {}), "AVATAR_EMBEDDED_HOME": str(self._home)}
            options["options"] = {**options.get("options", {}), "scripts": "true"}
        return RunContext(
            run=self._name,
            home=self._home,
            runtime=runtime,
            nursery=witnesses,
            provider=self._cast.kind,
            options=options,
            tally=self._tally,
            shortage=self._shortage,
            wardens=self._wardens,
            one_warden=trio.Lock(),
            seed=self._options.seed,
            pause=max(_FASTEST if is_scripted else _GENTLE, self._options.avatars / _RATE),
            plays_scripts=is_scripted,
        )

    def _begin(self, runtime: Runtime) -> None:
        self._phase = "faults"
        self._tally.is_baseline, self._tally.restarts = False, 0
        self._dead_letters = runtime.dead_letters
        for stage in self._stages:
            stage.witness.down_seconds = 0.0

    async def _inject_all(self, house: RunContext, survey: LeakCheck, records: IO[bytes]) -> None:
        async with trio.open_nursery() as sampling:
            sampling.start_soon(self._sampler.run, self._tally, self._shortage)
            if self._options.order is FaultOrder.BY_KIND:
                await survey.of_peace()
            self._begin(house.runtime)
            await self._campaign.run(self._stages, survey, records)
            sampling.cancel_scope.cancel()

    async def _look(self) -> Inventory:
        """Before there is any avatar, and after."""
        return inventory(self._name, self._wardens)

    async def _evidence(self, spool: Path, before: Inventory) -> Evidence:
        after = await settled(before, self._look)
        return Evidence(
            options=self._options,
            machine=_machine(),
            schedule=self._faults,
            left_out=left_out(self._options, self._cast),
            faults=_records(spool),
            prompts=tuple(stage.player.prompts for stage in self._stages),
            breaches=tuple(stage.witness.breaches for stage in self._stages),
            down_seconds=sum(stage.witness.down_seconds for stage in self._stages),
            tally=self._tally,
            dead_letters=self._dead_letters,
            effort=self._effort,
            samples=self._sampler.taken(),
            remains=difference(before, after) | self._grown,
            alone=self._campaign.alone,
            seconds=self._took,
            is_complete=self.is_complete,
        )

    async def keep_telling(self, tell: Tell) -> None:
        """How far it is, several times a second."""
        while True:
            tell(self._progress())
            await trio.sleep(_TELL_EVERY)

    def _progress(self) -> RunProgress:
        campaign, is_on = self._campaign, self._phase == "faults"
        return RunProgress(
            phase=campaign.phase if is_on else self._phase,
            kind=campaign.kind if is_on else "",
            seconds=campaign.seconds if is_on else 0.0,
            total=self._options.seconds,
            faults=campaign.done,
            planned=len(self._faults),
            missed=campaign.missed,
            restarts=self._tally.restarts,
            breaches=sum(stage.witness.breaches.total for stage in self._stages),
            prompts=sum((stage.player.prompts for stage in self._stages), Prompts()),
            last=campaign.last,
        )


def _records(spool: Path) -> tuple[FaultRecord, ...]:
    lines = spool.read_bytes().splitlines()
    return tuple(msgspec.json.decode(line, type=FaultRecord) for line in lines)


def _baseline(options: ChaosOptions) -> float:
    return min(30.0, max(1.0, options.seconds / 10))


def _machine() -> str:
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    versions = f"avatar-actors {__version__}, Python {platform.python_version()}"
    return f"{versions}, trio {trio.__version__}, {system}, load {os.getloadavg()[0]:.1f}"
