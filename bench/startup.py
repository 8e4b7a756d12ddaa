"""How long a person waits for the command `avatar`: for its help, for the first sign of an answer.

`python -m bench.startup`. Each round starts, one after the other: `python -c pass`, `python -c
"import trio"`, `avatar --help`, and `avatar chat --json` with the embedded agent, whose first event
and first text are timed from the start of the process.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import TypeAlias

from bench.agents.embedded import ROOT, environment, home, script
from bench.agents.figure import AtMost, Figure, Samples
from bench.agents.program import Part, Say, main
from bench.contest import Scale
from bench.measure import turns

AVATAR = (sys.executable, "-m", "avatar_actors")
PLAIN = {"pass": "pass", "trio": "import trio"}
MOST = {"help": 250.0, "first_event": 600.0}

# Runs once; what it measured, in ms, by name.
Run: TypeAlias = Callable[[str], dict[str, float]]


def _environment(path: str) -> dict[str, str]:
    """A fresh user's, without any other agent."""
    fresh = {"HOME": path, "PATH": os.defpath, "PYTHONPATH": str(ROOT)}
    return {**fresh, **environment(path)}


def _to_end(name: str, *command: str) -> Run:
    def run(path: str) -> dict[str, float]:
        began = time.perf_counter()
        subprocess.run(
            command,
            cwd=path,
            env=_environment(path),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return {name: (time.perf_counter() - began) * 1e3}

    return run


def _chat(path: str) -> dict[str, float]:
    began, found = time.perf_counter(), dict[str, float]()
    with subprocess.Popen(
        [*AVATAR, "chat", "-p", "embedded", "--json", script({"say": "x"})],
        cwd=path,
        env=_environment(path),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            passed = (time.perf_counter() - began) * 1e3
            found.setdefault("first_event", passed)
            if b'"type":"text"' in line:
                found.setdefault("first_text", passed)
    assert process.returncode == 0, process.returncode
    return found


def _startup(scale: Scale, say: Say) -> Iterator[Figure]:
    runs: dict[str, Run] = {
        **{name: _to_end(name, sys.executable, "-c", code) for name, code in PLAIN.items()},
        "help": _to_end("help", *AVATAR, "--help"),
        "chat": _chat,
    }
    samples = Samples()
    with home() as path:
        for run in runs.values():
            run(path)  # so that everything is compiled, and in the system's cache
        for number, name in turns(list(runs), scale.rounds):
            say(f"round {number + 1} of {scale.rounds}, {name}")
            for measured, milliseconds in runs[name](path).items():
                samples.add(measured, milliseconds)
    yield from _figures(samples, scale)


def _figures(samples: Samples, scale: Scale) -> Iterator[Figure]:
    for name in PLAIN:
        yield Figure(bench=f"startup.{name}", value=samples.value(name), unit="ms", n=1)
    for name in ("help", "first_event", "first_text"):
        for against in PLAIN:
            # A loaded machine may take any time: the quick run only shows it.
            is_bound = name in MOST and against == "pass" and scale is Scale.FULL
            yield Figure(
                bench=f"startup.{name}",
                value=samples.value(name),
                unit="ms",
                n=1,
                rounds=scale.rounds,
                against=against,
                ratio=samples.ratio(name, against),
                bound=AtMost(MOST[name]) if is_bound else None,
            )


PARTS = [Part("startup", "from the start of the process to what a person sees", _startup)]

if __name__ == "__main__":
    main("bench.startup", "How long a person waits for the command avatar.", PARTS)
