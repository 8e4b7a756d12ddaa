"""What grows with the avatars, their use and the machine: each figure at two sizes.

`python -m bench.growth`. The agent costs nothing (`quiet_agent.c`, where there is a compiler), so
that the host is measured. A ratio is the figure at the larger size to that at the smaller one.

`alive`: CPU of one start, of one stop (of all at once), of idling, of `tree()` and `avatars()`;
each avatar has three odd secrets of its own. `memory`: what an avatar takes of the host (USS), idle
and after 100 turns of 8 KiB; what its keeper takes; its descriptors. `collector`: the longest pause
of the garbage collector while all avatars stream 10 pieces a second, in CPU time of the loop's
thread, and its share of that thread's CPU. `machine`: CPU of `open_runtime` beside processes of
others.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bench.agents.figure import AtMost, Bound, Figure, RatioAtMost
from bench.agents.program import Part, Say, main
from bench.contest import Scale
from bench.growth_measures import measured
from bench.measure import Spread


@dataclass(frozen=True, slots=True)
class Row:
    """A figure: of which measured value it is made, and by what it is multiplied for its unit."""

    name: str
    value: str
    unit: str
    times: float = 1.0
    bound: Bound = None


ROWS = {
    "alive": (
        Row("start", "start", "ms", 1e3, RatioAtMost(1.3)),
        Row("stop", "stop", "ms", 1e3, RatioAtMost(1.3)),
        Row("stop_of_all", "stop_wall", "s", bound=AtMost(3)),
        Row("idle", "idle", "%", 100, AtMost(0.5)),
        Row("tree", "tree", "ms", 1e3),
        Row("avatars", "avatars", "ms", 1e3),
    ),
    "memory": (
        Row("memory_idle", "idle", "KiB", 1 / 1024, AtMost(100)),
        Row("memory_used", "used", "KiB", 1 / 1024, AtMost(200)),
        Row("memory_helpers", "helpers", "KiB", 1 / 1024),
        Row("descriptors", "descriptors", "fds"),
    ),
    "collector": (
        Row("longest_pause", "longest", "ms", 1e3, AtMost(30)),
        Row("collector_share", "share", "%", 100),
    ),
    "machine": (Row("open_runtime", "cpu", "ms", 1e3, AtMost(25)),),
}
# Few and many: avatars, or processes of others.
FULL = {"alive": (10, 1000), "memory": (10, 50), "collector": (50, 500), "machine": (10, 2000)}
QUICK = {"alive": (5, 40), "memory": (5, 10), "collector": (5, 40), "machine": (5, 100)}
SIZES = {Scale.FULL: FULL, Scale.QUICK: QUICK}


def _figures(measure: str) -> Callable[[Scale, Say], Iterator[Figure]]:
    def figures(scale: Scale, say: Say) -> Iterator[Figure]:
        few, many = SIZES[scale][measure]
        say(f"with {few}")
        small = measured(measure, few)
        say(f"with {many:,}")
        large = measured(measure, many)
        for row in ROWS[measure]:
            before, after = small[row.value], large[row.value]
            yield Figure(
                bench=f"growth.{row.name}",
                value=after * row.times,
                unit=row.unit,
                n=many,
                against=f"with {few}",
                ratio=Spread.of([after / before]) if before > 0 else None,
                bound=row.bound,
            )

    return figures


ABOUT = {
    "alive": "start, stop, idle, tree() and avatars() with 10 and 1,000 avatars",
    "memory": "an avatar idle and after 100 turns of 8 KiB; its keeper",
    "collector": "pauses of the garbage collector while 500 avatars stream",
    "machine": "open_runtime beside 2,000 processes of others",
}
PARTS = [Part(name, about, _figures(name)) for name, about in ABOUT.items()]

if __name__ == "__main__":
    main("bench.growth", "What grows with the avatars, their use and the machine.", PARTS)
