"""A host program for bench.orphans: a warden, one zoo at a time, and a child that is none of ours.

`python -m bench.orphan_host PLACE`. It reads a command per line and answers with one JSON object:
`zoo PYTHON BOOK` starts a zoo in a lease, `end` ends it. The end of its input ends it.
"""

import gc
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import trio

from avatar_actors.processes import (
    Launch,
    Lease,
    LeaseLost,
    WardenLost,
    WardenProcess,
    open_private_root,
    sweep_private_roots,
)

ZOO = Path(__file__).with_name("orphan_zoo.py")
CLOSE_GRACE = 0.1
SETTLE_SECONDS = 5.0


class Host:
    def __init__(self, warden: WardenProcess, unrelated: int) -> None:
        self._warden = warden
        self._unrelated = unrelated
        self._lease: Lease | None = None
        self._fds = 0

    async def replace_warden(self) -> None:
        while True:
            await self._warden.wait_lost()
            await self._warden.aclose()
            self._warden = await WardenProcess.open()

    async def obey(self, words: list[str]) -> None:
        match words:
            case ["zoo", python, book]:
                self._fds = self._fds or _open_fds()
                argv = (python, "-I", "-S", str(ZOO), book)
                env = dict(os.environ)
                launch = Launch(argv=argv, cwd="/", env=env, close_grace=CLOSE_GRACE)
                self._lease = await self._run(launch)
                await self._lease.stdout.receive_some()
                self._say(agent=self._lease.pid, keeper=self._lease.keeper_pid)
            case ["end"] if self._lease is not None:
                ending = await self._lease.end(0)
                await self._lease.aclose()
                self._say(proof=ending.proof.value, fds=await self._leaked())
            case _:
                raise ValueError(words)

    async def close(self) -> None:
        if self._lease is not None:
            await self._lease.aclose()
        await self._warden.aclose()

    async def _run(self, launch: Launch) -> Lease:
        while True:
            try:
                lease = await self._warden.lease()
            except WardenLost:
                await trio.sleep(0.01)
                continue
            try:
                await lease.run(launch)
            except LeaseLost:
                await lease.aclose()
                continue
            return lease

    async def _leaked(self) -> int:
        """Against the first round. A warden that is just being replaced gets time to be."""
        with trio.move_on_after(SETTLE_SECONDS):
            while _open_fds() != self._fds:  # noqa: ASYNC110 - nobody tells
                await trio.sleep(0.01)
        return _open_fds() - self._fds

    def _say(self, **facts: object) -> None:
        wardens = list(self._warden.pids)
        print(json.dumps({"warden": wardens, "unrelated": self._unrelated, **facts}), flush=True)


def _open_fds() -> int:
    """Without pidfds: trio holds one for the anchor of the warden, until it is killed."""
    gc.collect()
    links = (link.readlink() for link in Path("/proc/self/fd").iterdir() if link.exists())
    return sum("pidfd" not in str(link) for link in links)


async def _commands() -> AsyncIterator[list[str]]:
    rest = b""
    async with trio.lowlevel.FdStream(os.dup(0)) as stdin:
        async for data in stdin:
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                yield line.decode().split()


def _start_unrelated() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


async def main(place: Path) -> None:
    sweep_private_roots(place)
    with open_private_root(place), _start_unrelated() as unrelated:
        host = Host(await WardenProcess.open(), unrelated.pid)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(host.replace_warden)
            async for words in _commands():
                await host.obey(words)
            nursery.cancel_scope.cancel()
        await host.close()
        unrelated.kill()


if __name__ == "__main__":
    trio.run(main, Path(sys.argv[1]))
