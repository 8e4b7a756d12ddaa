"""The shim around headless Gemini, as a real process with real children."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from avatar_actors.providers.gemini_headless import SHIM

FAKE = str(Path(__file__).with_name("fake_gemini.py"))


class Shim:
    def __init__(self, process: trio.Process) -> None:
        self.process = process
        self._rest = b""

    async def order(self, **order: Any) -> None:
        assert self.process.stdin is not None
        await self.process.stdin.send_all(json.dumps(order).encode() + b"\n")

    async def prompt(self, text: str, turn: int = 1) -> None:
        await self.order(turn=turn, prompt=text, args=["--resume=s-1"])

    async def line(self) -> Any:
        assert self.process.stdout is not None
        while b"\n" not in self._rest:
            data = await self.process.stdout.receive_some(65536)
            assert data, "the shim has ended"
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)


@asynccontextmanager
async def shim(*command: str) -> AsyncGenerator[Shim, None]:
    argv = [sys.executable, "-I", "-S", "-c", SHIM, "--session-id=s-0", "--"]
    command = command or (sys.executable, FAKE)
    pipe = subprocess.PIPE
    with trio.fail_after(60):
        process = await trio.lowlevel.open_process([*argv, *command], stdin=pipe, stdout=pipe)
        try:
            yield Shim(process)
        finally:
            process.kill()
            await process.wait()


def exited(turn: int = 1, returncode: int = 0) -> dict[str, Any]:
    return {"type": "avatar_exit", "turn": turn, "returncode": returncode}


async def gone(pid: int) -> None:
    """Returns when there is no such process any more, or only its zombie."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    await trio.lowlevel.wait_readable(handle)
    os.close(handle)


async def test_it_says_hello_and_passes_on_what_a_run_writes() -> None:
    async with shim() as one:
        assert await one.line() == {"type": "avatar_hello", "session_id": "s-0"}
        await one.prompt("show")
        assert await one.line() == {"argv": ["--resume=s-1", "-p", "show"]}
        assert await one.line() == exited()


async def test_a_missing_executable_is_told_in_the_hello() -> None:
    async with shim("no-such-gemini") as one:
        assert "no-such-gemini" in (await one.line())["error"]
        assert await one.process.wait() == 127


async def test_runs_follow_each_other_with_their_own_codes() -> None:
    async with shim() as one:
        await one.line()
        for turn, code in ((1, 41), (2, 0), (3, 144)):
            await one.prompt(f"exit {code}", turn)
            assert await one.line() == exited(turn, code)


@pytest.mark.parametrize("size", [10, 99_000, 200_000, 3_000_000])
async def test_a_prompt_of_any_length_arrives_whole(size: int) -> None:
    async with shim() as one:
        await one.line()
        await one.prompt("length " + "x" * (size - 7))
        assert await one.line() == {"length": size}
        assert await one.line() == exited()


async def test_a_prompt_that_looks_like_a_flag_goes_by_stdin() -> None:
    async with shim() as one:
        await one.line()
        await one.prompt("--help")
        assert await one.line() == {"argv": ["--resume=s-1", "-p", ""]}


async def test_half_a_line_does_not_swallow_the_end() -> None:
    async with shim() as one:
        await one.line()
        await one.prompt("half")
        with pytest.raises(json.JSONDecodeError):
            await one.line()
        assert await one.line() == exited()


async def test_a_cancel_ends_the_run_and_the_tool_that_it_would_leave_behind(
    tmp_path: Path,
) -> None:
    pid_file = tmp_path / "pid"
    async with shim() as one:
        await one.line()
        await one.prompt(f"tool {pid_file}")
        assert await one.line() == {"ready": True}
        await one.order(cancel=1)
        assert (await one.line())["type"] == "avatar_exit"
        await gone(int(pid_file.read_text()))


async def test_a_run_that_ignores_signals_is_killed() -> None:
    async with shim() as one:
        await one.line()
        await one.prompt("stubborn")
        await one.line()
        await one.order(cancel=1)
        assert await one.line() == exited(returncode=-9)
        await one.prompt("show", 2)
        await one.line()
        assert await one.line() == exited(2)


async def test_a_cancel_of_another_turn_is_passed_over() -> None:
    async with shim() as one:
        await one.line()
        await one.order(cancel=7)
        await one.prompt("show")
        await one.line()
        assert await one.line() == exited()


async def test_a_grandchild_that_holds_the_output_does_not_hold_the_end(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    async with shim() as one:
        await one.line()
        await one.prompt(f"holder {pid_file}")
        assert await one.line() == {"ready": True}
        assert await one.line() == exited()
        await one.prompt("show", 2)
        await one.line()
        assert await one.line() == exited(2)
    os.kill(int(pid_file.read_text()), signal.SIGKILL)


async def test_the_end_of_stdin_ends_everything(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    async with shim() as one:
        await one.line()
        await one.prompt(f"tool {pid_file}")
        await one.line()
        assert one.process.stdin is not None
        await one.process.stdin.aclose()
        assert await one.process.wait() == 0
        await gone(int(pid_file.read_text()))
