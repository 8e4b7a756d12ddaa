"""Steps that act on the process itself: its end, its streams, and its unruly children."""

from __future__ import annotations

import binascii
import os
import signal
import time

from avatar_actors.programs.embedded.errors import BadScript
from avatar_actors.programs.embedded.json_lines import Record, number_in, record_in, text_in
from avatar_actors.programs.embedded.script.grandchildren import spawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from avatar_actors.programs.embedded.process import Body

BLOCK = 1 << 16


def leave(body: Body, step: Record) -> None:
    """`exit`: ends with that code."""
    body.life.end(int(number_in(step, "exit")))


def kill_itself(body: Body, step: Record) -> None:
    """`kill`: sends itself the signal, by number or by name."""
    del body
    os.kill(os.getpid(), signal_number(step["kill"]))


def signal_number(given: object) -> int:
    """The number of a signal that was given by number or by name."""
    if isinstance(given, int):
        return given
    name = f"SIG{str(given).upper().removeprefix('SIG')}"
    if name not in signal.Signals.__members__:
        raise BadScript(f"unknown signal {given}")
    return signal.Signals[name]


def close(body: Body, step: Record) -> None:
    """`close`: closes stdout and lives on."""
    del step
    body.output.close()


def raw(body: Body, step: Record) -> None:
    """`raw`: bytes on stdout as they are."""
    encoded = text_in(record_in(step, "raw"), "base64")
    body.output.write(binascii.a2b_base64(encoded) if encoded else text_in(step, "raw").encode())


def half(body: Body, step: Record) -> None:
    """`half`: a line without its end."""
    body.output.write(text_in(step, "half").encode())


def garbage(body: Body, step: Record) -> None:
    """`garbage`: so many random bytes, then a newline, so that what follows is clean."""
    import random  # noqa: PLC0415 - it costs 10 ms, and only this step needs it

    source = random.Random(number_in(step, "seed"))
    rest = int(number_in(step, "garbage"))
    while rest > 0:
        size = min(rest, BLOCK)
        body.output.write(source.randbytes(size))
        rest -= size
    body.output.write(b"\n")


def stderr(body: Body, step: Record) -> None:
    """`stderr`: so many bytes, `{"lines": n}` lines, or a text."""
    del body
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


def spawn_grandchild(body: Body, step: Record) -> None:
    """`spawn`: a real process of that kind, which nobody here ends."""
    del body
    spawn(text_in(step, "spawn"), number_in(step, "seconds", 120), text_in(step, "mark"))


def be_stubborn(body: Body, step: Record) -> None:
    """`stubborn`: ignores SIGTERM and the end of stdin from now on."""
    body.life.is_stubborn = step["stubborn"] is not False


def be_deaf(body: Body, step: Record) -> None:
    """`deaf`: hears nothing and does nothing for so long; -1 is for ever."""
    seconds = number_in(step, "deaf")
    body.ears.stop_for(seconds)
    body.ears.wait()


def sleep(body: Body, step: Record) -> None:
    """`wait` and `slow_start` while starting, when there is no turn that could be cancelled."""
    del body
    time.sleep(number_in(step, "wait") or number_in(step, "slow_start"))


PROCESS_STEPS: dict[str, Callable[[Body, Record], None]] = {
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
