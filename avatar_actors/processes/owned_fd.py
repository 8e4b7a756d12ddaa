"""A file descriptor that knows which open file it stands for, and notices when it no longer does.

A host may close descriptors that are not its own (a daemon's `closerange`). epoll then forgets them
without a word, and the number may come to name another file: whoever waits would wait for ever, and
whoever closes would close a stranger's. So the owner looks once in a while, and before it closes.
"""

import contextlib
import os
import weakref

import trio

CLOSED = -1


class OwnedFd:
    """One descriptor, non-blocking, closed at the latest when it is forgotten."""

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
        """Give the number up if it is not ours any more: who waits gets ClosedResourceError."""
        if self._fd != CLOSED and not self.is_ours():
            fd, self._fd = self._fd, CLOSED
            trio.lowlevel.notify_closing(fd)

    def close(self) -> None:
        """Close it, if it is still ours; who waits gets ClosedResourceError."""
        self.check()
        if self._fd != CLOSED:
            trio.lowlevel.notify_closing(self._fd)
            self.drop()

    def drop(self) -> None:
        """Close it where nobody can wait for it: in a fork, or when nobody holds it any more."""
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
