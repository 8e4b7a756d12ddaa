"""Ending a tool by its command, as agents really start it."""

import os
import shlex
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
import trio

from avatar_actors.processes import end_command
from tests.processes.census import PATIENCE, eventually, offspring

COMMAND = f"{sys.executable} -c 'import time; time.sleep(61)' \"two words\""
# As the only command it takes the shell's place; Claude Code quotes it once more.
FORMS = [COMMAND, f"true && eval {shlex.quote(COMMAND)} < /dev/null && true"]

# A shell that replaces itself with itself, without end; the command is one of its arguments.
AGAIN = shlex.quote('exec sh -c "$0" "$0" "$1"')


@asynccontextmanager
async def running(line: str) -> AsyncGenerator[trio.Process]:
    """A shell runs the line, and in the end nobody does."""
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            run = partial(trio.run_process, ["bash", "-c", line], check=False)
            yield await nursery.start(run)
            nursery.cancel_scope.cancel()


def is_called(name: str, pid: int) -> bool:
    return Path(f"/proc/{pid}/comm").read_text() == f"{name}\n"


@pytest.mark.parametrize("line", FORMS)
async def test_a_command_is_found_however_it_is_quoted(line: str) -> None:
    before = offspring()
    async with running(line) as process:
        await eventually(lambda: end_command(os.getpid(), COMMAND))
        assert await process.wait() != 0
        await eventually(lambda: offspring() <= before)


async def test_a_command_is_ended_while_its_process_executes_another() -> None:
    """A shell replaces itself with the command it runs; what is told as ended has ended."""
    for _ in range(100):  # the moment in which the command cannot be read is short
        async with running(f"exec sh -c {AGAIN} {AGAIN} {shlex.quote(COMMAND)}") as process:
            await eventually(partial(is_called, "sh", process.pid))
            await eventually(lambda: end_command(os.getpid(), COMMAND))
            assert await process.wait() == -signal.SIGKILL


async def test_an_empty_command_ends_nobody() -> None:
    async with running(COMMAND) as process:
        for nothing in ("''", " ", "\\"):
            assert not end_command(os.getpid(), nothing)
        assert process.poll() is None
