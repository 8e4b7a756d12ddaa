"""Ending a tool by its command, as agents really start it."""

import os
import shlex
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

import pytest
import trio

from avatar_actors.processes import end_command
from tests.processes.census import PATIENCE, eventually, offspring

COMMAND = f"{sys.executable} -c 'import time; time.sleep(61)' \"two words\""
# As the only command it takes the shell's place; Claude Code quotes it once more.
FORMS = [COMMAND, f"true && eval {shlex.quote(COMMAND)} < /dev/null && true"]


@asynccontextmanager
async def running(line: str) -> AsyncGenerator[trio.Process]:
    """A shell runs the line, and in the end nobody does."""
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            run = partial(trio.run_process, ["bash", "-c", line], check=False)
            yield await nursery.start(run)
            nursery.cancel_scope.cancel()


@pytest.mark.parametrize("line", FORMS)
async def test_a_command_is_found_however_it_is_quoted(line: str) -> None:
    before = offspring()
    async with running(line) as process:
        await eventually(lambda: end_command(os.getpid(), COMMAND))
        assert await process.wait() != 0
        await eventually(lambda: offspring() <= before)


async def test_an_empty_command_ends_nobody() -> None:
    async with running(COMMAND) as process:
        for nothing in ("''", " ", "\\"):
            assert not end_command(os.getpid(), nothing)
        assert process.poll() is None
