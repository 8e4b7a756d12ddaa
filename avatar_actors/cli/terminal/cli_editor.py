"""Lets a person change what a tool is given, in the editor of their choice."""

from __future__ import annotations

import shlex
from pathlib import Path

import trio

from avatar_actors.cli.terminal.approvals import Input
from avatar_actors.cli.terminal.editor import (
    check_end,
    chosen_editor,
    input_file,
    input_in,
    not_run,
)


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
