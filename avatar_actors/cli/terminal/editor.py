"""A tool's input as a file for the person's editor, and what came of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec

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
