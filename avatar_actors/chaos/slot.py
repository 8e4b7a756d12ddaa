"""One slot of a run: the avatar in it, and the next one when it has ended."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import trio
from msgspec import Struct

from avatar_actors import (
    Avatar,
    AvatarOptions,
    AvatarStartError,
    EventStream,
    Provider,
    Runtime,
)
from avatar_actors.chaos.counters import RunCounters
from avatar_actors.chaos.faults.injected_errors import (
    FaultyStream,
    InjectedErrors,
    with_injected_errors,
)
from avatar_actors.chaos.faults.shortage import Shortage
from avatar_actors.chaos.load import PATIENCE, LoadGenerator, LoadTarget
from avatar_actors.chaos.oracle.event_recorder import UP, EventRecorder
from avatar_actors.chaos.oracle.process_view import MARK, ProcessSeen, Wardens, seen
from avatar_actors.chaos.questions import PromptWriter

_AGAIN = 0.05
_LOOK = 0.01
_AT_ONCE = 8


class RunContext(Struct, frozen=True, kw_only=True):
    """What all places have in common. `nursery` is for the witnesses."""

    run: str
    home: Path
    runtime: Runtime
    nursery: trio.Nursery
    provider: Provider
    options: AvatarOptions
    tally: RunCounters
    shortage: Shortage
    wardens: Wardens
    one_warden: trio.Lock
    seed: int
    pause: float
    plays_scripts: bool


class Slot:
    """An avatar, its witness, its player, and the traps that were laid for it.

    `lock`: one fault at a time.
    """

    def __init__(self, number: int, house: RunContext) -> None:
        self.name = f"a{number}"
        self.house = house
        self.trap = InjectedErrors()
        self.lock = trio.Lock()
        self.author = PromptWriter(self.name, house.seed)
        self.witness = EventRecorder(self.name, house.tally)
        place = LoadTarget(
            name=self.name,
            avatar=lambda: self.avatar,
            write=self.author.plain if house.plays_scripts else self.author.for_a_model,
            ledger=self.witness.ledger,
            tally=house.tally,
            pause=house.pause,
        )
        self.player = LoadGenerator(place)
        self._avatar: Avatar | None = None
        self._ended = trio.Event()
        self._replacing = trio.Lock()

    @property
    def mark(self) -> str:
        """What its processes carry in their environment."""
        return f"{self.house.run}/{self.name}"

    @property
    def avatar(self) -> Avatar:
        """The one that plays here now."""
        assert self._avatar is not None
        return self._avatar

    async def open(self) -> None:
        """The first avatar; in peace, so one that cannot start will not start later."""
        await self._start(FaultyStream(self.trap))

    async def rehearse(self) -> None:
        """A first question: some agents tell only then that nobody is signed in."""
        if why := await self.player.rehearse():
            raise AvatarStartError(f"a first question was not answered: {why}")

    async def _start_again(self) -> None:
        """Until an avatar is up here, however often it has to be tried."""
        with trio.fail_after(PATIENCE):
            while True:
                try:
                    await self._start(FaultyStream(self.trap))
                except AvatarStartError:
                    await trio.sleep(_AGAIN)
                else:
                    break

    async def _start(self, stream: EventStream) -> None:
        house = self.house
        self.witness.ledger.new_life()
        options = house.options.copy()
        options["env"] = {**options.get("env", {}), MARK: self.mark}
        ended = trio.Event()
        house.nursery.start_soon(self.witness.read, stream, ended)
        try:
            self._avatar = await house.runtime.start(
                with_injected_errors(house.provider, self.trap), self.name, stream, **options
            )
        except BaseException:
            stream.close()
            with trio.CancelScope(shield=True):  # the stream is closed, so its reader ends now
                await ended.wait()
            raise
        self._ended = ended

    async def replace(self) -> None:
        """The avatar has ended, by a fault or its host: another takes the place, once."""
        async with self._replacing:
            await self._ended.wait()
            if self.avatar.is_down:
                await self._start_again()
                self.witness.restarted()
        self.player.poke()

    async def play(self) -> None:
        """The load, until the player is told to finish."""
        await self.player.play(self.replace)

    async def stop(self) -> None:
        """End it in order, and hear all that is to be heard of it."""
        if self._avatar is None:
            return
        await self.avatar.stop()
        await self._ended.wait()
        self.witness.ledger.close()

    async def agent(self) -> ProcessSeen:
        """The agent's process, once there is one that takes prompts."""
        while True:
            health = await self.avatar.health()
            await self.house.shortage.over()
            process = None if health.pid is None else seen(health.pid)
            if process is not None and process.state not in {"Z", "X"} and health.state in UP:
                return process
            await trio.sleep(_LOOK)


async def open_all(stages: Sequence[Slot]) -> None:
    """The first by itself, then in waves: each agent is a program, and they share the cores.

    So what cannot work is told once; and what an agent makes in its HOME on its first day is made
    by one: two opencodes 1.18.33 lock each other out of it.
    """
    first, *others = stages
    await first.open()
    if not first.house.plays_scripts:
        await first.rehearse()
    places = trio.CapacityLimiter(_AT_ONCE)

    async def one(stage: Slot) -> None:
        async with places:
            await stage.open()

    async with trio.open_nursery() as nursery:
        for stage in others:
            nursery.start_soon(one, stage)
