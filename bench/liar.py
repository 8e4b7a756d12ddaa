"""One agent that lies in every field it can, beside honest ones: they answer as in peace.

`python -m bench.liar`. Twenty honest avatars are asked in turn, first in peace, then beside the
liar, in one runtime with a shared budget, metrics and a tool policy. The liar's first answer is
300 MiB of text, then come bursts of lies.
"""

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import trio

from avatar_actors import (
    Avatar,
    AvatarDown,
    Budget,
    MetricsSettings,
    Restarts,
    Runtime,
    ToolPolicy,
    open_runtime,
)
from bench.agents import lying_agent
from bench.agents.embedded import environment, home
from bench.agents.figure import AtMost, Figure, NoneAtAll, RatioAtMost, percentile
from bench.agents.host_memory import resident_bytes
from bench.agents.program import Part, Say, main
from bench.contest import Scale
from bench.measure import Spread

PROGRAM = Path(lying_agent.__file__)
HONEST = 20
PAUSE = 0.5
SAMPLE = 0.02
PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class Size:
    """Seconds of peace and of lies, and what the liar says first."""

    peace: float
    lies: float
    mebibytes: int


SIZES = {Scale.FULL: Size(20.0, 60.0, 300), Scale.QUICK: Size(3.0, 6.0, 30)}


@dataclass(slots=True)
class Found:
    """Seconds that an honest avatar's answer took, and what became of everybody."""

    peace: list[float] = field(default_factory=list[float])
    beside: list[float] = field(default_factory=list[float])
    wrong: int = 0
    turns: int = 0
    endless: int = 0
    down: int = 0
    before: int = 0
    peak: int = 0


def _liar(scale: Scale, say: Say) -> Iterator[Figure]:
    found = trio.run(_run, SIZES[scale], say)
    for name, figures in (("peace", found.peace), ("beside", found.beside)):
        value = percentile(figures, 50) * 1e3
        yield Figure(bench=f"liar.{name}_p50", value=value, unit="ms", n=len(figures))
    peace, beside = percentile(found.peace, 99), percentile(found.beside, 99)
    yield Figure(bench="liar.peace_p99", value=peace * 1e3, unit="ms", n=len(found.peace))
    yield Figure(
        bench="liar.beside_p99",
        value=beside * 1e3,
        unit="ms",
        n=len(found.beside),
        against="peace",
        ratio=Spread.of([beside / peace]),
        bound=RatioAtMost(2.0),
    )
    for name, count, n in (
        ("answers_wrong", found.wrong, len(found.peace) + len(found.beside)),
        ("lying_turns_endless", found.endless, found.turns),
        ("avatars_down", found.down, HONEST + 1),
    ):
        yield Figure(bench=f"liar.{name}", value=count, unit="", n=n, bound=NoneAtAll())
    yield Figure(
        bench="liar.memory_growth",
        value=(found.peak - found.before) / 2**20,
        unit="MiB",
        n=found.turns,
        bound=AtMost(100.0),
    )


async def _run(size: Size, say: Say) -> Found:
    found = Found()
    async with open_runtime(
        budget=Budget(tokens=10**15), metrics=MetricsSettings(port=0)
    ) as runtime:
        with home() as path:
            honest = [
                await runtime.start("embedded", env=environment(path), working_dir=path)
                for _ in range(HONEST)
            ]
            say("peace")
            await _ask_all(honest, found, found.peace, size.peace)
            liar = await _start_liar(runtime, path, size.mebibytes)
            found.before = found.peak = resident_bytes()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_watch_memory, found, say)
                nursery.start_soon(_provoke, liar, found)
                await _ask_all(honest, found, found.beside, size.lies)
                nursery.cancel_scope.cancel()
            found.down = sum(avatar.is_down for avatar in (*honest, liar))
            await runtime.spent()
    return found


async def _start_liar(runtime: Runtime, path: str, mebibytes: int) -> Avatar:
    return await runtime.start(
        "acp",
        "liar",
        executable=sys.executable,
        args=("-I", "-S", str(PROGRAM), "1", str(mebibytes)),
        options={"files": "host"},
        working_dir=path,
        tools=ToolPolicy(deny=("*(*secret*)",)),
        restarts=Restarts(max_restarts=1_000_000, period=1.0, factor=1.0),
    )


async def _ask_all(honest: list[Avatar], found: Found, waited: list[float], seconds: float) -> None:
    """Ask each again and again, not all at one moment."""
    with trio.move_on_after(seconds):
        async with trio.open_nursery() as nursery:
            for place, avatar in enumerate(honest):
                nursery.start_soon(_ask, avatar, found, waited, PAUSE * place / HONEST)


async def _ask(avatar: Avatar, found: Found, waited: list[float], delay: float) -> None:
    await trio.sleep(delay)
    number = 0
    while not avatar.is_down:
        number += 1
        asked = trio.current_time()
        content = ""
        with suppress(AvatarDown):
            content = (await avatar.chat(f"{number}+1")).content
        waited.append(trio.current_time() - asked)
        found.wrong += content != str(number + 1)
        await trio.sleep(PAUSE)


async def _provoke(avatar: Avatar, found: Found) -> None:
    """Turn after turn; each must end."""
    while not avatar.is_down:
        with trio.move_on_after(PATIENCE) as patience, suppress(AvatarDown):
            await avatar.chat("go on")
        found.turns += 1
        found.endless += patience.cancelled_caught


async def _watch_memory(found: Found, say: Say) -> None:
    while True:
        found.peak = max(found.peak, resident_bytes())
        say(f"beside the liar, {found.turns} turns of it")
        await trio.sleep(SAMPLE)


PARTS = [Part("liar", "an agent that lies in every field, beside honest ones", _liar)]

if __name__ == "__main__":
    main("bench.liar", "What an agent that lies can do to its neighbours.", PARTS)
