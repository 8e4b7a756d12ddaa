"""One run: starts avatars under load, measures a baseline, injects faults, stops, checks leaks."""

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
from msgspec import Struct, field

from avatar_actors import (
    Restarts,
    Runtime,
    Timeouts,
    __version__,
    open_runtime,
)
from avatar_actors.chaos.campaign import Campaign, ChaosAgents, left_out, plan_of
from avatar_actors.chaos.faults.injected_errors import Shortage
from avatar_actors.chaos.faults.injector import FaultRecord
from avatar_actors.chaos.faults.schedule import ChaosOptions, FaultOrder, PlannedFault, slices
from avatar_actors.chaos.leak_check import (
    NOTHING_LEFT,
    Inventory,
    LeakCheck,
    difference,
    inventory,
    settled,
)
from avatar_actors.chaos.process_view import Wardens
from avatar_actors.chaos.report.report import ChaosReport, Evidence, judged
from avatar_actors.chaos.report.samples import Effort, Sampler
from avatar_actors.chaos.report.statistics import Prompts, RunCounters
from avatar_actors.chaos.slot import RunContext, Slot, open_all

# As many as the schedule makes, each after the same short pause, in which faults can land too.
_RESTARTS = Restarts(max_restarts=1_000_000, period=1.0, first_delay=0.05, factor=1.0)
_TIMEOUTS = Timeouts(start=30, interrupt=2.0, stop=1.0)
# Prompts per second of all avatars together, and of one at most.
_RATE, _FASTEST = 100.0, 0.1
# Seconds between two prompts to an agent with a model, whose answers cost money.
_GENTLE = 2.0
# Short, so that the history soon reaches its full size.
_HISTORY = 20
_TELL_EVERY = 0.25
# Seconds that are sampled after the faults of each slice.
_LONGEST_REST = 15.0


class RunProgress(Struct, frozen=True, kw_only=True):
    """How far a run is. `kind` is that of the present slice, if it has one of its own."""

    phase: str
    kind: str = ""
    seconds: float = 0.0
    total: float = 0.0
    faults: int = 0
    planned: int = 0
    missed: int = 0
    restarts: int = 0
    breaches: int = 0
    prompts: Prompts = field(default_factory=Prompts)
    last: str = ""


Tell: TypeAlias = Callable[[RunProgress], None]


async def run_chaos(
    options: ChaosOptions,
    agents: ChaosAgents,
    tell: Tell,
    planned: Sequence[PlannedFault] | None = None,
) -> ChaosReport:
    """Runs to the end, or to the first SIGINT or SIGTERM, and leaves nothing behind."""
    faults = tuple(plan_of(options, agents) if planned is None else planned)
    with tempfile.TemporaryDirectory(prefix="avatar-chaos-") as home:
        async with trio.open_nursery() as nursery:
            run = _ChaosRun(options, agents, faults, Path(home))
            nursery.start_soon(_heed_signals, run)
            nursery.start_soon(run.keep_telling, tell)
            evidence = await run.go()
            nursery.cancel_scope.cancel()
    return judged(evidence)


async def _heed_signals(run: _ChaosRun) -> None:
    """The first signal ends the run in order, the second one at once."""
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            if not run.is_complete:
                raise KeyboardInterrupt
            run.interrupt()


class _ChaosRun:
    def __init__(
        self,
        options: ChaosOptions,
        agents: ChaosAgents,
        faults: tuple[PlannedFault, ...],
        home: Path,
    ) -> None:
        self._options, self._agents, self._faults = options, agents, faults
        self._home = home
        self._name = secrets.token_hex(8)
        self._counters = RunCounters()
        self._shortage = Shortage()
        self._wardens = Wardens()
        parts = slices(faults, options.order, options.seconds)
        self._campaign = Campaign(parts)
        self._sampler = Sampler(options.seconds + _LONGEST_REST * len(parts))
        self._slots: list[Slot] = []
        self._scope = trio.CancelScope()
        self._took = 0.0
        self._effort = Effort()
        self._dead_letters = 0
        self._grown = NOTHING_LEFT
        self._phase = "starting"
        self.is_complete = True

    def interrupt(self) -> None:
        """Stops the faults, ends in order, and reports what there is."""
        self.is_complete = False
        for slot in self._slots:
            slot.load.finish()
        self._scope.cancel()

    async def go(self) -> Evidence:
        """Runs all phases and returns what was seen."""
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
        # The recorders end by themselves, with their avatars.
        async with trio.open_nursery() as recorders:
            context = self._context(runtime, recorders)
            self._slots = [Slot(number, context) for number in range(self._options.avatars)]
            leak_check = LeakCheck(context, self._slots)
            async with trio.open_nursery() as loads:
                with self._scope:
                    await open_all(self._slots)
                    await leak_check.before_questions()
                    for slot in self._slots:
                        loads.start_soon(slot.play)
                    self._phase = "baseline"
                    await trio.sleep(_baseline(self._options))
                    await self._inject_all(context, leak_check, records)
                self._took, self._effort = self._campaign.clock.now, self._campaign.clock.effort
                self._phase = "stopping"
                for slot in self._slots:
                    slot.load.finish()
            self._dead_letters = runtime.dead_letters - self._dead_letters
            if self.is_complete:
                self._grown = await leak_check.after_questions()
            async with trio.open_nursery() as nursery:
                for slot in self._slots:
                    nursery.start_soon(slot.stop)

    def _context(self, runtime: Runtime, recorders: trio.Nursery) -> RunContext:
        options = self._agents.options.copy()
        is_scripted = self._agents.plays_scripts
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
            nursery=recorders,
            provider=self._agents.kind,
            options=options,
            counters=self._counters,
            shortage=self._shortage,
            wardens=self._wardens,
            one_warden=trio.Lock(),
            seed=self._options.seed,
            pause=max(_FASTEST if is_scripted else _GENTLE, self._options.avatars / _RATE),
            plays_scripts=is_scripted,
        )

    def _begin(self, runtime: Runtime) -> None:
        self._phase = "faults"
        self._counters.is_baseline, self._counters.restarts = False, 0
        self._dead_letters = runtime.dead_letters
        for slot in self._slots:
            slot.recorder.down_seconds = 0.0

    async def _inject_all(
        self, context: RunContext, leak_check: LeakCheck, records: IO[bytes]
    ) -> None:
        async with trio.open_nursery() as sampling:
            sampling.start_soon(self._sampler.run, self._counters, self._shortage)
            if self._options.order is FaultOrder.BY_KIND:
                await leak_check.baseline()
            self._begin(context.runtime)
            await self._campaign.run(self._slots, leak_check, records)
            sampling.cancel_scope.cancel()

    async def _look(self) -> Inventory:
        """Takes the inventory without any avatar."""
        return inventory(self._name, self._wardens)

    async def _evidence(self, spool: Path, before: Inventory) -> Evidence:
        after = await settled(before, self._look)
        return Evidence(
            options=self._options,
            machine=_machine(),
            schedule=self._faults,
            left_out=left_out(self._options, self._agents),
            faults=_records(spool),
            prompts=tuple(slot.load.prompts for slot in self._slots),
            breaches=tuple(slot.recorder.breaches for slot in self._slots),
            down_seconds=sum(slot.recorder.down_seconds for slot in self._slots),
            counters=self._counters,
            dead_letters=self._dead_letters,
            effort=self._effort,
            samples=self._sampler.taken(),
            remains=difference(before, after) | self._grown,
            alone=self._campaign.alone,
            seconds=self._took,
            is_complete=self.is_complete,
        )

    async def keep_telling(self, tell: Tell) -> None:
        """Reports the progress several times a second."""
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
            restarts=self._counters.restarts,
            breaches=sum(slot.recorder.breaches.total for slot in self._slots),
            prompts=sum((slot.load.prompts for slot in self._slots), Prompts()),
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
