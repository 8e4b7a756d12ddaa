"""One piece of work in a process of its own, its agent in a home of its own; nothing is left."""

import json
import os
import shlex
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from bench.agents.embedded import EMBEDDED, ROOT
from bench.comparison.contestants import Contestant
from bench.comparison.remains import end, everybody, settled, watch
from tests.fake_agents import launcher

LIMIT = 120.0
COMPLAINTS = "stderr"
WORDS = ('{"found": ', '{"failed": ', '{"ready": ')

Found: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Failed:
    """Why there is no figure, as it was observed."""

    why: str


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be done by whom on which wire, and how much."""

    contestant: Contestant
    python: str
    wire: str
    task: str
    n: int


def play(work: Work) -> Found | Failed:
    """Do it."""
    with _home(work.wire) as home, _started(work, home) as process:
        match work.task:
            case "host_killed":
                return _kill_host(process, home)
            case "closed":
                return _close(process, home)
            case _:
                return _last_word(process, home)


@contextmanager
def _home(wire: str) -> Generator[Path]:
    """Where the agent works and keeps its sessions, with the program that starts it."""
    with tempfile.TemporaryDirectory(prefix="compare-", ignore_cleanup_errors=True) as name:
        home = Path(name)
        program = home / "agent"
        command = shlex.join(EMBEDDED if wire == "acp" else launcher.command(wire))
        program.write_text(f'#!/bin/sh\nexec {command} "$@"\n', "utf-8")
        program.chmod(0o700)
        yield home


@contextmanager
def _started(work: Work, home: Path) -> Generator["subprocess.Popen[str]"]:
    settings = {
        "wire": work.wire,
        "launcher": str(home / "agent"),
        "home": str(home),
        "n": work.n,
        "mark": home.name,
    }
    program = f"bench.comparison.work.{work.contestant.program}"
    with (home / COMPLAINTS).open("w", encoding="utf-8") as complaints:
        process = subprocess.Popen(
            [work.python, "-m", program, work.task, json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
            cwd=home,
            env=_environment(home),
        )
    timer = threading.Timer(LIMIT, process.kill)
    timer.start()
    try:
        yield process
    finally:
        timer.cancel()
        family = everybody(process.pid, home.name)
        process.kill()
        process.wait()
        end(family | everybody(process.pid, home.name))
        process.communicate()


def _environment(home: Path) -> dict[str, str]:
    """Nothing of the user's: a library finds no login and no settings of an agent there."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": str(home), "PYTHONPATH": str(ROOT)}


def _last_word(process: "subprocess.Popen[str]", home: Path) -> Found | Failed:
    while word := _word(process):
        if "found" in word:
            found: Found = word["found"]
            return found
        if "failed" in word:
            return Failed(word["failed"])
    code, complaints = process.wait(), (home / COMPLAINTS).read_text("utf-8", "replace")
    last = (complaints.strip().splitlines() or ["it said nothing"])[-1]
    return Failed(f"the program ended with {code} and no result: {last}")


def _word(process: "subprocess.Popen[str]") -> dict[str, Any]:
    """The next thing that it says; nothing at its end. A library may print, too."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(WORDS):
            word: dict[str, Any] = json.loads(line)
            return word
    return {}


def _kill_host(process: "subprocess.Popen[str]", home: Path) -> Found | Failed:
    word = _word(process)
    if "ready" not in word:
        return Failed(word.get("failed", "no turn with tools came about"))
    family = settled(process.pid, home.name)
    began = time.perf_counter()
    process.send_signal(signal.SIGKILL)
    process.wait()
    left = watch(family, began)
    return {"left": left.left, "were": left.were, "gone": left.milliseconds}


def _close(process: "subprocess.Popen[str]", home: Path) -> Found | Failed:
    word = _word(process)
    if "ready" not in word:
        return Failed(word.get("failed", "no turn with tools came about"))
    family = settled(process.pid, home.name)
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()
    found = _last_word(process, home)
    if isinstance(found, Failed):
        return found
    left = watch(family, time.perf_counter())
    return {**found, "left": left.left, "were": left.were}
