"""What `bench.growth` measures, each at one size and in a process of its own.

`python -m bench.growth_measures alive|memory|collector|machine COUNT` prints one JSON object. The
heap that another measurement has left behind would hide memory and lengthen collections.
"""

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median

import trio

from avatar_actors import Avatar, Outcome, Runtime, open_runtime
from bench.agents.host_memory import own_bytes
from bench.agents.quiet_agent import pulse, quiet_agent, say
from bench.command import INTERRUPTED
from bench.comparison.work.memory import descendants, private

PATIENCE = 600.0
WAVE = 8
# The first one imports, and single starts differ.
WARM_UP, SOME = 2, 11
IDLE = 3.0
TURNS, ANSWER = 100, 8 * 1024
RATE, STREAM = 10.0, 5.0
SECRETS = {
    "DB_PASSWORD": 'pass"word\\{n}-\N{GRINNING FACE}',
    "GITHUB_TOKEN": "it's \\\\{n}\"-\N{PARTY POPPER}",
    "API_KEY": '{{"key": "\\n{n}-\N{ROCKET}"}}',
}


class Host:
    """A runtime, and the cheapest agents for it."""

    def __init__(self, runtime: Runtime, command: Sequence[str]) -> None:
        self.runtime, self._command = runtime, command
        self.avatars: list[Avatar] = []

    async def start(self) -> None:
        """One more avatar, with three odd secrets of its own."""
        own = {name: secret.format(n=len(self.avatars)) for name, secret in SECRETS.items()}
        executable, *args = self._command
        avatar = await self.runtime.start("acp", executable=executable, args=tuple(args), env=own)
        self.avatars.append(avatar)

    async def start_all(self, count: int) -> None:
        """So many in all, a few side by side."""
        places = trio.CapacityLimiter(WAVE)

        async def one() -> None:
            async with places:
                await self.start()

        async with trio.open_nursery() as nursery:
            for _ in range(count - len(self.avatars)):
                nursery.start_soon(one)

    async def with_all(self, work: Callable[[Avatar], Awaitable[None]]) -> None:
        """The work of each avatar, side by side."""
        async with trio.open_nursery() as nursery:
            for avatar in self.avatars:
                nursery.start_soon(work, avatar)


@asynccontextmanager
async def open_host() -> AsyncGenerator[Host]:
    """A host, ended after the block."""
    Runtime.tune_collector()  # as a host of many avatars does
    with quiet_agent() as command, trio.fail_after(PATIENCE):
        async with open_runtime() as runtime:
            yield Host(runtime, command)


@dataclass(frozen=True, slots=True)
class Alive:
    """CPU seconds of one thing each, with so many avatars alive."""

    start: float
    stop: float
    idle: float
    tree: float
    avatars: float
    stop_wall: float


async def alive(count: int) -> Alive:
    """Start so many; measure the last starts, what they cost at rest, and the stop of all."""
    async with open_host() as host:
        await host.start_all(WARM_UP)
        await host.start_all(max(WARM_UP, count - SOME))
        idle = await _idle()
        start = median([await _start(host, idle) for _ in range(SOME)])
        tree = median([_cpu(host.runtime.tree) for _ in range(SOME)])
        avatars = median([_cpu(host.runtime.avatars) for _ in range(SOME)])
        cpu, wall = time.process_time(), time.perf_counter()
        await host.with_all(Avatar.stop)
        stop = (time.process_time() - cpu) / len(host.avatars)
        return Alive(start, stop, idle, tree, avatars, time.perf_counter() - wall)


async def _idle() -> float:
    """The share of a core that is taken while nothing is done."""
    await trio.sleep(0.2)
    cpu, wall = time.process_time(), time.perf_counter()
    await trio.sleep(IDLE)
    return (time.process_time() - cpu) / (time.perf_counter() - wall)


async def _start(host: Host, idle: float) -> float:
    """CPU of one start, without what those that are up take meanwhile for nothing."""
    cpu, wall = time.process_time(), time.perf_counter()
    await host.start()
    return time.process_time() - cpu - idle * (time.perf_counter() - wall)


def _cpu(call: Callable[[], object]) -> float:
    cpu = time.thread_time()
    call()
    return time.thread_time() - cpu


@dataclass(frozen=True, slots=True)
class Taken:
    """By one avatar: bytes of the host and of helpers, and descriptors of the host."""

    idle: float
    used: float
    helpers: float
    descriptors: float


async def memory(count: int) -> Taken:
    """Start so many, and let each have its turns."""
    async with open_host() as host:
        await host.start_all(WARM_UP)
        await host.with_all(partial(_chat, turns=1))
        before, helpers, descriptors = own_bytes(), await _helper_bytes(host), _open_descriptors()
        await host.start_all(WARM_UP + count)
        idle = own_bytes() - before
        more_helpers, more_descriptors = await _helper_bytes(host), _open_descriptors()
        await host.with_all(partial(_chat, turns=TURNS))
        # Those of the warm-up have had their turns, too.
        used = (own_bytes() - before - idle) / (WARM_UP + count)
    each = idle / count
    return Taken(
        idle=each,
        used=each + used,
        helpers=(more_helpers - helpers) / count,
        descriptors=(more_descriptors - descriptors) / count,
    )


async def _chat(avatar: Avatar, turns: int) -> None:
    for _ in range(turns):
        answer = await avatar.chat(say(ANSWER))
        assert len(answer.content) == ANSWER, answer


async def _helper_bytes(host: Host) -> int:
    """What the processes beside the agents take: the warden and the keepers."""
    agents = {(await avatar.health()).pid for avatar in host.avatars}
    return sum(private(Path(f"/proc/{pid}")) for pid in descendants() if pid not in agents)


def _open_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@dataclass(frozen=True, slots=True)
class Pauses:
    """Of the garbage collector, in CPU of the loop's thread: the longest, and the share of all."""

    longest: float
    share: float


async def collector(count: int) -> Pauses:
    """Let so many stream, and time every collection."""
    async with open_host() as host:
        await host.start_all(count)
        cpu = time.thread_time()
        with _collections() as each:
            await host.with_all(_stream)
        return Pauses(max(each, default=0.0), sum(each) / (time.thread_time() - cpu))


@contextmanager
def _collections() -> Generator[list[float]]:
    """What each collection took."""
    found: list[float] = []
    began = 0.0

    def time_it(phase: str, _: object) -> None:
        nonlocal began
        if phase == "start":
            began = time.thread_time()
        else:
            found.append(time.thread_time() - began)

    gc.callbacks.append(time_it)
    try:
        yield found
    finally:
        gc.callbacks.remove(time_it)


async def _stream(avatar: Avatar) -> None:
    async with avatar.turn(pulse(round(RATE * STREAM), 1 / RATE)) as turn:
        async for _ in turn:
            pass
    assert turn.outcome is Outcome.COMPLETED, (turn.outcome, turn.reason)


@dataclass(frozen=True, slots=True)
class Opened:
    """CPU seconds of the host, with its threads, until a runtime is open."""

    cpu: float


async def machine(count: int) -> Opened:
    """Open runtimes beside so many idle processes that are not ours."""
    with _idle_processes(count):
        return Opened(median([await _open_and_close() for _ in range(SOME)]))


@contextmanager
def _idle_processes(count: int) -> Generator[None]:
    with quiet_agent() as command:
        processes = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
            for _ in range(count)
        ]
        try:
            yield
        finally:
            for process in processes:
                process.communicate()


async def _open_and_close() -> float:
    cpu = time.process_time()
    async with open_runtime():
        return time.process_time() - cpu


MEASURES: dict[str, Callable[[int], Awaitable[Alive | Taken | Pauses | Opened]]] = {
    "alive": alive,
    "memory": memory,
    "collector": collector,
    "machine": machine,
}


def measured(name: str, count: int) -> dict[str, float]:
    """Measure in a fresh process."""
    command = [sys.executable, "-m", "bench.growth_measures", name, str(count)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _main() -> None:
    _, name, count = sys.argv
    try:
        print(json.dumps(asdict(trio.run(MEASURES[name], int(count)))))
    except* KeyboardInterrupt:
        # The program that waits for this one has heard of it, too.
        os._exit(INTERRUPTED)


if __name__ == "__main__":
    _main()
