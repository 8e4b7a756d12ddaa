"""What every host of bench.paced has to read, and what is found about it.

A host is a program of its own: `python -m bench.paced_NAME LOAD COMMAND…`, with an encoded Load,
prints what it found as one JSON object. All read the same agents at the same times. What counts is
the time in which they speak: not the start, nor the begin and the end of the turns.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from avatar_actors import Runtime
from bench.agents.quiet_agent import pulse

# What a host may take to prompt all its agents before the first one speaks.
AHEAD = 0.3
AHEAD_EACH = 0.005
# How long the agents wait with the ends of their turns.
LINGER = 0.3
SHORT_TURN = pulse(1, every=0)
WARM_UP = 50


class Load(msgspec.Struct, frozen=True):
    """So many agents, each with so many pieces a second; or, if set, short turns of one agent."""

    agents: int = 1
    rate: float = 50.0
    seconds: float = 2.0
    turns: int = 0

    @property
    def pieces(self) -> int:
        """How many each agent says."""
        return round(self.rate * self.seconds)


class Found(msgspec.Struct):
    """CPU in microseconds per event or turn, delays in ms, the share of time without a core."""

    cpu: float
    delays: list[float] = []
    waited: float = 0.0
    lost: int = 0


class Listener:
    """Hears the pieces of all agents, and looks at the host's clocks at two moments."""

    def __init__(self, load: Load) -> None:
        self.start = time.monotonic() + AHEAD + AHEAD_EACH * load.agents
        self.end = self.start + load.seconds
        self._load = load
        self._delays: list[int] = []
        self._moments: list[tuple[float, float, int]] = []

    def prompts(self) -> Iterator[str]:
        """One for each agent; they begin one after the other within the first interval."""
        every = 1 / self._load.rate
        for number in range(self._load.agents):
            start = self.start + every * number / self._load.agents
            yield pulse(self._load.pieces, every, start, LINGER)

    def hear(self, text: str) -> None:
        """One piece, or several that were merged."""
        now = time.monotonic_ns()
        for written in text.split()[1::2]:
            self._delays.append(now - int(written))

    def look(self) -> None:
        """To be called at `start` and at `end`."""
        self._moments.append((time.process_time(), waited_for_core(), len(self._delays)))

    def found(self) -> Found:
        """After the ends of all turns."""
        (cpu, waited, before), (cpu_then, waited_then, after) = self._moments
        return Found(
            cpu=(cpu_then - cpu) / (after - before) * 1e6,
            delays=[delay / 1e6 for delay in self._delays],
            waited=(waited_then - waited) / self._load.seconds,
            lost=self._load.agents * self._load.pieces - len(self._delays),
        )


def waited_for_core() -> float:
    """Seconds that this thread was ready to run and had no core: the machine is too small."""
    return int(Path("/proc/thread-self/schedstat").read_text("ascii").split()[1]) / 1e9


def turns_since(began: float, turns: int) -> Found:
    """What one of the turns since then took of `process_time`."""
    return Found(cpu=(time.process_time() - began) / turns * 1e6)


def run_host(host: Callable[[Load, Sequence[str]], Found]) -> None:
    """The program of a host. All have the garbage collector that a host of many agents should."""
    Runtime.tune_collector()
    load, *command = sys.argv[1:]
    found = host(msgspec.json.decode(load, type=Load), command)
    sys.stdout.buffer.write(msgspec.json.encode(found))
