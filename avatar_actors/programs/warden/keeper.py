"""One keeper per agent: starts it, tells the host its state, and ends its whole tree.

On the control socket the host sends, one per line: the order, `end GRACE`, `signal NUMBER`. The
keeper sends `running PID KEEPER` or `failed ERRNO PLACE`; `exited CODE`; `stuck PIDS DENIED` (two
lists with commas, or `-`); `ledger PID.STARTTIME,...`; `gone COUNT`: waitpid knows of no process
below any more and has reaped so many besides the agent.
"""

import contextlib
import os
import signal
import socket
import time
from collections.abc import Sequence

from avatar_actors.programs.warden.agent_start import AgentNotStarted, Autogroup, start_agent
from avatar_actors.programs.warden.order import StartOrder, unpack_order
from avatar_actors.programs.warden.process_tree import (
    adopt_orphans,
    descendants,
    hear_of_parents_death,
    kill_stopped_parents,
    read_stat,
    rename_process,
    signal_below,
)
from avatar_actors.programs.warden.watch import Host, Poll

# After so many seconds of SIGKILL the host is told which do not end: another user's, or in D state.
STUCK_AFTER = 2.0
MOST_PIDS_TOLD = 100
LEDGER_SECONDS = 0.25


def keep(control: socket.socket, stdio: Sequence[int], host: Host) -> None:
    """Waits for the order, starts the agent, and stays until its tree is empty."""
    adopt_orphans()
    hear_of_parents_death(signal.SIGUSR1)
    rename_process("avatar-keeper")
    watch = Poll(host)
    watch.add(control.fileno())
    control.setblocking(False)
    order = _await_order(control, watch)
    if order is None:
        return
    try:
        agent = start_agent(order, stdio)
    except AgentNotStarted as refusal:
        say(control, f"failed {refusal.error} {refusal.place}")
        return
    say(control, f"running {agent} {os.getpid()}")
    Keeper(control, watch, order, agent).run()


def say(control: socket.socket, line: str, patience: float = 1.0) -> None:
    """Tells the host, if it still reads and has room within the time."""
    with contextlib.suppress(OSError):
        control.settimeout(patience)
        control.sendall(f"\n{line}\n".encode())
    control.setblocking(False)


def pid_list(pids: Sequence[int]) -> str:
    """The pids as one word."""
    return ",".join(map(str, pids[:MOST_PIDS_TOLD])) or "-"


def _await_order(control: socket.socket, watch: Poll) -> StartOrder | None:
    data = b""
    while not watch.host_died():
        if not watch.wait(None):
            continue
        try:
            more = control.recv(1 << 20)
        except BlockingIOError:
            continue
        except OSError:
            return None
        if not more:
            return None
        data += more
        order = unpack_order(data)
        if order is not None:
            return order
    return None


class Keeper:
    """A keeper whose agent runs."""

    def __init__(self, control: socket.socket, watch: Poll, order: StartOrder, agent: int) -> None:
        self._control = control
        self._watch = watch
        self._exit_grace = order.exit_grace
        self._close_grace = order.close_grace
        self._agent: int | None = agent
        self._group = agent
        self._autogroup = Autogroup(agent, order.nice)
        self._heard = b""
        self._host_listens = True
        self._kill_at: float | None = None
        self._told_of_stuck = False
        self._ledger = ""
        self._reaped = 0

    def run(self) -> None:
        """Returns when no process is left."""
        while self._reap():
            if self._watch.host_died():
                self._end(self._close_grace)
            if self._watch.wait(self._guard() if self._kill_at is None else self._press()):
                self._listen()
        say(self._control, f"gone {self._reaped}")
        if self._watch.host_died():
            kill_stopped_parents()

    def _reap(self) -> bool:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self._agent:
                self._agent = None
                say(self._control, f"exited {os.waitstatus_to_exitcode(status)}")
                self._end(self._exit_grace)
            else:
                self._reaped += 1

    def _end(self, grace: float) -> None:
        """SIGTERM to all now, SIGKILL after the grace; a second request can only shorten it."""
        kill_at = time.monotonic() + grace
        if self._kill_at is None and grace > 0:
            # SIGCONT, for a stopped process does not handle SIGTERM.
            self._signal_tree(signal.SIGTERM)
            self._signal_tree(signal.SIGCONT)
        self._kill_at = kill_at if self._kill_at is None else min(kill_at, self._kill_at)

    def _guard(self) -> float | None:
        """What is to do while the agent runs; returns how long to wait before the next look."""
        pauses = (self._keep_ledger(), self._autogroup.lower())
        return min((each for each in pauses if each is not None), default=None)

    def _keep_ledger(self) -> float | None:
        """Tells the host who is in our tree when no warden above would inherit it.

        A new warden stands beside us, not above: a process never gets another ancestor.
        """
        if os.getsid(os.getppid()) == os.getsid(0):
            return None
        stats = ((pid, read_stat(pid)) for pid in descendants(os.getpid()))
        ledger = ",".join(f"{pid}.{stat.started}" for pid, stat in stats if stat is not None)
        if ledger != self._ledger:
            self._ledger = ledger
            say(self._control, f"ledger {ledger}", patience=0)
        return LEDGER_SECONDS

    def _press(self) -> float:
        """Kills when it is time; returns how long to wait before the next look."""
        now, kill_at = time.monotonic(), self._kill_at or 0.0
        if now < kill_at:
            return kill_at - now
        denied = self._signal_tree(signal.SIGKILL)
        age = now - kill_at
        if age > STUCK_AFTER and not self._told_of_stuck:
            self._told_of_stuck = True
            say(self._control, f"stuck {pid_list(descendants(os.getpid()))} {pid_list(denied)}")
        # A fork may have slipped through, so look again at once; who is stuck has time.
        return 0.002 if age < 0.1 else 0.02 if age < STUCK_AFTER else 1.0  # noqa: PLR2004 - as said

    def _signal_tree(self, number: int) -> list[int]:
        pids = descendants(os.getpid())
        if not pids:
            # No /proc (macOS): the agent's own group is as far as we see.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, number)
        return signal_below(os.getpid(), pids, number)

    def _listen(self) -> None:
        try:
            data = self._control.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._watch.drop(self._control.fileno())
            self._end(self._close_grace)
            return
        *lines, self._heard = (self._heard + data).split(b"\n")
        for line in lines:
            self._obey(line.split())

    def _obey(self, words: list[bytes]) -> None:
        match words:
            case [b"end", grace]:
                self._end(float(grace))
            case [b"signal", number] if self._agent is not None:
                # The pid is the agent's until we reap it, and only we can.
                with contextlib.suppress(PermissionError):
                    os.kill(self._agent, int(number))
            case _:
                pass
