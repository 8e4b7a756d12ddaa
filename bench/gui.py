"""The app in a terminal: CPU, and key to echo, while an answer grows; beside Textual's Markdown.

`python -m bench.gui`. Each figure is a program of its own in a pseudo-terminal that reads all. Keys
are pressed every 150 ms; the echo is the glyph in what the program draws. CPU is that of the app
with its engine, without the agent. What others do on the machine is in the figures: ratios hold.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from bench.agents.embedded import home
from bench.agents.figure import AtMost, Bound, Figure, RatioAtMost, Samples, percentile
from bench.agents.program import Part, Say, main
from bench.contest import Scale
from bench.gui_screen import Screen, on_screen

SMALL, LARGE = (80, 24), (200, 50)
SECONDS = {Scale.FULL: 8.0, Scale.QUICK: 2.0}
ROUNDS = {Scale.FULL: 3, Scale.QUICK: 1}
KEY_EVERY = 0.15
OURS, RIVAL = "ours", "Markdown"
APPS = {OURS: ("avatar_actors", "gui", "-p", "embedded"), RIVAL: ("bench.gui_markdown",)}
TEXTS = {
    "prose": ("", "Words of a sentence that goes on and on, number {i}, and so it does. "),
    "list": ("", "- item {i} of a list that grows\n"),
    "code": ("```python\n", "    value_{i} = compute({i}, 'text')\n"),
}


@dataclass(frozen=True, slots=True)
class Load:
    """A stream of text events, and the size of the window that shows it."""

    text: str
    rate: int
    size: tuple[int, int]

    @property
    def name(self) -> str:
        return f"{self.text}_{self.rate}_{self.size[0]}x{self.size[1]}"

    def prompt(self) -> str:
        head, line = TEXTS[self.text]
        pulse = {"every": 1 / self.rate, "count": 10_000_000, "text": line}
        return f"SCRIPT:{json.dumps([{'say': head}, {'pulse': pulse}])}"


@dataclass(frozen=True, slots=True)
class Measured:
    """What one run gave: the share of a core, and the echoes in milliseconds."""

    cpu: float
    echoes: list[float]


def _run(app: str, load: Load, seconds: float) -> Measured:
    with home() as path:
        env = {
            "AVATAR_EMBEDDED_SCRIPTS": "1",
            "XDG_STATE_HOME": path,
            "BENCH_PROMPT": load.prompt(),
        }
        with on_screen(APPS[app], load.size, env) as screen:
            screen.wait_for("Say something")
            screen.watch(0.5)
            screen.paste(load.prompt() if app == OURS else "go")
            screen.watch(1.5)
            return _pressed(screen, seconds)


def _pressed(screen: Screen, seconds: float) -> Measured:
    echoes: list[float] = []
    began, used = time.monotonic(), screen.cpu()
    while time.monotonic() - began < seconds:
        echoes.append(screen.echo())
        screen.watch(KEY_EVERY)
        if len(echoes) % 15 == 0:
            screen.clear_input(15)
            screen.watch(KEY_EVERY)
    return Measured((screen.cpu() - used) / (time.monotonic() - began), echoes)


def _echo_and_cpu(load: Load, scale: Scale, say: Say, *, is_promised: bool) -> Iterator[Figure]:
    say(load.name)
    found = [_run(OURS, load, SECONDS[scale]) for _ in range(ROUNDS[scale])]
    echoes = [echo for each in found for echo in each.echoes]
    bounds: dict[int, Bound] = {50: AtMost(20), 99: AtMost(150)} if is_promised else {}
    for percent in (50, 90, 99):
        yield Figure(
            bench=f"gui.{load.name}_p{percent}",
            value=percentile(echoes, percent),
            unit="ms",
            n=len(echoes),
            bound=bounds.get(percent),
        )
    cpu = 100 * sum(each.cpu for each in found) / len(found)
    yield Figure(bench=f"gui.{load.name}_cpu", value=cpu, unit="% core", n=len(found))


def _stream(rate: int, scale: Scale, say: Say) -> Iterator[Figure]:
    for size in (SMALL, LARGE):
        for text in TEXTS:
            load = Load(text, rate, size)
            yield from _echo_and_cpu(load, scale, say, is_promised=rate == 200)


def _beside(scale: Scale, say: Say) -> Iterator[Figure]:
    for text in TEXTS:
        samples, load = Samples(), Load(text, 200, LARGE)
        for _ in range(ROUNDS[scale]):
            for app in APPS:
                say(f"{load.name}, {app}")
                samples.add(app, 100 * _run(app, load, SECONDS[scale]).cpu)
        yield Figure(
            bench=f"gui.{text}_beside",
            value=samples.value(OURS),
            unit="% core",
            n=ROUNDS[scale],
            rounds=ROUNDS[scale],
            against=RIVAL,
            ratio=samples.ratio(OURS, RIVAL),
            bound=RatioAtMost(0.5) if text == "list" else None,
        )


def _rest(scale: Scale, say: Say) -> Iterator[Figure]:
    say("first screen, then idle")
    first: list[float] = []
    idle: list[float] = []
    for _ in range(ROUNDS[scale]):
        with home() as path:
            env = {"AVATAR_EMBEDDED_SCRIPTS": "1", "XDG_STATE_HOME": path}
            with on_screen(APPS[OURS], SMALL, env) as screen:
                screen.wait_for("Say something")
                first.append(screen.cpu())
                screen.watch(2.0)
                used = screen.cpu()
                screen.watch(SECONDS[scale])
                idle.append(100 * (screen.cpu() - used) / SECONDS[scale])
    yield Figure(
        bench="gui.first_screen", value=min(first), unit="s CPU", n=len(first), bound=AtMost(0.7)
    )
    yield Figure(bench="gui.idle", value=min(idle), unit="% core", n=len(idle), bound=AtMost(3))


PARTS = [
    Part("rest", "CPU to the first screen, and at rest", _rest),
    Part("200", "200 events a second: prose, list, code, in two sizes", partial(_stream, 200)),
    Part("1000", "the same with 1,000", partial(_stream, 1000)),
    Part("5000", "the same with 5,000", partial(_stream, 5000)),
    Part("beside", "CPU beside Textual's Markdown widget, 200 events a second", _beside),
]

if __name__ == "__main__":
    main("bench.gui", __doc__ or "", PARTS)
