"""A tool's input in the person's editor, while the REPL's loop goes on."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path

from avatar_actors.cli.terminal.approvals import Input
from avatar_actors.cli.terminal.editor import (
    check_end,
    chosen_editor,
    input_file,
    input_in,
    not_run,
)


async def edited(given: Input) -> Input:
    """As the editor left it; Failure says why not. The terminal must be free."""
    with input_file(given) as path:
        await _run(chosen_editor(), path)
        return input_in(path)


async def _run(editor: str, path: Path) -> None:
    try:
        process = await asyncio.create_subprocess_exec(*shlex.split(editor), str(path))
    except (OSError, ValueError) as error:
        raise not_run(editor, error) from error
    try:
        code = await process.wait()
    except asyncio.CancelledError:  # the person leaves, or is made to: it goes, too
        process.terminate()
        await process.wait()
        raise
    check_end(editor, code)
