"""Agents that mean harm: the runtime lives on, its memory is bounded, a good neighbour is served.

`python -m bench.hostile`. In one runtime: an agent that answers with 10 MB of random bytes, one
with random JSON, one with valid ACP in a wrong order, again and again; and an embedded agent beside
them, which must answer as ever.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import trio

from avatar_actors import (
    Avatar,
    EventsLostEvent,
    Outcome,
    Restarts,
    Runtime,
    Timeouts,
    TurnEndedEvent,
    open_runtime,
)
from bench.agents import hostile_agent
from bench.agents.embedded import environment, home, script
from bench.agents.figure import AtMost, Figure, NoneAtAll, percentile
from bench.agents.host_memory import resident_bytes
from bench.agents.program import Part, Say, main
from bench.contest import Scale

SECONDS = {Scale.FULL: 60.0, Scale.QUICK: 5.0}
KINDS = ("bytes", "json", "acp")
PROGRAM = Path(hostile_agent.__file__)
RESTARTS = Restarts(max_restarts=1_000_000, period=1.0, factor=1.0)
TIMEOUTS = Timeouts(start=10, turn=5, interrupt=0.5, stop=0.2)
# Many times what a turn, an interrupt and a start may take: who has no end by then has none.
PATIENCE = 60.0
SAMPLE = 0.01
# Three agents, and for each a burst's events on their way; what a leak of 60 s would soon exceed.
MEMORY_MIB = 64.0


@dataclass(slots=True)
class Found:
    """What happened."""

    outcomes: Counter[str] = field(default_factory=Counter[str])
    events: int = 0
    lost: int = 0
    endless: int = 0
    given_up: int = 0
    unserved: int = 0
    served: int = 0
    waited: list[float] = field(default_factory=list[float])
    before: int = 0
    peak: int = 0
    after: int = 0


def _hostile(scale: Scale, say: Say) -> Iterator[Figure]:
    found = trio.run(_run, SECONDS[scale], say)
    turns = sum(found.outcomes.values())
    for outcome, count in sorted(found.outcomes.items()):
        yield Figure(bench=f"hostile.turns_{outcome}", value=count, unit="turns", n=turns)
    yield Figure(bench="hostile.events", value=found.events, unit="", n=turns)
    yield Figure(bench="hostile.events_lost", value=found.lost, unit="", n=turns)
    for name, count, n in (
        ("turns_without_end", found.endless, turns),
        ("avatars_given_up", found.given_up, len(KINDS)),
        ("neighbour_unserved", found.unserved, found.served),
    ):
        yield Figure(bench=f"hostile.{name}", value=count, unit="", n=n, bound=NoneAtAll())
    for percent in (50, 99):
        waited = percentile(found.waited, percent) * 1e3
        name = f"hostile.neighbour_p{percent}"
        yield Figure(bench=name, value=waited, unit="ms", n=found.served)
    yield Figure(
        bench="hostile.memory_growth",
        value=(found.peak - found.before) / 2**20,
        unit="MiB",
        n=turns,
        bound=AtMost(MEMORY_MIB),
    )
    growth = (found.after - found.before) / 2**20
    yield Figure(bench="hostile.memory_kept", value=growth, unit="MiB", n=turns)


async def _run(seconds: float, say: Say) -> Found:
    found = Found()
    with home() as path:
        async with open_runtime() as runtime:
            good = await runtime.start("embedded", env=environment(path), working_dir=path)
            bad = [await _start(runtime, kind, path) for kind in KINDS]
            found.before = found.peak = resident_bytes()
            with trio.move_on_after(seconds):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(_watch_memory, found, seconds, say)
                    nursery.start_soon(_serve_neighbour, good, found)
                    for avatar in bad:
                        nursery.start_soon(_provoke, avatar, found)
            found.given_up = sum(avatar.is_down for avatar in bad)
            found.after = resident_bytes()
    return found


async def _start(runtime: Runtime, kind: str, path: str) -> Avatar:
    return await runtime.start(
        "acp",
        kind,
        executable=sys.executable,
        args=("-I", "-S", str(PROGRAM), kind, "1"),
        options={"files": "host"},
        working_dir=path,
        restarts=RESTARTS,
        timeouts=TIMEOUTS,
    )


async def _provoke(avatar: Avatar, found: Found) -> None:
    """Turn after turn; each must end."""
    while True:
        ended: TurnEndedEvent | None = None
        with trio.move_on_after(PATIENCE) as patience:
            async with avatar.turn("go on") as turn:
                async for event in turn:
                    found.events += 1
                    if isinstance(event, EventsLostEvent):
                        found.lost += event.count
            ended = turn.ended
        found.endless += patience.cancelled_caught
        if ended is not None:
            found.outcomes[ended.outcome.value] += 1


async def _serve_neighbour(avatar: Avatar, found: Found) -> None:
    while True:
        asked = trio.current_time()
        answer = await avatar.chat(script({"say": f"answer {found.served}"}))
        found.waited.append(trio.current_time() - asked)
        is_right = answer.outcome is Outcome.COMPLETED
        is_right &= answer.content == f"answer {found.served}"
        found.unserved += not is_right
        found.served += 1
        await trio.sleep(0.1)


async def _watch_memory(found: Found, seconds: float, say: Say) -> None:
    began = trio.current_time()
    while True:
        found.peak = max(found.peak, resident_bytes())
        spent = trio.current_time() - began
        turns = sum(found.outcomes.values())
        say(f"{spent:.0f} of {seconds:g} s, {turns} turns")
        await trio.sleep(SAMPLE)


PARTS = [Part("agents", "random bytes, random JSON, ACP in a wrong order", _hostile)]

if __name__ == "__main__":
    main("bench.hostile", "What agents that mean harm can do to the host.", PARTS)
