"""What it costs to reach an avatar from a program that is no trio program.

`python -m bench.crossing`. `calls` and `stream` run the same work trio-native, in the runtime's own
loop, and through AvatarEngine from a thread, from asyncio and from another trio run; rounds
alternate. `handlers` has a handler that sleeps 50 ms at each event beside one that does not.
`crowd` drives one runtime from eight threads, two asyncio loops and a trio program at once.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping

import trio

from avatar_actors import AvatarEngine, TextEvent
from bench.agents.embedded import environment, flood, home, script
from bench.agents.figure import AtMost, Figure, NoneAtAll, RatioAtMost, Samples
from bench.agents.program import Part, Say, main
from bench.contest import Scale
from bench.crossing_crowd import crowd
from bench.crossing_native import Native
from bench.measure import turns

CALLS = {Scale.FULL: 300, Scale.QUICK: 20}
CHUNKS = {Scale.FULL: 20_000, Scale.QUICK: 1_000}
SECONDS = {Scale.FULL: 60.0, Scale.QUICK: 3.0}
WARM_UP = 20
ANSWER = script({"say": "x"})


def engine(path: str) -> AvatarEngine:
    """An engine whose agent is up and warm."""
    made = AvatarEngine("embedded", working_dir=path, env=environment(path))
    for _ in range(WARM_UP):
        made.chat_sync(ANSWER)
    return made


def _in_a_thread(host: AvatarEngine, n: int) -> float:
    began = time.perf_counter()
    for _ in range(n):
        host.chat_sync(ANSWER)
    return (time.perf_counter() - began) / n * 1e6


async def _calls(host: AvatarEngine, n: int) -> float:
    began = time.perf_counter()
    for _ in range(n):
        await host.chat(ANSWER)
    return (time.perf_counter() - began) / n * 1e6


async def _stream(host: AvatarEngine, n: int) -> float:
    began, heard = time.perf_counter(), 0
    async for text in host.chat_stream(flood(n, "text ")):
        heard += len(text)
    assert heard == n * len("text "), heard
    return (time.perf_counter() - began) / n * 1e6


def _stream_in_a_thread(host: AvatarEngine, n: int) -> float:
    began = time.perf_counter()
    heard = sum(map(len, host.chat_stream(flood(n, "text "))))
    assert heard == n * len("text "), heard
    return (time.perf_counter() - began) / n * 1e6


def _contest(
    contestants: Mapping[str, Callable[[int], float]], n: int, scale: Scale, say: Say
) -> Samples:
    samples = Samples()
    for number, name in turns(list(contestants), scale.rounds):
        say(f"round {number + 1} of {scale.rounds}, {name}")
        samples.add(name, contestants[name](n))
    return samples


def _calls_part(scale: Scale, say: Say) -> Iterator[Figure]:
    yield from _four_ways("call", CALLS[scale], scale, say)


def _stream_part(scale: Scale, say: Say) -> Iterator[Figure]:
    yield from _four_ways("chunk", CHUNKS[scale], scale, say)


def _four_ways(what: str, n: int, scale: Scale, say: Say) -> Iterator[Figure]:
    with home() as path, Native(path) as native:
        host = engine(path)
        if what == "call":
            natively, in_a_thread, in_a_loop = native.calls, _in_a_thread, _calls
        else:
            natively, in_a_thread, in_a_loop = native.stream, _stream_in_a_thread, _stream
        contestants: dict[str, Callable[[int], float]] = {
            "native": natively,
            "thread": lambda n: in_a_thread(host, n),
            "asyncio": lambda n: asyncio.run(in_a_loop(host, n)),
            "trio": lambda n: trio.run(in_a_loop, host, n),
        }
        samples = _contest(contestants, n, scale, say)
        host.stop_sync()
    yield from _against_native(what, samples, n, scale)


def _against_native(what: str, samples: Samples, n: int, scale: Scale) -> Iterator[Figure]:
    for name in samples.of:
        is_bound = name != "native"
        yield Figure(
            bench=f"crossing.{what}_{name}",
            value=samples.value(name),
            unit="us",
            n=n,
            rounds=scale.rounds,
            against="native" if is_bound else "",
            ratio=samples.ratio(name, "native") if is_bound else None,
            bound=RatioAtMost(2) if is_bound else None,
        )


def _handlers_part(scale: Scale, say: Say) -> Iterator[Figure]:
    """The agent writes for a while; the slow handler would need far longer than that."""
    pieces, samples = 100, Samples()
    pulse = script({"pulse": {"every": 0.01, "count": pieces, "text": "{i} "}})
    said = "".join(f"{number} " for number in range(pieces))
    lost = 0
    for number, name in turns(["alone", "beside"], scale.rounds):
        say(f"round {number + 1} of {scale.rounds}, {name}")
        with home() as path:
            host = engine(path)
            quick, slow = list[str](), list[str]()
            caught_up = threading.Event()

            def hear(event: TextEvent, heard: list[str] = quick) -> None:
                heard.append(event.text)
                if "".join(heard) == said:
                    caught_up.set()  # noqa: B023 - this round's

            def sleep(event: TextEvent, heard: list[str] = slow) -> None:
                time.sleep(0.05)
                heard.append(event.text)

            host.on(TextEvent, hear)
            if name == "beside":
                host.on(TextEvent, sleep)
            began = time.perf_counter()
            host.chat_sync(pulse)
            caught_up.wait(60)
            samples.add(name, (time.perf_counter() - began) * 1e3)
            host.flush_sync(60)
            lost += len(said) - len("".join(quick))
            lost += len(said) - len("".join(slow)) if name == "beside" else 0
            host.stop_sync()
    yield Figure(
        bench="crossing.beside_a_slow_one",
        value=samples.value("beside"),
        unit="ms",
        n=pieces,
        rounds=scale.rounds,
        against="alone",
        ratio=samples.ratio("beside", "alone"),
        bound=RatioAtMost(1.1),
    )
    yield Figure(bench="crossing.text_lost", value=lost, unit="chars", n=pieces, bound=NoneAtAll())


def _crowd_part(scale: Scale, say: Say) -> Iterator[Figure]:
    found = crowd(SECONDS[scale], say)
    yield Figure(bench="crossing.crowd_answers", value=found.answers, unit="", n=found.answers)
    yield Figure(
        bench="crossing.crowd_wrong", value=found.wrong, unit="", n=found.answers, bound=NoneAtAll()
    )
    for name, count in found.left.items():
        yield Figure(
            bench=f"crossing.left_{name}", value=count, unit="", n=found.answers, bound=NoneAtAll()
        )
    yield Figure(
        bench="crossing.crowd_memory",
        value=found.growth / 1024,
        unit="KiB",
        n=found.answers,
        bound=AtMost(4096),
    )


PARTS = [
    Part("calls", "a prompt that is answered at once, to its answer", _calls_part),
    Part("stream", "20,000 pieces of text, each to its reader", _stream_part),
    Part("handlers", "a handler beside one that sleeps 50 ms at each event", _handlers_part),
    Part("crowd", "8 threads, 2 asyncio loops, a trio program on one runtime, 60 s", _crowd_part),
]  # fmt: skip

if __name__ == "__main__":
    main("bench.crossing", "What it costs to reach an avatar from outside of trio.", PARTS)
