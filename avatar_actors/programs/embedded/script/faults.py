"""Script steps that act on the process: its end, its streams, and processes it leaves behind."""

from __future__ import annotations

import binascii
import os
import signal
import sys
import time

from avatar_actors.programs.embedded.json_lines import (
    Record,
    number_in,
    record_in,
    text_in,
    to_json,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from avatar_actors.programs.embedded.process import ProcessControl

BLOCK = 1 << 16
# The process that a test wants the agent to leave behind, in a fresh interpreter. Its arguments:
# kind, seconds, mark. It ends by itself after those seconds; descriptor 3 tells when it is ready.
GRANDCHILD = """
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
GRANDCHILDREN = ("sleeper", "setsid", "daemon", "noenv", "stubborn", "holdstdout", "storm")


class BadScript(Exception):
    """The script is invalid; the message says what is wrong and what would be right."""


def leave(control: ProcessControl, step: Record) -> None:
    """`exit`: ends with that code."""
    control.lifetime.end(int(number_in(step, "exit")))


def kill_itself(control: ProcessControl, step: Record) -> None:
    """`kill`: sends itself the signal, by number or by name."""
    del control
    os.kill(os.getpid(), signal_number(step["kill"]))


def signal_number(given: object) -> int:
    """The number of a signal that was given by number or by name."""
    if isinstance(given, int):
        return given
    name = f"SIG{str(given).upper().removeprefix('SIG')}"
    if name not in signal.Signals.__members__:
        raise BadScript(f"unknown signal {given}")
    return signal.Signals[name]


def close(control: ProcessControl, step: Record) -> None:
    """`close`: closes stdout and lives on."""
    del step
    control.output.close()


def raw(control: ProcessControl, step: Record) -> None:
    """`raw`: bytes on stdout as they are."""
    encoded = text_in(record_in(step, "raw"), "base64")
    control.output.write(binascii.a2b_base64(encoded) if encoded else text_in(step, "raw").encode())


def half(control: ProcessControl, step: Record) -> None:
    """`half`: a line without its end."""
    control.output.write(text_in(step, "half").encode())


def garbage(control: ProcessControl, step: Record) -> None:
    """`garbage`: so many random bytes, then a newline, so that what follows is clean."""
    import random  # noqa: PLC0415 - it costs 10 ms, and only this step needs it

    source = random.Random(number_in(step, "seed"))
    rest = int(number_in(step, "garbage"))
    while rest > 0:
        size = min(rest, BLOCK)
        control.output.write(source.randbytes(size))
        rest -= size
    control.output.write(b"\n")


def stderr(control: ProcessControl, step: Record) -> None:
    """`stderr`: so many bytes, `{"lines": n}` lines, or a text."""
    del control
    given = step["stderr"]
    if isinstance(given, str):
        _write_stderr(given.encode() + b"\n", 1)
    elif lines := number_in(record_in(step, "stderr"), "lines"):
        _write_stderr(b"a line on stderr\n", int(lines))
    else:
        size = int(number_in(step, "stderr"))
        _write_stderr(b"e" * 79 + b"\n", size // 80)
        _write_stderr(b"e" * (size % 80), 1)


def _write_stderr(line: bytes, count: int) -> None:
    per_block = max(1, BLOCK // max(1, len(line)))
    while count > 0:
        view = memoryview(line * min(count, per_block))
        while view:
            view = view[os.write(2, view) :]
        count -= per_block


def spawn_grandchild(control: ProcessControl, step: Record) -> None:
    """`spawn`: starts a real process of that kind and never ends it."""
    del control
    spawn(text_in(step, "spawn"), number_in(step, "seconds", 120), text_in(step, "mark"))


def be_stubborn(control: ProcessControl, step: Record) -> None:
    """`stubborn`: ignores SIGTERM and the end of stdin from now on."""
    control.lifetime.is_stubborn = step["stubborn"] is not False


def be_deaf(control: ProcessControl, step: Record) -> None:
    """`deaf`: reads nothing and does nothing for so long; -1 is forever."""
    seconds = number_in(step, "deaf")
    control.input.close_for(seconds)
    control.input.wait()


def sleep(control: ProcessControl, step: Record) -> None:
    """`wait` and `slow_start` during the start, when there is no turn to cancel."""
    del control
    time.sleep(number_in(step, "wait") or number_in(step, "slow_start"))


def spawn(kind: str, seconds: float, mark: str) -> None:
    """Starts one and returns when it is ready; `mark` ends its command line, to find it by."""
    if kind not in GRANDCHILDREN:
        raise BadScript(
            f"unknown kind of process {to_json(kind)}; known: {', '.join(GRANDCHILDREN)}"
        )
    told, telling = os.pipe()
    actions: list[tuple[object, ...]] = [(os.POSIX_SPAWN_DUP2, telling, 3)]
    silent = (0, 2) if kind == "holdstdout" else (0, 1, 2)
    actions += [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in silent]
    command = [sys.executable, "-I", "-S", "-c", GRANDCHILD, kind, str(seconds), mark]
    environment: dict[str, str] = {} if kind == "noenv" else dict(os.environ)
    pid = os.posix_spawn(command[0], command, environment, file_actions=actions)
    os.close(telling)
    os.read(told, 1)
    os.close(told)
    if kind in ("daemon", "noenv"):
        os.waitpid(pid, 0)


PROCESS_STEPS: dict[str, Callable[[ProcessControl, Record], None]] = {
    "exit": leave,
    "kill": kill_itself,
    "close": close,
    "raw": raw,
    "half": half,
    "garbage": garbage,
    "stderr": stderr,
    "spawn": spawn_grandchild,
    "stubborn": be_stubborn,
    "deaf": be_deaf,
}
