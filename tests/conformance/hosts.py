"""Hosts as processes of their own, seen from outside."""

import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

from tests.conformance.remains import directories_of, processes_of

ROOT = Path(__file__).resolve().parents[2]


class Host:
    """A running host program and what it says."""

    def __init__(self, process: trio.Process) -> None:
        self.process = process
        self._rest = b""
        self.identity = ""
        self.name = ""

    async def says(self, word: str) -> dict[str, Any]:
        """Its next message, which must be of that kind."""
        message = await self.message()
        assert message["word"] == word, message
        if word == "up":
            self.identity, self.name = message["host"], message["process"]
        return message

    async def message(self) -> dict[str, Any]:
        stdout = self.process.stdout
        assert stdout is not None
        while b"\n" not in self._rest:
            data = await stdout.receive_some()
            assert data, f"the host ended with {await self.process.wait()}"
            self._rest += bytes(data)
        line, _, self._rest = self._rest.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def remains(self) -> list[str]:
        """What there still is of it, besides itself."""
        processes = processes_of(self.identity)
        return [*(f"process {pid}" for pid in processes), *directories_of(self.name)]


@asynccontextmanager
async def open_host(
    name: str,
    place: Path,
    *scripts: list[dict[str, Any]],
    prefix: Sequence[str] = (),
    module: str = "tests.conformance.host_program",
) -> AsyncGenerator[Host]:
    """Run a host; it is killed at the end if it still runs then. `prefix` is a wrapper command."""
    played = [json.dumps(steps) for steps in scripts]
    program = [sys.executable, "-m", module, name, str(place), *played]
    process = await trio.lowlevel.open_process(
        [*prefix, *program], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    try:
        yield Host(process)
    finally:
        with trio.CancelScope(shield=True):
            process.kill()
            await process.wait()
            if process.stdout is not None:
                await process.stdout.aclose()
