"""The agent's stdin, stdout and stderr, as trio streams."""

import os
from types import TracebackType

import trio

from avatar_actors.processes.owned_fd import OwnedFd

DEFAULT_READ = 65536


class PipeReader(trio.abc.ReceiveStream):
    """The reading end of a pipe."""

    def __init__(self, fd: OwnedFd) -> None:
        self._fd = fd

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """The next bytes; none at all once every writer has closed."""
        size = DEFAULT_READ if max_bytes is None else max_bytes
        await trio.lowlevel.checkpoint_if_cancelled()
        has_waited = False
        while True:
            try:
                data = os.read(self._fd.number, size)
            except BlockingIOError:
                # A checkpoint by itself: a second one would cost a turn of the loop per read.
                await trio.lowlevel.wait_readable(self._fd.number)
                has_waited = True
            except OSError as error:
                raise trio.BrokenResourceError from error
            else:
                if not has_waited:
                    await trio.lowlevel.cancel_shielded_checkpoint()
                return data

    def read_nowait(self) -> bytes:
        """What is there now; none if there is nothing, or at the end."""
        try:
            return os.read(self._fd.number, DEFAULT_READ)
        except OSError:
            return b""

    async def aclose(self) -> None:
        """Close; a task that reads gets ClosedResourceError."""
        self._fd.close()
        await trio.lowlevel.checkpoint()


class PipeWriter(trio.abc.SendStream):
    """The writing end of a pipe. One task at a time may send."""

    def __init__(self, fd: OwnedFd) -> None:
        self._fd = fd
        self._turn = _OneAtATime()

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Write all of it; BrokenResourceError when nobody reads any more."""
        with self._turn:
            await trio.lowlevel.checkpoint()
            with memoryview(data) as view:
                sent = 0
                while sent < len(view):
                    sent += await self._write(view[sent:])

    async def wait_send_all_might_not_block(self) -> None:
        """Return when there is room for more."""
        with self._turn:
            await trio.lowlevel.checkpoint()
            await trio.lowlevel.wait_writable(self._fd.number)

    async def aclose(self) -> None:
        """Close; the agent reads the end of its input."""
        self._fd.close()
        await trio.lowlevel.checkpoint()

    async def _write(self, view: memoryview) -> int:
        try:
            return os.write(self._fd.number, view)
        except BlockingIOError:
            await trio.lowlevel.wait_writable(self._fd.number)
            return 0
        except OSError as error:
            raise trio.BrokenResourceError from error


class _OneAtATime:
    """Says BusyResourceError to the second of two tasks."""

    def __init__(self) -> None:
        self._taken = False

    def __enter__(self) -> None:
        if self._taken:
            raise trio.BusyResourceError("another task is using this pipe")
        self._taken = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._taken = False
