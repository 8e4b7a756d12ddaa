"""What a piece of text costs the host, from the agent's pipe to a subscriber.

`python -m bench.throughput`. The CPU time of this process alone, from the prompt to the outcome;
the agent's own is not counted. Contestants: `floor` reads the pipe, splits lines and decodes their
JSON with msgspec, no more; `json floor` the same with the standard library; `SDK` is the ACP SDK on
asyncio. Ours come twice: `turn` is the stream of a turn, which merges pieces for a reader that lags
behind; `every` a subscription with room for all, so that each piece arrives as an event of its own.
"""

from collections.abc import Iterator, Mapping

from bench.agents.figure import AtMost, Bound, Figure, RatioAtMost, Samples
from bench.agents.program import Part, Say, main
from bench.contest import Program, Scale
from bench.measure import turns, without_collector
from bench.throughput_floor import floor, json_floor
from bench.throughput_ours import beyond_text, every, streamed_turn
from bench.throughput_sdk import sdk

SIZES = {Scale.FULL: 20_000, Scale.QUICK: 1_000}
LONGER = 10
# Batches on their way, one block of the pipe each, and the allocator's slack; the rest is text.
MEMORY_KIB = 1024.0


def _contest(programs: Mapping[str, Program], scale: Scale, say: Say) -> tuple[Samples, int]:
    n, samples = SIZES[scale], Samples()
    for number, contestant in turns(list(programs), scale.rounds):
        say(f"round {number + 1} of {scale.rounds}, {contestant}")
        samples.add(contestant, without_collector(programs[contestant], n))
    return samples, n


def _acp(scale: Scale, say: Say) -> Iterator[Figure]:
    opponents = {"floor": RatioAtMost(4), "json floor": None, "SDK": RatioAtMost(0.35)}
    others = {"floor": floor("acp"), "json floor": json_floor("acp"), "SDK": sdk}
    yield from _figures("acp", others, opponents, scale, say)


def _claude(scale: Scale, say: Say) -> Iterator[Figure]:
    opponents = {"floor": RatioAtMost(4), "json floor": None}
    others = {"floor": floor("claude"), "json floor": json_floor("claude")}
    yield from _figures("claude", others, opponents, scale, say)


def _figures(
    dialect: str,
    others: Mapping[str, Program],
    opponents: Mapping[str, Bound],
    scale: Scale,
    say: Say,
) -> Iterator[Figure]:
    arrived: list[float] = []

    def turn(n: int) -> float:
        streamed = streamed_turn(dialect, n)
        arrived.append(100 * streamed.events / n)
        return streamed.microseconds

    def long_turn(n: int) -> float:
        return streamed_turn(dialect, n * LONGER).microseconds

    ours = {"turn": turn, "every": every(dialect), "long": long_turn}
    samples, n = _contest({**ours, **others}, scale, say)

    def against(mine: str, opponent: str, bound: Bound, size: int = n) -> Figure:
        return Figure(
            bench=f"throughput.{dialect}_{mine}",
            value=samples.value(mine),
            unit="us",
            n=size,
            rounds=scale.rounds,
            against=opponent,
            ratio=samples.ratio(mine, opponent),
            bound=bound,
        )

    for mine in ("turn", "every"):
        for opponent, bound in opponents.items():
            yield against(mine, opponent, bound)
    yield against("long", "turn", RatioAtMost(1.1), n * LONGER)
    yield Figure(
        bench=f"throughput.{dialect}_arrived",
        value=min(arrived),
        unit="%",
        n=n,
        rounds=scale.rounds,
    )


def _memory(scale: Scale, say: Say) -> Iterator[Figure]:
    n = SIZES[scale]
    for dialect in ("acp", "claude"):
        say(f"{dialect}, turns of {n:,} and {n * LONGER:,}")
        yield Figure(
            bench=f"throughput.{dialect}_memory",
            value=beyond_text(dialect, n, n * LONGER) / 1024,
            unit="KiB",
            n=n * LONGER,
            bound=AtMost(MEMORY_KIB),
        )


PARTS = [
    Part("acp", "ACP: against the floor and the SDK; a turn ten times as long", _acp),
    Part("claude", "Claude's stream-json: against the floor; ten times as long", _claude),
    Part("memory", "what a turn ten times as long holds more, its text aside", _memory),
]

if __name__ == "__main__":
    main("bench.throughput", "What a piece of text costs the host.", PARTS)
