"""Many avatars in one runtime: nothing is lost, how late it comes, what it takes of the host.

`python -m bench.scale`. Every avatar has an embedded agent that writes one piece of text every 20
ms, with its number and the monotonic time of the writing. What avatars cost by being there is
measured by `bench.growth`.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import trio

from avatar_actors import Avatar, Outcome, Runtime, TextEvent, open_runtime
from bench.agents.embedded import environment, home, script
from bench.agents.figure import AtMost, Bound, Figure, NoneAtAll, percentile
from bench.agents.program import Part, Say, main
from bench.contest import Scale
from bench.paced_load import waited_for_core

EVERY = 0.02
WAVE = 8
PATIENCE = 600.0
WARM_UP = 2


@dataclass(frozen=True, slots=True)
class Size:
    """How many avatars stream for how long."""

    avatars: int
    seconds: float

    @property
    def chunks(self) -> int:
        return round(self.seconds / EVERY)


SIZES = {Scale.FULL: Size(200, 20.0), Scale.QUICK: Size(20, 3.0)}


@dataclass(slots=True)
class Found:
    """Seconds, and what each piece of text said of itself."""

    start: float = 0.0
    stop: float = 0.0
    cpu: float = 0.0
    stream: float = 0.0
    starved: float = 0.0
    delays: list[float] = field(default_factory=list[float])
    wrong: int = 0
    events: int = 0


def _scale(scale: Scale, say: Say) -> Iterator[Figure]:
    size = SIZES[scale]
    found = trio.run(_run, size, say)
    pieces = size.avatars * size.chunks

    def figure(name: str, value: float, unit: str, bound: Bound = None, n: int = pieces) -> Figure:
        return Figure(bench=f"scale.{name}", value=value, unit=unit, n=n, bound=bound)

    yield figure("start", found.start, "s", n=size.avatars)
    yield figure("lost_or_misplaced", found.wrong, "texts", NoneAtAll())
    yield figure("delay_p50", percentile(found.delays, 50) * 1e3, "ms")
    yield figure("delay_p99", percentile(found.delays, 99) * 1e3, "ms")
    yield figure("stream", found.stream, "s", n=size.avatars)
    yield figure("host_ran", 100 * found.cpu / found.stream, "%")
    yield figure("host_waited_for_cpu", 100 * found.starved / found.stream, "%")
    yield figure("arrived_unmerged", 100 * found.events / pieces, "%")
    yield figure("host_cpu_each", found.cpu / pieces * 1e6, "us")
    yield figure("stop", found.stop, "s", AtMost(3), size.avatars)


async def _run(size: Size, say: Say) -> Found:
    found = Found()
    stopping = 0.0
    with home() as path, trio.fail_after(PATIENCE):
        async with open_runtime() as runtime:
            await _start(runtime, path, WARM_UP, say)
            began = time.perf_counter()
            avatars = await _start(runtime, path, size.avatars, say)
            found.start = time.perf_counter() - began
            say(f"{size.avatars} avatars stream for {size.seconds:g} s")
            began, cpu, starved = time.perf_counter(), time.process_time(), waited_for_core()
            async with trio.open_nursery() as nursery:
                for avatar in avatars:
                    nursery.start_soon(_stream, avatar, size, found)
            found.stream = time.perf_counter() - began
            found.cpu, found.starved = time.process_time() - cpu, waited_for_core() - starved
            say("stop")
            stopping = time.perf_counter()
        found.stop = time.perf_counter() - stopping
    return found


async def _start(runtime: Runtime, path: str, count: int, say: Say) -> list[Avatar]:
    """In waves: each agent is a Python that starts, and they share the cores."""
    started: list[Avatar] = []
    places = trio.CapacityLimiter(WAVE)

    async def one() -> None:
        async with places:
            started.append(await runtime.start("embedded", env=environment(path), working_dir=path))
        say(f"{len(started)} of {count} have started")

    async with trio.open_nursery() as nursery:
        for _ in range(count):
            nursery.start_soon(one)
    return started


class Listener:
    """Holds what one avatar says against the numbers that it should say, in their order."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._expected = 0

    def hear(self, text: str, now_ns: int) -> None:
        """One piece of text, or several that were merged."""
        self._found.events += 1
        words = text.split()
        for number, written in zip(words[::2], words[1::2], strict=True):
            self._found.wrong += int(number) != self._expected
            self._expected = int(number) + 1
            self._found.delays.append((now_ns - int(written)) / 1e9)

    def finish(self, chunks: int) -> None:
        """All has been said: what did not come is lost."""
        self._found.wrong += abs(chunks - self._expected)


async def _stream(avatar: Avatar, size: Size, found: Found) -> None:
    pulse = {"every": EVERY, "count": size.chunks, "text": "{i} {t} "}
    listener = Listener(found)
    async with avatar.turn(script({"pulse": pulse})) as turn:
        async for event in turn:
            if isinstance(event, TextEvent):
                listener.hear(event.text, time.monotonic_ns())
    assert turn.outcome is Outcome.COMPLETED, (turn.outcome, turn.reason)
    listener.finish(size.chunks)


PARTS = [
    Part("stream", "200 avatars, each with 50 pieces of text a second for 20 s", _scale),
]

if __name__ == "__main__":
    main("bench.scale", "Many avatars in one runtime.", PARTS)
