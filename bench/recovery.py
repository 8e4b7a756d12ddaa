"""How long a killed agent is noticed after, and how soon the avatar takes prompts again.

`python -m bench.recovery`. The agent is killed with SIGKILL in the middle of a turn. Its own start
is measured in the same run, in turns with the kills: a plain child process, from its spawn to its
answer to `session/new`. It is taken off the time from the kill to the avatar's being ready.
"""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import trio

from avatar_actors import (
    Avatar,
    BridgeState,
    EventStream,
    Outcome,
    Restarts,
    StateEvent,
    TextEvent,
    open_avatar,
)
from bench.agents.embedded import ACP, environment, home, plain_agent, script
from bench.agents.figure import AtMost, Bound, Figure, percentile
from bench.agents.program import Part, Say, main
from bench.contest import Scale

KILLS = {Scale.FULL: 200, Scale.QUICK: 10}
PATIENCE = 60.0
# Every restart counts as a first one: no pause grows.
RESTARTS = Restarts(max_restarts=10_000, period=1.0, factor=1.0)
TURN = script({"say": "on it"}, {"wait": 60})


@dataclass(slots=True)
class Times:
    """Milliseconds: kill to outcome, kill to ready, and the plain agent's start."""

    outcome: list[float] = field(default_factory=list[float])
    ready: list[float] = field(default_factory=list[float])
    start: list[float] = field(default_factory=list[float])


def _recovery(scale: Scale, say: Say) -> Iterator[Figure]:
    kills = KILLS[scale]
    times = kill_again_and_again(kills, say)

    def figure(name: str, value: float, bound: Bound = None) -> Figure:
        return Figure(bench=f"recovery.{name}", value=value, unit="ms", n=kills, bound=bound)

    own_start = percentile(times.start, 50)
    yield figure("outcome_p50", percentile(times.outcome, 50))
    yield figure("outcome_p99", percentile(times.outcome, 99), AtMost(50))
    yield figure("agent_start_p50", own_start)
    yield figure("ready_p50", percentile(times.ready, 50))
    yield figure("ready_beyond_start", percentile(times.ready, 50) - own_start, AtMost(20))
    yield figure("ready_p99", percentile(times.ready, 99))


def kill_again_and_again(kills: int, say: Say) -> Times:
    """As often as that, each time with a plain start beside it."""
    return trio.run(_kill_again_and_again, kills, say)


async def _kill_again_and_again(kills: int, say: Say) -> Times:
    times = Times()
    with home() as path:
        async with (
            open_avatar(
                "embedded", env=environment(path), restarts=RESTARTS, working_dir=path
            ) as avatar,
            avatar.events(StateEvent) as states,
        ):
            for number in range(kills):
                say(f"kill {number + 1} of {kills}")
                with trio.fail_after(PATIENCE):
                    await _kill_once(avatar, states, times)
                times.start.append(await trio.to_thread.run_sync(_plain_start))
    return times


async def _kill_once(avatar: Avatar, states: EventStream, times: Times) -> None:
    killed = 0.0
    async with trio.open_nursery() as nursery:
        came_back = trio.Event()
        back_at: list[float] = []
        async with avatar.turn(TURN) as turn:
            async for event in turn:
                if isinstance(event, TextEvent) and event.text:
                    pid = (await avatar.health()).pid
                    assert pid is not None
                    nursery.start_soon(partial(_until_ready, states, back_at, came_back))
                    killed = time.perf_counter()
                    os.kill(pid, signal.SIGKILL)
        ended = time.perf_counter()
        assert turn.outcome is Outcome.CRASHED, turn.outcome
        await came_back.wait()
    times.outcome.append((ended - killed) * 1e3)
    times.ready.append((back_at[0] - killed) * 1e3)


async def _until_ready(states: EventStream, back_at: list[float], came_back: trio.Event) -> None:
    """Until the connection was lost and is there again."""
    was_lost = False
    async for event in states:
        assert isinstance(event, StateEvent)
        was_lost |= event.new_state is BridgeState.WARMING_UP
        if was_lost and event.new_state is BridgeState.READY:
            back_at.append(time.perf_counter())
            came_back.set()
            return


def _plain_start() -> float:
    began = time.perf_counter()
    with plain_agent(ACP):
        return (time.perf_counter() - began) * 1e3


PARTS = [Part("kill", "SIGKILL of the agent in the middle of a turn", _recovery)]

if __name__ == "__main__":
    main("bench.recovery", "How soon a killed agent is noticed and back again.", PARTS)
