"""Starts the agent below its keeper, and tells a failed start from a started one."""

# Importing pathlib would cost the warden a quarter of its start-up.
# ruff: noqa: PTH123

import contextlib
import errno
import math
import os
import signal
import time
from collections.abc import Sequence

from avatar_actors.programs.warden.order import StartOrder
from avatar_actors.programs.warden.process_tree import hear_of_parents_death

# What the warden and its keepers ignore, and an agent must not inherit as ignored.
DEAF_TO = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGPIPE,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGTSTP,
    signal.SIGTTIN,
    signal.SIGTTOU,
    signal.SIGUSR2,
)
CHANGED = (*DEAF_TO, signal.SIGCHLD, signal.SIGUSR1, signal.SIGXFSZ)

# When memory runs out, an agent is to go before its keeper, the warden and the host.
OOM_SCORE = b"300"

# Seconds between two attempts to change an autogroup: the first pause, which doubles, and the last.
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 3.2


class AgentNotStarted(Exception):
    """The system refused the start. `place` is `cwd` or `argv`: what was wrong."""

    def __init__(self, error: int, place: str) -> None:
        super().__init__(error, place)
        self.error = error
        self.place = place


def start_agent(order: StartOrder, stdio: Sequence[int]) -> int:
    """Forks and executes in a new session; returns the pid after the exec. Closes `stdio`."""
    # Closed by a successful exec, or after the reason why there was none was written into it.
    verdict, failure = os.pipe()
    keeper = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become_agent(order, stdio, failure, keeper)
    for fd in (failure, *stdio):
        os.close(fd)
    refusal = os.read(verdict, 64).split()
    os.close(verdict)
    if refusal:
        os.waitpid(pid, 0)
        raise AgentNotStarted(int(refusal[0]), refusal[1].decode())
    return pid


def _become_agent(order: StartOrder, stdio: Sequence[int], failure: int, keeper: int) -> None:
    place = b"argv"
    try:
        os.setsid()
        hear_of_parents_death(signal.SIGKILL)
        if os.getppid() != keeper:
            os._exit(127)
        _look_untouched(stdio)
        if order.nice:
            with contextlib.suppress(PermissionError):
                os.setpriority(os.PRIO_PROCESS, 0, order.nice)
        place = b"cwd"
        os.chdir(order.cwd)
        place = b"argv"
        os.execvpe(order.argv[0], list(order.argv), order.env)
    except OSError as error:
        os.write(failure, b"%d %b" % (error.errno or errno.EINVAL, place))
    except ValueError:
        os.write(failure, b"%d %b" % (errno.EINVAL, place))
    finally:
        os._exit(127)


def _look_untouched(stdio: Sequence[int]) -> None:
    signal.set_wakeup_fd(-1)
    for number in CHANGED:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for target, fd in enumerate(stdio):
        os.dup2(fd, target)
    try:
        with open("/proc/self/oom_score_adj", "wb", buffering=0) as file:
            file.write(OOM_SCORE)
    except OSError:
        # Not Linux, or a container that forbids it: the agent then stands in line with all others.
        pass


class Autogroup:
    """The agent's session, whose processes Linux schedules as one group with a nice of its own.

    With `kernel.sched_autogroup_enabled` the nice of a process counts only within its session, and
    each session gets as much CPU time as the host's. A process with its agent's nice that begins a
    session of its own begins a group with the nice 0.
    """

    def __init__(self, agent: int, nice: int) -> None:
        self._path = f"/proc/{agent}/autogroup"
        self._nice = nice
        self._pause = FIRST_PAUSE
        self._try_at = 0.0 if nice else math.inf

    def lower(self) -> float | None:
        """Sets the group's nice if it is time; returns the seconds until the next attempt."""
        now = time.monotonic()
        if now >= self._try_at:
            # At random, or keepers that began together would be refused together again and again.
            pause = self._pause * (0.5 + os.urandom(1)[0] / 256)
            self._try_at = math.inf if self._is_settled() else now + pause
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
        return None if self._try_at == math.inf else self._try_at - now

    def _is_settled(self) -> bool:
        try:
            fd = os.open(self._path, os.O_WRONLY | os.O_CLOEXEC)
            try:
                os.write(fd, b"%d" % self._nice)
            finally:
                os.close(fd)
        except BlockingIOError:
            # The kernel takes one change in 0.1 s from all unprivileged processes together.
            return False
        except OSError:
            # No autogroups, or a container that forbids it: the nice of the process has to do.
            return True
        return True
