"""A tool's input in the person's editor, while the REPL's loop goes on."""

from __future__ import annotations

import asyncio
import os
import shlex
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from avatar_actors.cli.approvals import Input
from avatar_actors.cli.exit_code import Failure


async def edited(given: Input) -> Input:
    """As $VISUAL, $EDITOR or vi left it; Failure says why not. The terminal must be free."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with _written(given) as path:
        await _run(editor, path)
        return _read(path)


@contextmanager
def _written(given: Input) -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="avatar-edit-") as folder:
        path = Path(folder) / "input.json"
        path.write_bytes(msgspec.json.format(msgspec.json.encode(given), indent=2) + b"\n")
        yield path


async def _run(editor: str, path: Path) -> None:
    try:
        process = await asyncio.create_subprocess_exec(*shlex.split(editor), str(path))
    except (OSError, ValueError) as error:
        raise Failure(f"the editor {editor!r} cannot be run ({error}); set $EDITOR") from error
    try:
        code = await process.wait()
    except asyncio.CancelledError:  # the person leaves, or is made to: it goes, too
        process.terminate()
        await process.wait()
        raise
    if code != 0:
        raise Failure(f"the editor {editor!r} ended with {code}")


def _read(path: Path) -> Input:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Input)
    except (OSError, msgspec.DecodeError) as error:
        raise Failure(f"what the editor left is no JSON object: {error}") from error
