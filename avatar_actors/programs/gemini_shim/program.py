"""A persistent program around `gemini -p …`, which runs one prompt and ends.

It reads one JSON object per line: `{"turn": 1, "prompt": "…", "args": ["--resume=…"]}` or
`{"cancel": 1}`. It writes `{"type": "avatar_hello"}` once, copies what each child writes, and adds
`{"type": "avatar_exit", "turn": 1, "returncode": 0}` when the output of that child has ended and
it was reaped. The meaning of the lines is left to the wire.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import sys

from avatar_actors.programs.gemini_shim.one_shot import OneShot, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

BLOCK = 65536
STDIN = 0


def main() -> None:
    """`[--session-id=ID] -- gemini FLAG…`; ends when stdin does."""
    options, command = _split(sys.argv[1:])
    session_id = options[0].removeprefix("--session-id=") if options else ""
    hello = {"type": "avatar_hello", "session_id": session_id}
    if not command or shutil.which(command[0]) is None:
        name = command[0] if command else ""
        problem = "may not be executed" if os.access(name, os.F_OK) else "was not found"
        say({**hello, "error": f"{name!r} {problem}"})
        sys.exit(127)
    say(hello)
    _serve(command)


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:at], arguments[at + 1 :]


def _serve(command: Sequence[str]) -> None:
    rest = b""
    run: OneShot | None = None
    while True:
        watched, timeout = run.watched() if run else ([], None)
        ready, _, _ = select.select([STDIN, *watched], [], [], timeout)
        if STDIN in ready:
            data = os.read(STDIN, BLOCK)
            if not data:
                break
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                run = _obey(json.loads(line), command, run)
        if run and run.step(ready):
            run = None
    if run:
        run.end_at_once()


def _obey(order: dict[str, Any], command: Sequence[str], run: OneShot | None) -> OneShot | None:
    if "cancel" in order:
        if run and run.turn == order["cancel"]:
            run.cancel()
        return run
    turn = order["turn"]
    if run:
        sys.stderr.write(f"gemini_headless: prompt {turn} came during a turn\n")
        return run
    try:
        return OneShot(turn, [*command, *order["args"]], order["prompt"])
    except OSError as error:
        say({"type": "avatar_exit", "turn": turn, "returncode": None, "error": str(error)})
        return None
