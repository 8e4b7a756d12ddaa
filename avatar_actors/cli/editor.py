"""Lets a person change what a tool is given, in the editor of their choice."""

from __future__ import annotations

import os
import shlex
import tempfile
from pathlib import Path

import msgspec
import trio

from avatar_actors.cli.exit_code import Failure


async def edited(given: dict[str, object]) -> dict[str, object]:
    """The same as the editor left it; Failure if that is no JSON object, or if it did not run."""
    with tempfile.TemporaryDirectory(prefix="avatar-edit-") as folder:
        path = Path(folder) / "input.json"
        path.write_bytes(msgspec.json.format(msgspec.json.encode(given), indent=2) + b"\n")
        await _edit(path)
        return _read(path)


async def _edit(path: Path) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        command = [*shlex.split(editor), str(path)]
        # Not our own opening of the terminal, which waits for nobody.
        with open("/dev/tty", "r+b", buffering=0) as terminal:  # noqa: ASYNC230, PTH123 - it is there
            done = await trio.run_process(
                command, stdin=terminal, stdout=terminal, stderr=terminal, check=False
            )
    except (OSError, ValueError) as error:
        raise Failure(f"the editor {editor!r} cannot be run ({error}); set $EDITOR") from error
    if done.returncode != 0:
        raise Failure(f"the editor {editor!r} ended with {done.returncode}")


def _read(path: Path) -> dict[str, object]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, object])
    except (OSError, msgspec.DecodeError) as error:
        raise Failure(f"what the editor left is no JSON object: {error}") from error
