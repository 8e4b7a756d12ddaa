"""One slot of a run: the avatar in it, and its replacement when it has ended."""

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
from avatar_actors.chaos.event_recorder import UP, EventRecorder
from avatar_actors.chaos.faults.injected_errors import (
    FaultyStream,
    InjectedErrors,
    Shortage,
    with_injected_errors,
)
from avatar_actors.chaos.load import PATIENCE, LoadGenerator
from avatar_actors.chaos.process_view import MARK, ProcessSeen, Wardens, seen
from avatar_actors.chaos.questions import PromptWriter
from avatar_actors.chaos.report.statistics import RunCounters

_AGAIN = 0.05
_LOOK = 0.01
_AT_ONCE = 8


class RunContext(Struct, frozen=True, kw_only=True):
    """What all slots share. `nursery` runs the event recorders."""

    run: str
    home: Path
    runtime: Runtime
    nursery: trio.Nursery
    provider: Provider
    options: AvatarOptions
    counters: RunCounters
    shortage: Shortage
    wardens: Wardens
    one_warden: trio.Lock
    seed: int
    pause: float
    plays_scripts: bool


class Slot:
    """An avatar with its event recorder, its load and its injected errors.

    `lock` allows one fault at a time.
    """

    def __init__(self, number: int, context: RunContext) -> None:
        self.name = f"a{number}"
        self.context = context
        self.errors = InjectedErrors()
        self.lock = trio.Lock()
        self.writer = PromptWriter(self.name, context.seed)
        self.recorder = EventRecorder(self.name, context.counters)
        self.load = LoadGenerator(
            name=self.name,
            avatar=lambda: self.avatar,
            write=self.writer.plain if context.plays_scripts else self.writer.for_a_model,
            oracle=self.recorder.oracle,
            counters=context.counters,
            pause=context.pause,
        )
        self._avatar: Avatar | None = None
        self._ended = trio.Event()
        self._replacing = trio.Lock()

    @property
    def mark(self) -> str:
        """The mark in the environment of its processes."""
        return f"{self.context.run}/{self.name}"

    @property
    def avatar(self) -> Avatar:
        """The avatar that is in this slot now."""
        assert self._avatar is not None
        return self._avatar

    async def open(self) -> None:
        """Starts the first avatar; before the faults, so a failed start is final."""
        await self._start(FaultyStream(self.errors))

    async def rehearse(self) -> None:
        """Sends a first prompt: some agents tell only then that nobody is signed in."""
        if why := await self.load.rehearse():
            raise AvatarStartError(f"a first question was not answered: {why}")

    async def _start_again(self) -> None:
        """Retries until an avatar is up."""
        with trio.fail_after(PATIENCE):
            while True:
                try:
                    await self._start(FaultyStream(self.errors))
                except AvatarStartError:
                    await trio.sleep(_AGAIN)
                else:
                    break

    async def _start(self, stream: EventStream) -> None:
        context = self.context
        self.recorder.oracle.new_life()
        options = context.options.copy()
        options["env"] = {**options.get("env", {}), MARK: self.mark}
        ended = trio.Event()
        context.nursery.start_soon(self.recorder.read, stream, ended)
        try:
            self._avatar = await context.runtime.start(
                with_injected_errors(context.provider, self.errors), self.name, stream, **options
            )
        except BaseException:
            stream.close()
            with trio.CancelScope(shield=True):  # the stream is closed, so its reader ends now
                await ended.wait()
            raise
        self._ended = ended

    async def replace(self) -> None:
        """Starts another avatar after this one has ended, once."""
        async with self._replacing:
            await self._ended.wait()
            if self.avatar.is_down:
                await self._start_again()
                self.recorder.restarted()
        self.load.poke()

    async def play(self) -> None:
        """Runs the load until it is told to finish."""
        await self.load.play(self.replace)

    async def stop(self) -> None:
        """Stops the avatar in order and reads all of its events."""
        if self._avatar is None:
            return
        await self.avatar.stop()
        await self._ended.wait()
        self.recorder.oracle.close()

    async def agent(self) -> ProcessSeen:
        """The agent's process, once one takes prompts."""
        while True:
            health = await self.avatar.health()
            await self.context.shortage.over()
            process = None if health.pid is None else seen(health.pid)
            if process is not None and process.state not in {"Z", "X"} and health.state in UP:
                return process
            await trio.sleep(_LOOK)


async def open_all(slots: Sequence[Slot]) -> None:
    """Starts the first avatar alone, then the others in waves, since they share the cores.

    So an error is told once, and only one agent sets up its HOME on its first start: two opencodes
    1.18.33 lock each other out of it.
    """
    first, *others = slots
    await first.open()
    if not first.context.plays_scripts:
        await first.rehearse()
    places = trio.CapacityLimiter(_AT_ONCE)

    async def one(slot: Slot) -> None:
        async with places:
            await slot.open()

    async with trio.open_nursery() as nursery:
        for slot in others:
            nursery.start_soon(one, slot)
