"""Predicts what a host of many avatars needs: cores, memory, descriptors, processes.

`python -m bench.sizing --avatars 1000 --rate 10`. It measures nothing: its figures come from
`bench.paced` and `bench.growth`, on two cores of a shared machine with Python 3.11 and an agent
that costs nothing. The agents come on top and are most of it: say what yours take
(`--agent-memory`, `--agent-cpu`). For your own machine, run those two programs and give their
figures instead: `--cpu-per-event`, `--cpu-per-turn`, `--host-memory`.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# µs of the host's CPU per event that comes by itself, by how many avatars speak at once: few
# share no turn of the loop, and more than a core can carry come in blocks.
CPU_PER_EVENT = ((1, 91.0), (10, 57.0), (50, 44.0))
# µs of the host's CPU per turn, besides its events.
CPU_PER_TURN = 280.0
# Of the host: the process itself, and each avatar with 64 KiB of history behind it.
HOST_BASE_MIB = 20.0
HOST_KIB = 250.0
# Of an avatar's keeper: what its Python takes, and what it inherits for each avatar alive.
KEEPER_KIB = 1290.0
KEEPER_KIB_PER_AVATAR = 0.27
# Of the host: control socket, stdin, stdout and stderr of each avatar; all else.
DESCRIPTORS, OTHER_DESCRIPTORS = 4, 40
# Agent and keeper of each avatar; the warden and its successor.
PROCESSES, OTHER_PROCESSES = 2, 2
# The most that one event loop should be busy, so that delays stay short when events come together.
BUSIEST = 0.6


class Wanted(NamedTuple):
    """The reader's numbers."""

    avatars: int
    rate: float
    """Events a second of an avatar that speaks."""
    speaking: float
    """The share of the avatars that speak at the same time."""
    turns_per_minute: float
    """Of each avatar."""
    agent_memory: float
    """MiB of one agent with its tools."""
    agent_cpu: float
    """Cores of one agent that speaks."""
    cpu_per_event: float | None = None
    cpu_per_turn: float = CPU_PER_TURN
    host_memory: float = HOST_KIB


class Needed(NamedTuple):
    """What such a host needs."""

    host_cores: float
    """Of the host's event loop, which cannot use more than one."""
    runtimes: int
    """Host processes, so that no event loop is too busy."""
    agent_cores: float
    host_mib: float
    keepers_mib: float
    agents_mib: float
    descriptors: int
    """Of one host process: `ulimit -n`."""
    processes: int
    """Of the user: `ulimit -u`, and the pids of the container."""


def needs(wanted: Wanted) -> Needed:
    """What so many avatars need."""
    speaking = wanted.avatars * wanted.speaking
    per_event = wanted.cpu_per_event or _cpu_per_event(speaking)
    busy = speaking * wanted.rate * per_event / 1e6
    busy += wanted.avatars * wanted.turns_per_minute / 60 * wanted.cpu_per_turn / 1e6
    runtimes = max(1, -int(-busy // BUSIEST))
    keeper = KEEPER_KIB + KEEPER_KIB_PER_AVATAR * wanted.avatars / runtimes
    return Needed(
        host_cores=busy,
        runtimes=runtimes,
        agent_cores=speaking * wanted.agent_cpu,
        host_mib=runtimes * HOST_BASE_MIB + wanted.avatars * wanted.host_memory / 1024,
        keepers_mib=wanted.avatars * keeper / 1024,
        agents_mib=wanted.avatars * wanted.agent_memory,
        descriptors=-(-wanted.avatars // runtimes) * DESCRIPTORS + OTHER_DESCRIPTORS,
        processes=wanted.avatars * PROCESSES + runtimes * (1 + OTHER_PROCESSES),
    )


def _cpu_per_event(speaking: float) -> float:
    """Of the largest size that is not above this one: never too little."""
    return next(cpu for size, cpu in reversed(CPU_PER_EVENT) if speaking >= size or size == 1)


def lines(needed: Needed) -> Iterator[str]:
    """The answer for people."""
    yield f"event loops   {needed.host_cores:.2f} cores busy, in {needed.runtimes} host process(es)"
    yield f"agents        {needed.agent_cores:.2f} cores busy"
    yield (
        f"memory        host {needed.host_mib:,.0f} MiB, keepers {needed.keepers_mib:,.0f} MiB, "
        f"agents {needed.agents_mib:,.0f} MiB"
    )
    yield f"descriptors   {needed.descriptors:,} in each host process (ulimit -n)"
    yield f"processes     {needed.processes:,} (ulimit -u)"


def main(arguments: Sequence[str] | None = None) -> None:
    """The program."""
    summary, _, about = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m bench.sizing", description=summary, epilog=about
    )
    add = parser.add_argument
    add("--avatars", type=int, default=1000)
    add("--rate", type=float, default=10.0, help="events a second of one that speaks: 10")
    add("--speaking", type=float, default=1.0, help="share that speaks at the same time: 1")
    add("--turns-per-minute", type=float, default=1.0, help="of each avatar: 1")
    add("--agent-memory", type=float, default=0.0, help="MiB of one agent and its tools: 0")
    add("--agent-cpu", type=float, default=0.0, help="cores of one agent that speaks: 0")
    add("--cpu-per-event", type=float, help="µs, from bench.paced on your machine")
    add("--cpu-per-turn", type=float, default=CPU_PER_TURN, help="µs, from bench.paced")
    add("--host-memory", type=float, default=HOST_KIB, help="KiB of an avatar, from bench.growth")
    add("--json", action="store_true", help="print one JSON object")
    given = vars(parser.parse_args(arguments))
    as_json = given.pop("json")
    if given["avatars"] < 1 or any(value is not None and value < 0 for value in given.values()):
        parser.error("there is at least one avatar, and no number is below 0")
    if given["speaking"] > 1:
        parser.error("--speaking is a share, at most 1")
    needed = needs(Wanted(**given))
    print(json.dumps(needed._asdict()) if as_json else "\n".join(lines(needed)))


if __name__ == "__main__":
    main()
