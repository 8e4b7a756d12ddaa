"""Lets a person change what a tool is given, in the editor of their choice."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import trio

from avatar_actors.cli.exit_codes import Failure
from avatar_actors.cli.terminal.approvals import Input


def chosen_editor() -> str:
    """The command line of $VISUAL, $EDITOR or vi."""
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"


@contextmanager
def input_file(given: Input) -> Generator[Path]:
    """It as JSON, for the length of the block."""
    with tempfile.TemporaryDirectory(prefix="avatar-edit-") as folder:
        path = Path(folder) / "input.json"
        path.write_bytes(msgspec.json.format(msgspec.json.encode(given), indent=2) + b"\n")
        yield path


def input_in(path: Path) -> Input:
    """What the editor left; Failure if that is no JSON object."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Input)
    except (OSError, msgspec.DecodeError) as error:
        raise Failure(f"what the editor left is no JSON object: {error}") from error


def not_run(editor: str, error: Exception) -> Failure:
    """It could not be started."""
    return Failure(f"the editor {editor!r} cannot be run ({error}); set $EDITOR")


def check_end(editor: str, code: int) -> None:
    """Failure unless it ended well."""
    if code != 0:
        raise Failure(f"the editor {editor!r} ended with {code}")


async def edited(given: Input) -> Input:
    """The same as the editor left it; Failure if that is no JSON object, or if it did not run."""
    with input_file(given) as path:
        await _edit(chosen_editor(), path)
        return input_in(path)


async def _edit(editor: str, path: Path) -> None:
    try:
        command = [*shlex.split(editor), str(path)]
        # Not our own opening of the terminal, which waits for nobody.
        with open("/dev/tty", "r+b", buffering=0) as terminal:  # noqa: ASYNC230, PTH123 - it is there
            done = await trio.run_process(
                command, stdin=terminal, stdout=terminal, stderr=terminal, check=False
            )
    except (OSError, ValueError) as error:
        raise not_run(editor, error) from error
    check_end(editor, done.returncode)
