"""How soon an interrupted turn has its outcome, and that nothing of it comes afterwards.

`python -m bench.interrupt`. Three parts: agents that obey; random turns interrupted at random
moments, with everything that is ever told held against the turn it belongs to; and an agent that
ignores the interrupt, which is restarted after the grace.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import trio

from avatar_actors import (
    Avatar,
    Outcome,
    Restarts,
    TextEvent,
    Timeouts,
    open_avatar,
    open_runtime,
)
from bench.agents.embedded import environment, home, script
from bench.agents.figure import AtMost, Figure, NoneAtAll, percentile
from bench.agents.program import Part, Say, main
from bench.contest import Scale
from bench.interrupt_interleavings import AGENTS, Tally, interleave
from tests.fake_agents import launcher

OBEYED = {Scale.FULL: 200, Scale.QUICK: 10}
INTERLEAVINGS = {Scale.FULL: 1000, Scale.QUICK: 24}
IGNORED = {Scale.FULL: 10, Scale.QUICK: 1}
GRACE = 0.3
PATIENCE = 60.0
RESTARTS = Restarts(max_restarts=10_000, period=1.0, factor=1.0)
WAITING = script({"say": "on it"}, {"wait": 60})
IGNORING = script({"ignore_cancel": True}, {"say": "on it"}, {"wait": 60})


def _obeyed(scale: Scale, say: Say) -> Iterator[Figure]:
    for name, agent in AGENTS.items():
        say(name)
        took = trio.run(_interrupt_obedient, agent, OBEYED[scale])
        yield Figure(
            bench=f"interrupt.{name}_p50", value=percentile(took, 50), unit="ms", n=len(took)
        )
        yield Figure(
            bench=f"interrupt.{name}_p99",
            value=percentile(took, 99),
            unit="ms",
            n=len(took),
            bound=AtMost(100),
        )


async def _interrupt_obedient(agent: str, count: int) -> list[float]:
    with home() as path:
        async with open_avatar(
            launcher.agent(agent), env=environment(path), working_dir=path
        ) as avatar:
            return [await _interrupted(avatar, WAITING) for _ in range(count)]


async def _interrupted(avatar: Avatar, prompt: str) -> float:
    """Milliseconds from the interrupt of a turn that has begun to talk, to its outcome."""
    began = 0.0
    with trio.fail_after(PATIENCE):
        async with avatar.turn(prompt) as turn:
            async for event in turn:
                if isinstance(event, TextEvent) and event.text:
                    began = time.perf_counter()
                    await turn.interrupt()
    took = (time.perf_counter() - began) * 1e3
    assert turn.outcome is Outcome.CANCELLED, (turn.outcome, turn.reason)
    return took


def _interleaved(scale: Scale, say: Say) -> Iterator[Figure]:
    tally = Tally(INTERLEAVINGS[scale], say)
    trio.run(_run_interleavings, tally)
    n = sum(tally.outcomes.values())

    def figure(name: str, value: float, unit: str) -> Figure:
        return Figure(bench=f"interrupt.{name}", value=value, unit=unit, n=n, bound=NoneAtAll())

    for outcome, count in sorted(tally.outcomes.items()):
        yield Figure(bench=f"interrupt.ended_{outcome}", value=count, unit="turns", n=n)
    yield figure("events_after_end", len(tally.afterwards), "events")
    yield figure("texts_mixed", len(tally.mixed), "turns")
    yield figure("turns_without_end", tally.endless, "turns")
    yield figure("avatars_given_up", tally.given_up, "")
    yield Figure(
        bench="interrupt.random_p99",
        value=percentile(tally.took, 99),
        unit="ms",
        n=len(tally.took),
        bound=AtMost(100),
    )
    for sentence in [*tally.afterwards, *tally.mixed][:10]:
        say(sentence)


async def _run_interleavings(tally: Tally) -> None:
    with home() as path:
        async with open_runtime() as runtime, trio.open_nursery() as nursery:
            for seed, (name, agent) in enumerate(AGENTS.items()):
                avatar = await runtime.start(
                    launcher.agent(agent), name, env=environment(path), working_dir=path
                )
                nursery.start_soon(interleave, avatar, tally, seed)


@dataclass(slots=True)
class _Ignored:
    beyond_grace: list[float] = field(default_factory=list[float])
    not_replaced: int = 0


def _ignored(scale: Scale, say: Say) -> Iterator[Figure]:
    say(f"a grace of {GRACE} s")
    found = trio.run(_interrupt_deaf, IGNORED[scale])
    n = IGNORED[scale]
    yield Figure(
        bench="interrupt.ignored_not_restarted",
        value=found.not_replaced,
        unit="turns",
        n=n,
        bound=NoneAtAll(),
    )
    yield Figure(
        bench="interrupt.ignored_beyond_grace",
        value=max(found.beyond_grace),
        unit="ms",
        n=n,
        bound=AtMost(100),
    )


async def _interrupt_deaf(count: int) -> _Ignored:
    found = _Ignored()
    with home() as path:
        async with open_avatar(
            "embedded",
            env=environment(path),
            restarts=RESTARTS,
            timeouts=Timeouts(interrupt=GRACE, stop=0.2),
            working_dir=path,
        ) as avatar:
            for _ in range(count):
                before = (await avatar.health()).pid
                took = await _interrupted(avatar, IGNORING)
                found.beyond_grace.append(took - GRACE * 1e3)
                answer = await avatar.chat(script({"say": "well"}))
                assert answer.content == "well", answer
                found.not_replaced += (await avatar.health()).pid == before
    return found


PARTS = [
    Part("obeyed", "agents that obey: from the interrupt to the outcome", _obeyed),
    Part("random", "random turns, interrupted at random moments", _interleaved),
    Part("ignored", "an agent that ignores it is restarted after the grace", _ignored),
]

if __name__ == "__main__":
    main("bench.interrupt", "How an interrupt ends a turn.", PARTS)
