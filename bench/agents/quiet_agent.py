"""An ACP agent that costs next to nothing: `quiet_agent.c`, compiled, or else this file.

Prompts say what it does: `pulse()` for a paced stream, `say()` for one text, any other for nothing.
Run by its path (`python -I -S quiet_agent.py`), this is the same agent in Python.
"""

import json
import os
import select
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

COMPILERS = ("cc", "gcc", "clang")


@contextmanager
def quiet_agent() -> Generator[tuple[str, ...]]:
    """The agent's command, for the length of a block."""
    import shutil  # noqa: PLC0415 - the agent itself starts without them
    import subprocess  # noqa: PLC0415
    import tempfile  # noqa: PLC0415

    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        yield (sys.executable, "-I", "-S", __file__)
        return
    with tempfile.TemporaryDirectory(prefix="quiet-agent-") as folder:
        program = os.path.join(folder, "quiet-agent")  # noqa: PTH118 - pathlib is slow to import
        source = f"{os.path.splitext(__file__)[0]}.c"  # noqa: PTH122
        subprocess.run([compiler, "-O2", "-o", program, source], check=True)
        yield (program,)


def pulse(count: int, every: float, start: float = 0.0, linger: float = 0.0) -> str:
    """The prompt for so many updates, one every so many seconds; each text is "NUMBER NS ".

    The first comes when the monotonic clock says `start` (0: at once), the turn's end `linger`
    seconds after the last. NS is the monotonic time of writing.
    """
    return " ".join(
        ["pulse", str(count), *(str(round(1e9 * each)) for each in (every, start, linger))]
    )


def say(length: int) -> str:
    """The prompt for one update of so many bytes."""
    return f"say {length}"


class _Agent:
    def __init__(self) -> None:
        self._turn_id: object = None
        # The updates that are left, and the end of the turn as the last step.
        self._left = self._number = 0
        self._every = self._due = self._linger = 0

    def run(self) -> None:
        held = b""
        while True:
            left = max(0, self._due - time.monotonic_ns()) / 1e9 if self._left else None
            if select.select([0], [], [], left)[0]:
                data = os.read(0, 65536)
                if not data:
                    return
                *lines, held = (held + data).split(b"\n")
                for line in lines:
                    self._hear(json.loads(line))
            self._pulse()

    def _hear(self, message: Any) -> None:
        match message:
            case {"method": "initialize", "id": number}:
                agent = {"name": "quiet-agent", "version": "1"}
                hello = {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": agent}
                _answer(number, hello)
            case {"method": "session/new", "id": number}:
                _answer(number, {"sessionId": "quiet"})
            case {"method": "session/prompt", "id": number, "params": {"prompt": [{"text": text}]}}:
                self._turn_id = number
                self._prompted(str(text).split())
            case {"method": "session/cancel"} if self._turn_id is not None:
                self._end("cancelled")
            case {"method": _, "id": number}:
                _answer(number, {})
            case _:
                pass

    def _prompted(self, words: list[str]) -> None:
        match words:
            case ["pulse", count, every, start, linger]:
                self._left, self._number = int(count) + 1, 0
                self._every, self._linger = int(every), int(linger)
                self._due = int(start) or time.monotonic_ns()
                return
            case ["say", length]:
                _update("x" * int(length))
            case _:
                pass
        self._end("end_turn")

    def _pulse(self) -> None:
        while self._left and time.monotonic_ns() >= self._due:
            self._left -= 1
            if not self._left:
                self._end("end_turn")
                return
            _update(f"{self._number} {time.monotonic_ns()} ")
            is_last = self._left == 1
            self._due = time.monotonic_ns() + self._linger if is_last else self._due + self._every
            self._number += 1

    def _end(self, reason: str) -> None:
        _answer(self._turn_id, {"stopReason": reason})
        self._turn_id, self._left = None, 0


def _update(text: str) -> None:
    content = {"type": "text", "text": text}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    _write({"method": "session/update", "params": {"sessionId": "quiet", "update": update}})


def _answer(number: object, result: object) -> None:
    _write({"id": number, "result": result})


def _write(message: dict[str, object]) -> None:
    data = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    _Agent().run()
