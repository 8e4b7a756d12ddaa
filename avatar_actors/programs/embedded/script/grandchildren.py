"""The unruly processes that tests want agents to leave behind, each with its last hour set."""

from __future__ import annotations

import os
import sys

from avatar_actors.programs.embedded.errors import BadScript
from avatar_actors.programs.embedded.json_lines import to_json

# Runs in a fresh interpreter: argv is kind, seconds, mark. Descriptor 3 says that it is in place.
PROGRAM = """
import os, signal, sys, time
kind, seconds = sys.argv[1], float(sys.argv[2])
end = time.monotonic() + seconds

def ready():
    os.write(3, b".")
    os.close(3)

def live():
    while (rest := end - time.monotonic()) > 0:
        time.sleep(rest)
    os._exit(0)

def ignore():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)

def daemonize():
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)

if kind in ("setsid", "stubborn", "storm"):
    os.setsid()
if kind in ("daemon", "noenv"):
    daemonize()
if kind in ("stubborn", "storm"):
    ignore()
if kind == "storm":
    for _ in range(40):
        if not os.fork():
            os.close(3)
            os.setsid()
            live()
    if not os.fork():
        # A comet: it is never the same process for long.
        os.close(3)
        fading = min(end, time.monotonic() + 20)
        while time.monotonic() < fading:
            time.sleep(0.005)
            if os.fork():
                os._exit(0)
            os.setsid()
        os._exit(0)
ready()
live()
"""
KINDS = ("sleeper", "setsid", "daemon", "noenv", "stubborn", "holdstdout", "storm")


def spawn(kind: str, seconds: float, mark: str) -> None:
    """Starts one and returns when it is in place; `mark` ends its command line, to find it by."""
    if kind not in KINDS:
        raise BadScript(f"unknown kind of process {to_json(kind)}; known: {', '.join(KINDS)}")
    told, telling = os.pipe()
    actions: list[tuple[object, ...]] = [(os.POSIX_SPAWN_DUP2, telling, 3)]
    silent = (0, 2) if kind == "holdstdout" else (0, 1, 2)
    actions += [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in silent]
    command = [sys.executable, "-I", "-S", "-c", PROGRAM, kind, str(seconds), mark]
    environment: dict[str, str] = {} if kind == "noenv" else dict(os.environ)
    pid = os.posix_spawn(command[0], command, environment, file_actions=actions)
    os.close(telling)
    os.read(told, 1)
    os.close(told)
    if kind in ("daemon", "noenv"):
        os.waitpid(pid, 0)
