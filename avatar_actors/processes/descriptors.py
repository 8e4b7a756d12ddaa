"""File descriptors that notice when a host has closed them, and the agent's pipes made of them.

A host may close descriptors that are not its own (a daemon's `closerange`). epoll then forgets them
silently, and the number may come to name another file: a waiting task would wait for ever, and
closing the number would close a stranger's file. So one task checks all of them now and then, and
the owner before it closes.
"""

import contextlib
import os
import weakref
from types import TracebackType

import trio

CLOSED = -1
DEFAULT_READ = 65536
# Seconds between two checks of all descriptors. With 4,000 of them, those of 1,000 agents, a check
# takes 5 ms.
CHECK_SECONDS = 5.0


class OwnedFd:
    """One non-blocking descriptor, closed at the latest when it is garbage."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._file = _open_file(fd)
        _living.add(self)

    @property
    def number(self) -> int:
        """The descriptor; ClosedResourceError once it is closed."""
        if self._fd == CLOSED:
            raise trio.ClosedResourceError
        return self._fd

    def is_ours(self) -> bool:
        """Whether the number still names our file."""
        return self._fd != CLOSED and _open_file(self._fd) == self._file

    def check(self) -> None:
        """Give the number up if it is no longer ours; waiting tasks get ClosedResourceError."""
        if self._fd != CLOSED and not self.is_ours():
            fd, self._fd = self._fd, CLOSED
            trio.lowlevel.notify_closing(fd)

    def close(self) -> None:
        """Close it if it is still ours; waiting tasks get ClosedResourceError."""
        self.check()
        if self._fd != CLOSED:
            trio.lowlevel.notify_closing(self._fd)
            self.drop()

    def drop(self) -> None:
        """Close it where no task can wait for it: in a fork, or when it is garbage."""
        if self.is_ours():
            os.close(self._fd)
        self._fd = CLOSED

    def __del__(self) -> None:
        if self._fd != CLOSED:
            self.drop()


def _open_file(fd: int) -> tuple[int, int] | None:
    try:
        stat = os.fstat(fd)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def _drop_all_in_child() -> None:
    # A fork that kept them would keep an agent's stdin open, or a lease alive.
    for fd in list(_living):
        with contextlib.suppress(OSError):
            fd.drop()


_living: "weakref.WeakSet[OwnedFd]" = weakref.WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drop_all_in_child)


class _Watch:
    """The descriptors that one trio run checks."""

    def __init__(self) -> None:
        self.fds: weakref.WeakSet[OwnedFd] = weakref.WeakSet()
        self.turn = trio.Lock()


_watches: "trio.lowlevel.RunVar[_Watch]" = trio.lowlevel.RunVar("avatar_actors descriptors")


def _watch() -> _Watch:
    try:
        return _watches.get()
    except LookupError:
        watch = _Watch()
        _watches.set(watch)
        return watch


def watch(*fds: OwnedFd) -> None:
    """Have them checked, as long as a task of this trio run is in `check_descriptors`."""
    _watch().fds.update(fds)


async def check_descriptors() -> None:
    """Check all watched descriptors again and again; one of the tasks that are here does it."""
    watch = _watch()
    async with watch.turn:
        while True:
            await trio.sleep(CHECK_SECONDS)
            for fd in list(watch.fds):
                fd.check()


class PipeReader(trio.abc.ReceiveStream):
    """The reading end of a pipe."""

    def __init__(self, fd: OwnedFd) -> None:
        self._fd = fd
        # Whether the last read took all there was: then another one would most likely fail.
        self._is_drained = False

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """The next bytes; b"" once every writer has closed."""
        size = DEFAULT_READ if max_bytes is None else max_bytes
        if not self._is_drained:
            await trio.lowlevel.checkpoint()
        else:
            await trio.lowlevel.wait_readable(self._fd.number)
        while True:
            try:
                data = os.read(self._fd.number, size)
            except BlockingIOError:
                await trio.lowlevel.wait_readable(self._fd.number)
            except OSError as error:
                raise trio.BrokenResourceError from error
            else:
                # A full pipe gives a little less than asked for: its pages are not quite full.
                self._is_drained = len(data) <= size // 2
                return data

    def stop_waiting(self) -> None:
        """A task that waits for bytes gets ClosedResourceError; those that are here stay."""
        with contextlib.suppress(trio.ClosedResourceError):
            trio.lowlevel.notify_closing(self._fd.number)

    def read_nowait(self) -> bytes:
        """The bytes that are there now; b"" if there are none, or at the end."""
        try:
            return os.read(self._fd.number, DEFAULT_READ)
        except OSError:
            return b""

    async def aclose(self) -> None:
        """Close it; a reading task gets ClosedResourceError."""
        self._fd.close()
        await trio.lowlevel.checkpoint()


class PipeWriter(trio.abc.SendStream):
    """The writing end of a pipe. One task at a time may send."""

    def __init__(self, fd: OwnedFd) -> None:
        self._fd = fd
        self._turn = _OneAtATime()

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Write all of it; BrokenResourceError when the reader is gone.

        No schedule point if there is room: its caller waits for the next message anyway.
        """
        with self._turn:
            await trio.lowlevel.checkpoint_if_cancelled()
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
        """Close it; the agent reads the end of its input."""
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
    """Raises BusyResourceError for the second of two tasks."""

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
