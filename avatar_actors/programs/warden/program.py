"""The warden's two processes: the server forks keepers, the anchor above it forks the server.

Both adopt orphans, and each replaces the other when that is killed. The kernel tells who belongs
to the warden: anchor, server and keepers share one session, which an agent leaves before it runs
and no process can join again. So an adopted child of another session was left by a killed keeper,
and is killed.
"""

import gc
import os
import signal
import socket
import sys
import time

from avatar_actors.programs.warden.agent_start import DEAF_TO
from avatar_actors.programs.warden.keeper import STUCK_AFTER, keep, pid_list, say
from avatar_actors.programs.warden.process_tree import (
    adopt_orphans,
    children,
    descendants,
    hear_of_parents_death,
    kill_stopped_child,
    kill_stopped_parents,
    read_stat,
    rename_process,
    signal_below,
)
from avatar_actors.programs.warden.watch import Host, Poll

FDS_OF_A_LEASE = 4
CRASHED = 70
# A server that cannot be forked, or dies at once, is not tried again without pause.
SERVER_PAUSE = 0.05
# How often to look for processes of ours that are stopped, once the host is dead.
STOPPED_CHECK_SECONDS = 0.5


def main() -> None:
    """Serves the host whose socket and pid are on the command line, until both are gone."""
    fd, host_pid = int(sys.argv[1]), int(sys.argv[2])
    try:
        host = Host(host_pid)
    except ProcessLookupError:
        return
    if os.getppid() != host_pid:
        return
    os.setsid()
    os.chdir("/")
    for number in DEAF_TO:
        signal.signal(number, signal.SIG_IGN)
    # Nothing here makes cycles; a collector that never writes keeps forks' memory shared.
    gc.collect()
    gc.freeze()
    gc.disable()
    warden = Warden(socket.socket(fileno=fd), host)
    code = CRASHED
    try:
        warden.run()
        code = 0
    finally:
        os._exit(code)


class Warden:
    """One of the two processes: the server while it has an anchor, else the anchor."""

    def __init__(self, host_socket: socket.socket, host: Host) -> None:
        self._socket = host_socket
        self._socket.setblocking(False)
        self._host = host
        self._watch = Poll(host)
        self._session = os.getsid(0)
        self._contains = adopt_orphans()
        self._open = True
        self._anchor: int | None = None
        self._server: int | None = None
        self._server_since = 0.0
        # The control sockets of our keepers: if one is killed, we tell its host in its place.
        self._leases: dict[int, socket.socket] = {}
        self._lost: list[socket.socket] = []
        self._strays_since: float | None = None
        self._strays = 0
        rename_process("avatar-anchor")
        if not self._contains:
            # Without adoption an anchor is good for nothing: one process serves.
            self._announce()

    def run(self) -> None:
        """Returns when the host has closed or died and no process is left below."""
        while True:
            # In this order: who learns of the host's death has to look once more for children, or
            # would wait forever.
            if self._watch.host_died():
                self._open = False
            if not self._reap() and not self._open:
                break
            pauses = (
                self._keep_pair(),
                self._clear_strays(time.monotonic()),
                self._kill_stopped(),
            )
            pause = min((each for each in pauses if each is not None), default=None)
            if self._watch.wait(pause) and self._open:
                self._serve()
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
            if pid == self._server:
                self._server = None
                # It leaves with 0 only when the host has closed; any other way it is replaced.
                self._open = self._open and status != 0
            elif pid in self._leases:
                self._close_lease(self._leases.pop(pid), status)
            else:
                self._strays += 1

    def _close_lease(self, control: socket.socket, status: int) -> None:
        if status == 0:
            control.close()
        else:
            say(control, "lost")
            self._lost.append(control)

    def _keep_pair(self) -> float | None:
        """Takes the place of a dead anchor, or forks a new server; returns when to try again."""
        if not self._contains:
            return None
        if self._anchor is not None and os.getppid() != self._anchor:
            self._anchor = None
            if self._open:
                self._watch.drop(self._socket.fileno())
            rename_process("avatar-anchor")
        if self._anchor is not None or self._server is not None or not self._open:
            return None
        pause = self._server_since + SERVER_PAUSE - time.monotonic()
        if pause > 0:
            return pause
        self._server_since = time.monotonic()
        return self._fork_server()

    def _fork_server(self) -> float | None:
        anchor = os.getpid()
        try:
            self._server = os.fork()
        except OSError:
            return SERVER_PAUSE
        if self._server == 0:
            self._become_server(anchor)
        return None

    def _become_server(self, anchor: int) -> None:
        for control in (*self._leases.values(), *self._lost):
            control.close()
        self._leases, self._lost, self._server = {}, [], None
        self._watch.close()
        self._watch = Poll(self._host)
        self._anchor = anchor
        adopt_orphans()
        hear_of_parents_death(signal.SIGUSR1)
        rename_process("avatar-warden")
        self._announce()

    def _announce(self) -> None:
        containment = "subreaper" if self._contains else "best-effort"
        say(self._socket, f"serving {self._anchor or os.getpid()} {os.getpid()} {containment}")
        self._watch.add(self._socket.fileno())

    def _clear_strays(self, now: float) -> float | None:
        """Kills what a killed keeper left; tells its host when nothing is left."""
        others = (pid for pid in children(os.getpid()) if pid not in self._leases)
        strays = [pid for pid in others if not self._is_ours(pid)]
        if not strays:
            self._strays_since = None
            # The agents themselves are among them. Who of several left the others, nobody knows.
            self._conclude(f"gone {max(0, self._strays - len(self._lost))}")
            self._strays = 0
            return None
        self._strays_since = self._strays_since or now
        everybody = strays + [below for pid in strays for below in descendants(pid)]
        denied = signal_below(os.getpid(), everybody, signal.SIGKILL)
        age = now - self._strays_since
        if age < STUCK_AFTER:
            return 0.005
        self._conclude(f"stuck {pid_list(everybody)} {pid_list(denied)}")
        return 1.0

    def _kill_stopped(self) -> float | None:
        """Kills stopped servers and keepers, which would stay forever once the host is dead."""
        if not self._watch.host_died():
            return None
        for pid in children(os.getpid()):
            kill_stopped_child(pid, self._session)
        return STOPPED_CHECK_SECONDS

    def _conclude(self, line: str) -> None:
        for control in self._lost:
            say(control, line)
            control.close()
            line = "gone 0" if line.startswith("gone") else line
        self._lost = []

    def _is_ours(self, pid: int) -> bool:
        stat = read_stat(pid)
        return stat is None or stat.session == self._session

    def _serve(self) -> None:
        """Handles one request for a lease, or the end of the host's socket."""
        try:
            byte, fds, _, _ = socket.recv_fds(self._socket, 1, FDS_OF_A_LEASE)
        except BlockingIOError:
            return
        except OSError:
            byte, fds = b"", []
        if not byte:
            self._open = False
            self._watch.drop(self._socket.fileno())
            return
        for fd in fds:
            os.set_inheritable(fd, False)
        # Fewer when we are out of descriptors; the host then sees its ends close.
        if len(fds) == FDS_OF_A_LEASE:
            self._fork_keeper(socket.socket(fileno=fds.pop(0)), fds)
        for fd in fds:
            os.close(fd)

    def _fork_keeper(self, control: socket.socket, stdio: list[int]) -> None:
        try:
            keeper = os.fork()
        except OSError:
            control.close()
            return
        if keeper:
            self._leases[keeper] = control
            return
        code = CRASHED
        try:
            self._socket.close()
            self._watch.close()
            for other in (*self._leases.values(), *self._lost):
                other.close()
            keep(control, stdio, self._host)
            code = 0
        finally:
            os._exit(code)
