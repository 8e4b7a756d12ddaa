"""What an event costs when agents say one piece at a time, as models do; and a short turn.

`python -m bench.paced`. The agents cost next to nothing themselves: a program in C, or without a
compiler in Python, writes a piece of text 50 times a second, with the time of its writing. Each
contestant runs in a process of its own; its CPU time counts while the agents speak. Contestants:
`SDK` is the ACP SDK on asyncio; `trio` a task for each agent that reads, splits and decodes;
`epoll` one loop over all pipes that does the same. A short turn is a prompt that one piece answers.
"""

import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence

import msgspec

from bench.agents.figure import Bound, Figure, NoneAtAll, RatioAtMost, Samples, percentile
from bench.agents.program import Part, Say, main
from bench.agents.quiet_agent import quiet_agent
from bench.contest import Scale
from bench.measure import turns
from bench.paced_load import Found, Load

HOSTS = {
    "ours": ["bench.paced_ours"],
    "SDK": ["bench.paced_sdk"],
    "trio": ["bench.paced_floor", "trio"],
    "epoll": ["bench.paced_floor"],
}
SIZES = {Scale.FULL: [1, 10, 50, 100, 200], Scale.QUICK: [10]}
SECONDS = {Scale.FULL: 3.0, Scale.QUICK: 1.0}
ROUNDS = {Scale.FULL: 5, Scale.QUICK: 2}
TURNS = {Scale.FULL: 1000, Scale.QUICK: 100}
PATIENCE = 300.0

OPTIONS = ArgumentParser(add_help=False)
OPTIONS.add_argument("--avatars", type=int, action="append", help="may be given several times")
OPTIONS.add_argument("--rate", type=float, default=50.0, help="pieces a second and avatar")
OPTIONS.add_argument("--seconds", type=float, help="how long they speak")


def _most_of_sdk(agents: int) -> Bound:
    if agents < 10:
        return None
    return RatioAtMost(0.55 if agents in {50, 100} else 0.75)


def found_by(contestant: str, load: Load, command: Sequence[str]) -> Found:
    """What this host finds, in a process of its own."""
    module, *more = HOSTS[contestant]
    encoded = msgspec.json.encode(load).decode()
    done = subprocess.run(
        [sys.executable, "-m", module, *more, encoded, *command],
        stdout=subprocess.PIPE,
        timeout=PATIENCE,
        check=True,
    )
    return msgspec.json.decode(done.stdout, type=Found)


def _paced(scale: Scale, say: Say) -> Iterator[Figure]:
    options, _ = OPTIONS.parse_known_args()
    seconds = options.seconds or SECONDS[scale]
    for agents in options.avatars or SIZES[scale]:
        yield from _of_size(Load(agents, options.rate, seconds), ROUNDS[scale], say)


def _of_size(load: Load, rounds: int, say: Say) -> Iterator[Figure]:
    of = {name: Samples() for name in ("cpu", "p50", "p99", "waited", "lost")}
    with quiet_agent() as command:
        for number, contestant in turns(list(HOSTS), rounds):
            say(f"{load.agents} avatars, round {number + 1} of {rounds}, {contestant}")
            found = found_by(contestant, load, command)
            of["cpu"].add(contestant, found.cpu)
            of["p50"].add(contestant, percentile(found.delays, 50))
            of["p99"].add(contestant, percentile(found.delays, 99))
            of["waited"].add(contestant, 100 * found.waited)
            of["lost"].add(contestant, found.lost)

    def figure(name: str, unit: str, against: str = "", bound: Bound = None) -> Figure:
        return Figure(
            bench=f"paced.{name}_{load.agents}",
            value=of[name].value("ours"),
            unit=unit,
            n=load.agents * load.pieces,
            rounds=rounds,
            against=against,
            ratio=of[name].ratio("ours", against) if against else None,
            bound=bound,
        )

    yield figure("cpu", "us", "SDK", _most_of_sdk(load.agents))
    yield figure("cpu", "us", "trio", RatioAtMost(2.5))
    yield figure("cpu", "us", "epoll")
    yield figure("p50", "ms", "SDK")
    yield figure("p99", "ms", "SDK")
    yield figure("waited", "%")
    yield figure("lost", "texts", bound=NoneAtAll())


def _short_turn(scale: Scale, say: Say) -> Iterator[Figure]:
    load, rounds, cpu = Load(turns=TURNS[scale]), ROUNDS[scale], Samples()
    with quiet_agent() as command:
        for number, contestant in turns(["ours", "SDK"], rounds):
            say(f"round {number + 1} of {rounds}, {contestant}")
            cpu.add(contestant, found_by(contestant, load, command).cpu)
    yield Figure(
        bench="paced.short_turn",
        value=cpu.value("ours"),
        unit="us",
        n=load.turns,
        rounds=rounds,
        against="SDK",
        ratio=cpu.ratio("ours", "SDK"),
        bound=RatioAtMost(3.5),
    )


PARTS = [
    Part("events", "1 to 200 avatars, each with 50 pieces of text a second", _paced),
    Part("turn", "a prompt that one piece of text answers", _short_turn),
]

if __name__ == "__main__":
    main("bench.paced", "What an event costs that comes by itself.", PARTS, OPTIONS)
