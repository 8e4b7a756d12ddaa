"""The host's end of a line-based socket to a warden or keeper, and the keeper's end of it.

No task reads all the time: a task that waits for something reads for all waiting tasks, and another
one goes on when it is cancelled. So a lease needs no nursery, and can be ended in a `finally`.
"""

import os
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TypeAlias

import trio

from avatar_actors.processes.descriptors import OwnedFd


class KeeperEnd:
    """The keeper's descriptors, until they are sent: control socket, stdin, stdout, stderr.

    They are closed at the end of `with keeper_end:`, or when it is garbage: a keeper gets copies.
    """

    def __init__(self, fds: Sequence[int]) -> None:
        self.fds = tuple(fds)

    def close(self) -> None:
        """Close the descriptors; a second call does nothing."""
        fds, self.fds = self.fds, ()
        for fd in fds:
            os.close(fd)

    def __enter__(self) -> "KeeperEnd":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


Heard: TypeAlias = Callable[[list[str]], None]


class LineSocket:
    """Calls `heard` with the words of each line."""

    def __init__(self, fd: OwnedFd, heard: Heard) -> None:
        self._fd = fd
        self._heard = heard
        self._rest = b""
        self._is_being_read = False
        self._waiting = trio.lowlevel.ParkingLot()
        self.is_over = False

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Return once the condition holds, or the other side is gone."""
        await trio.lowlevel.checkpoint()
        while not is_so() and not self.is_over:
            if self._is_being_read:
                await self._waiting.park()
                continue
            self._is_being_read = True
            try:
                await self._read()
            finally:
                self._is_being_read = False
                self._waiting.unpark_all()

    async def send_all(self, data: bytes) -> None:
        """Send all of it; BrokenResourceError when the other side is gone."""
        await trio.lowlevel.checkpoint()
        while data:
            try:
                data = data[os.write(self._fd.number, data) :]
            except BlockingIOError:
                await trio.lowlevel.wait_writable(self._fd.number)
            except OSError as error:
                raise trio.BrokenResourceError from error

    async def send_fds(self, keeper_end: KeeperEnd) -> None:
        """Send one byte with copies of the descriptors, unless they are closed."""
        await trio.lowlevel.checkpoint()
        self._fd.check()
        while keeper_end.fds:
            try:
                with self._socket() as borrowed:
                    socket.send_fds(borrowed, [b"L"], keeper_end.fds)
            except BlockingIOError:
                await trio.lowlevel.wait_writable(self._fd.number)
            except OSError as error:
                raise trio.BrokenResourceError from error
            else:
                return

    def say(self, line: str) -> None:
        """Send a short line now; it is dropped if the socket is full or closed."""
        with suppress(OSError, trio.ClosedResourceError):
            os.write(self._fd.number, f"{line}\n".encode())

    def hang_up(self) -> None:
        """Shut down our side for writing; the other side may still write."""
        self._fd.check()
        with suppress(OSError, trio.ClosedResourceError), self._socket() as borrowed:
            borrowed.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Close our end."""
        self.is_over = True
        self._fd.close()

    @contextmanager
    def _socket(self) -> Generator[socket.socket]:
        borrowed = socket.socket(fileno=self._fd.number)
        try:
            yield borrowed
        finally:
            borrowed.detach()

    async def _read(self) -> None:
        try:
            await trio.lowlevel.wait_readable(self._fd.number)
            self._fd.check()
            data = os.read(self._fd.number, 65536)
        except BlockingIOError:
            return
        except (OSError, trio.ClosedResourceError):
            data = b""
        if not data:
            self.is_over = True
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in filter(None, lines):
            self._heard(line.decode().split())
