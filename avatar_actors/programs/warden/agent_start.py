"""Starts the agent below its keeper, and tells a failed start from a started one."""

# Importing pathlib would cost the warden a quarter of its start-up.
# ruff: noqa: PTH123

import errno
import os
import signal
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
