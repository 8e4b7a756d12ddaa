"""The host's side of the warden: starts the helper program and takes leases from it."""

import contextlib
import errno
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Literal

import trio

import avatar_actors
from avatar_actors.processes.descriptors import OwnedFd, check_descriptors, watch
from avatar_actors.processes.lease import Lease, open_lease
from avatar_actors.processes.line_socket import KeeperEnd, LineSocket
from avatar_actors.processes.sweep import host_identity
from avatar_actors.processes.types import WardenLost, WardenNotStarted
from avatar_actors.programs.warden import LEASE_COOKIE, WARDEN_COOKIE
from avatar_actors.programs.warden.process_tree import read_stat, signal_process

# It takes some 60 ms on a quiet machine.
START_SECONDS = 30.0
# Seconds for the helper to exit, once all leases have ended.
LEAVE_SECONDS = 5.0

ROOT = str(Path(avatar_actors.__file__).resolve().parent.parent)
PROGRAM = (
    "import sys; sys.path.insert(0, {root!r}); "
    "from avatar_actors.programs.warden.program import main; main()"
)
SHORTAGES = (errno.EMFILE, errno.ENFILE)
KEPT_ENVIRONMENT = ("DYLD_LIBRARY_PATH", "LD_LIBRARY_PATH", LEASE_COOKIE)


class WardenProcess:
    """The helper process and the socket to it, for one owner. Created by `open`."""

    def __init__(self, process: trio.Process, fd: OwnedFd) -> None:
        self._process = process
        self._line = LineSocket(fd, self._hear)
        watch(fd)
        self.pids: tuple[int, ...] = ()
        """Its two processes, anchor and server: if one is killed, the other starts it again."""
        self.containment: Literal["subreaper", "best effort"] = "best effort"
        """How agents' processes are held together: "subreaper" is exact, but needs Linux."""

    @classmethod
    async def open(cls, *, python: str | None = None) -> "WardenProcess":
        """Start the helper. `python` is for hosts whose `sys.executable` is not a Python.

        WardenNotStarted when it does not come up.
        """
        executable = python or sys.executable
        if not executable:
            raise WardenNotStarted("this program does not know its Python: pass python=")
        warden = cls(*await _start(executable))
        try:
            with trio.move_on_after(START_SECONDS):
                await warden._line.until(lambda: bool(warden.pids))
            if not warden.pids:
                raise WardenNotStarted(f"{executable} did not run the warden: pass python=")
        except BaseException:
            await warden.aclose()
            raise
        return warden

    @property
    def pid(self) -> int:
        """The pid of the process that was started."""
        return self._process.pid

    async def lease(self) -> Lease:
        """A lease for one agent. WardenLost when the helper is dead; OSError when out of fds."""
        lease, keeper_end = open_lease()
        try:
            with keeper_end:
                await self.admit(keeper_end)
        except BaseException:
            await lease.aclose()
            raise
        return lease

    async def admit(self, keeper_end: KeeperEnd) -> None:
        """Start a keeper for it, unless it is closed. WardenLost when the helper is dead."""
        try:
            await self._line.send_fds(keeper_end)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise WardenLost("the warden is dead") from error

    async def wait_lost(self) -> None:
        """Return when the helper is dead, or the host has closed our socket to it.

        A task of the owner should always wait here: it also reaps an anchor that was killed, and
        finds out when the host has closed descriptors of ours, those of leases too.
        """
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._process.wait)
            nursery.start_soon(check_descriptors)
            await self._line.until(lambda: False)
            nursery.cancel_scope.cancel()

    async def aclose(self) -> None:
        """Let the helper exit, which it does after its last keeper; end the leases first."""
        with trio.CancelScope(shield=True):
            self._line.hang_up()
            with trio.move_on_after(LEAVE_SECONDS):
                await self._line.until(lambda: False)
                await self._process.wait()
            if self._process.returncode is None or not self._line.is_over:
                self._kill()
                with trio.move_on_after(LEAVE_SECONDS):
                    await self._process.wait()
            self._line.close()

    def _hear(self, words: list[str]) -> None:
        match words:
            case ["serving", anchor, server, containment]:
                self.pids = tuple(sorted({int(anchor), int(server)}))
                self.containment = "subreaper" if containment == "subreaper" else "best effort"
            case _:
                pass

    def _kill(self) -> None:
        # It is stopped, or waits for a keeper whose agent cannot be killed; keepers go on alone.
        self._process.kill()
        for pid in self.pids:
            with contextlib.suppress(PermissionError):
                signal_process(pid, signal.SIGKILL, self._is_in_session)

    def _is_in_session(self, pid: int) -> bool:
        stat = read_stat(pid)
        return stat is not None and stat.session == self.pid


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    return {**kept, WARDEN_COOKIE: host_identity()}


async def _start(python: str) -> tuple[trio.Process, OwnedFd]:
    try:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            code = PROGRAM.format(root=ROOT)
            process = await trio.lowlevel.open_process(
                [python, "-I", "-S", "-c", code, str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=_environment(),
                pass_fds=[theirs.fileno()],
            )
            return process, OwnedFd(ours.detach())
    except OSError as error:
        raise WardenNotStarted(_why_not(python, error)) from error


def _why_not(python: str, error: OSError) -> str:
    if error.errno in SHORTAGES:
        return f"the warden could not be started: {error.strerror}: raise ulimit -n"
    return f"{python}: {error.strerror}: pass python="
