"""Waits in one poll for file descriptors, for children that end and for the host's death."""

import math
import os
import select
import signal

from avatar_actors.programs.warden.process_tree import is_free, open_pidfd, read_stat

# How often to look for a host that cannot be waited for, where the system has no pidfd.
HOST_CHECK_SECONDS = 1.0


class Host:
    """The program that the warden serves; its death is seen even if a fork holds its sockets."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._stat = read_stat(pid)
        self.pidfd = open_pidfd(pid)

    def is_dead(self) -> bool:
        """Whether it is gone or a zombie."""
        if self.pidfd is not None:
            return bool(select.select([self.pidfd], [], [], 0)[0])
        if self._stat is not None:
            stat = read_stat(self._pid)
            return stat is None or stat.is_dead or stat.started != self._stat.started
        return is_free(self._pid)


class Poll:
    """One process's poll: added descriptors, SIGCHLD, and SIGUSR1 for the parent's death."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._host_is_dead = False
        self._bell, self._rope = os.pipe()
        for fd in (self._bell, self._rope):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(self._rope, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGUSR1):
            signal.signal(number, _only_wake)
        self._poll = select.poll()
        self.add(self._bell)
        if host.pidfd is not None:
            self.add(host.pidfd)

    def add(self, fd: int) -> None:
        """Also wakes when this one can be read."""
        self._poll.register(fd, select.POLLIN)

    def drop(self, fd: int) -> None:
        """No longer wakes for this one."""
        self._poll.unregister(fd)

    def wait(self, seconds: float | None) -> list[int]:
        """Sleeps until something happens, at most so long; returns the descriptors to read."""
        if self._host.pidfd is None and not self._host_is_dead:
            seconds = min(HOST_CHECK_SECONDS, math.inf if seconds is None else seconds)
        events = self._poll.poll(None if seconds is None else math.ceil(seconds * 1000))
        ready = [fd for fd, _ in events]
        if self._bell in ready:
            ready.remove(self._bell)
            self._silence()
        if self._host.pidfd in ready:
            ready.remove(self._host.pidfd)
        return ready

    def host_died(self) -> bool:
        """Whether the host is gone; from then on the poll no longer wakes for it."""
        if not self._host_is_dead and self._host.is_dead():
            self._host_is_dead = True
            if self._host.pidfd is not None:
                self.drop(self._host.pidfd)
        return self._host_is_dead

    def close(self) -> None:
        """Releases the wakeup descriptor: a forked child needs its own."""
        signal.set_wakeup_fd(-1)
        os.close(self._bell)
        os.close(self._rope)

    def _silence(self) -> None:
        try:
            while os.read(self._bell, 4096):
                pass
        except BlockingIOError:
            pass


def _only_wake(_number: int, _frame: object) -> None:
    """Does nothing: having a handler is what makes the signal wake the poll."""
