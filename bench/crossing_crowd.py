"""Many kinds of callers on one runtime at once: right answers, and nothing left of them."""

import asyncio
import gc
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import trio

from avatar_actors import AvatarEngine, RuntimeThread
from avatar_actors.programs.warden.process_tree import descendants
from bench.agents.embedded import environment, home, script
from bench.agents.host_memory import own_bytes
from bench.agents.program import Say

THREADS = 8
ENGINES = 3


@dataclass(slots=True)
class Found:
    """What the crowd got, and what it left."""

    answers: int = 0
    wrong: int = 0
    growth: int = 0
    left: dict[str, int] = field(default_factory=dict[str, int])


class Caller:
    """One of the crowd: asks until the time is over, and counts for itself."""

    def __init__(self, name: str, engines: list[AvatarEngine], end: float) -> None:
        self.name, self.engines, self.end = name, engines, end
        self.answers = self.wrong = 0

    def question(self) -> tuple[AvatarEngine, str, str]:
        expected = f"{self.name} {self.answers}"
        engine = self.engines[self.answers % len(self.engines)]
        return engine, script({"say": expected, "chunks": 3}), expected

    def take(self, answer: str, expected: str) -> None:
        self.answers += 1
        self.wrong += answer != expected

    def in_a_thread(self) -> None:
        while time.monotonic() < self.end:
            engine, prompt, expected = self.question()
            if self.answers % 2:
                self.take("".join(engine.chat_stream(prompt)), expected)
            else:
                self.take(engine.chat_sync(prompt).content, expected)

    def in_asyncio(self) -> None:
        asyncio.run(self.in_a_loop())

    def in_trio(self) -> None:
        trio.run(self.in_a_loop)

    async def in_a_loop(self) -> None:
        while time.monotonic() < self.end:
            engine, prompt, expected = self.question()
            if self.answers % 2:
                pieces = [piece async for piece in engine.chat_stream(prompt)]
                self.take("".join(pieces), expected)
            else:
                self.take((await engine.chat(prompt)).content, expected)


def crowd(seconds: float, say: Say) -> Found:
    """Let them all call for so many seconds."""
    found = Found()
    # What the first engine of a process brings with it for good is not counted.
    _call_once(1.0, Found())
    before, memory = _holdings(), own_bytes()
    say(f"{THREADS} threads, 2 asyncio loops and a trio program for {seconds:g} s")
    _call_once(seconds, found)
    after = _holdings()
    found.left = {name: max(0, after[name] - before[name]) for name in before}
    found.growth = max(0, own_bytes() - memory)
    return found


def _call_once(seconds: float, found: Found) -> None:
    with home() as path, RuntimeThread() as runtime:
        engines = [
            AvatarEngine("embedded", working_dir=path, env=environment(path), runtime=runtime)
            for _ in range(ENGINES)
        ]
        end = time.monotonic() + seconds
        callers = [Caller(f"thread{n}", engines, end) for n in range(THREADS)]
        works: list[Callable[[], object]] = [caller.in_a_thread for caller in callers]
        loops = [Caller(f"asyncio{n}", engines, end) for n in range(2)]
        works += [caller.in_asyncio for caller in loops]
        native = Caller("trio", engines, end)
        works.append(native.in_trio)
        threads = [threading.Thread(target=work) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for caller in (*callers, *loops, native):
            found.answers += caller.answers
            found.wrong += caller.wrong


def _holdings() -> dict[str, int]:
    gc.collect()
    deadline = time.monotonic() + 30
    # Idle threads, trio's and our handlers', leave by themselves after some seconds.
    while threading.active_count() > 1 and time.monotonic() < deadline:
        time.sleep(0.1)
    return {
        "processes": len(descendants(os.getpid())),
        "threads": threading.active_count(),
        "fds": len(list(Path("/proc/self/fd").iterdir())),
    }
