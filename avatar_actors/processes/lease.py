"""A lease: runs one agent under a keeper, and ends the whole process tree or one tool of it."""

import contextlib
import os
import signal
import socket
from collections import Counter
from pathlib import Path
from types import TracebackType

import trio

from avatar_actors.processes.descriptors import OwnedFd, PipeReader, PipeWriter, watch
from avatar_actors.processes.line_socket import KeeperEnd, LineSocket
from avatar_actors.processes.sweep import (
    is_dead_process,
    kill_listed,
    new_cookie,
    process_identity,
    reap,
    sweep_lease,
)
from avatar_actors.processes.types import Ending, Launch, LeaseLost, Proof, Vitals
from avatar_actors.programs.warden import LEASE_COOKIE
from avatar_actors.programs.warden.order import StartOrder, encode, pack_order
from avatar_actors.programs.warden.process_tree import (
    descendants,
    kill_below,
    read_stat,
    signal_below,
    signal_process,
)

# Seconds beyond the grace after which a keeper that is stopped or hangs is killed; its tree falls
# to the warden, which gets as many.
KEEPER_PATIENCE = 3.0
WARDEN_PATIENCE = 3.0
# Seconds for SIGKILL to take effect before that.
KILL_SECONDS = 2.0
# Seconds for the keeper to exit, once it has said that all others are gone.
FAREWELL = 1.0

KILLED = -signal.SIGKILL
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class KeeperReport:
    """What the keeper, or the warden in its place, has written about a lease."""

    def __init__(self) -> None:
        self.agent: int | None = None
        self.keeper: int | None = None
        self.failure: tuple[int, str] | None = None
        self.exit_code: int | None = None
        self.is_lost = False
        self.is_gone = False
        # Processes besides the agent that the keeper, or the warden, has reaped.
        self.reaped = 0
        self.left: tuple[int, ...] = ()
        self.denied: tuple[int, ...] = ()
        # Processes below a keeper that has lost its wardens, as `PID.STARTTIME`.
        self.ledger: tuple[str, ...] = ()

    def hear(self, words: list[str]) -> None:
        """Take in one line."""
        match words:
            case ["running", agent, keeper]:
                self.agent, self.keeper = int(agent), int(keeper)
            case ["failed", error, place]:
                self.failure = int(error), place
            case ["exited", code]:
                self.exit_code = int(code)
            case ["stuck", left, denied]:
                self.left, self.denied = _pids(left), _pids(denied)
            case ["ledger", ledger]:
                self.ledger = tuple(ledger.split(","))
            case ["lost"]:
                self.is_lost = True
            case ["gone", count]:
                self.is_gone, self.reaped = True, int(count)
            case _:
                pass

    def is_decided(self) -> bool:
        """Whether the agent runs or has failed to start."""
        return self.agent is not None or self.failure is not None

    def has_exited(self) -> bool:
        """Whether the agent itself has ended: it dies with a killed keeper."""
        return self.exit_code is not None or self.is_lost or self.is_gone

    def is_settled(self) -> bool:
        """Whether all processes are gone, or some are known to stay."""
        return self.is_gone or bool(self.left)

    def refusal(self, argv0: str, cwd: str) -> OSError:
        """The system's error, as an OSError of the kind that Python would have raised here."""
        error, place = self.failure or (0, "argv")
        return OSError(error, os.strerror(error), cwd if place == "cwd" else argv0)


def _pids(word: str) -> tuple[int, ...]:
    return () if word == "-" else tuple(map(int, word.split(",")))


class Lease:
    """One agent's process tree, for one owner. `async with lease:` leaves nothing behind.

    A task that waits in `run`, `exited` or `end` reads what the keeper writes, for all waiting
    tasks. So an owner needs no extra task, but one of its tasks should always wait for `exited`.
    """

    def __init__(self, control: OwnedFd, stdin: OwnedFd, stdout: OwnedFd, stderr: OwnedFd) -> None:
        self.stdin = PipeWriter(stdin)
        self.stdout = PipeReader(stdout)
        self.stderr = PipeReader(stderr)
        self._stdio = (stdin, stdout, stderr)
        self._report = KeeperReport()
        self._control = LineSocket(control, self._report.hear)
        watch(control, *self._stdio)
        self._cookie = new_cookie()
        self._keeper_identity: str | None = None
        self._close_grace = 0.0
        self._was_ordered = False

    @property
    def pid(self) -> int:
        """The agent's pid. Only once it runs."""
        if self._report.agent is None:
            raise ValueError("no agent has been run in this lease")
        return self._report.agent

    @property
    def keeper_pid(self) -> int:
        """The pid of the keeper above the agent. Only once it runs."""
        if self._report.keeper is None:
            raise ValueError("no agent has been run in this lease")
        return self._report.keeper

    @property
    def returncode(self) -> int | None:
        """The agent's return code, once a waiting task has read it."""
        return self._report.exit_code

    @property
    def is_adrift(self) -> bool:
        """Whether both wardens above the keeper are known to be dead.

        The agent lives on, but if its keeper is killed too, only a search can find its processes.
        A new lease is covered again.
        """
        return bool(self._report.ledger)

    async def run(self, launch: Launch) -> int:
        """Start the agent; returns its pid once its program runs. Call it once.

        OSError: the system refused, as it would have refused us. LeaseLost: warden or keeper died
        first, and what they may have started dies with them: try again with a fresh lease.
        """
        self._close_grace = launch.close_grace
        order = pack_order(self._order(launch))
        self._was_ordered = True
        try:
            await self._control.send_all(order)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise LeaseLost("the keeper died before the agent ran") from error
        await self._control.until(self._report.is_decided)
        if self._report.failure is not None:
            raise self._report.refusal(launch.argv[0], launch.cwd)
        if self._report.agent is None:
            raise LeaseLost("warden or keeper died before the agent ran")
        self._keeper_identity = process_identity(self.keeper_pid)
        return self.pid

    async def exited(self) -> int:
        """The agent's own return code, negative for a signal, as soon as it is known.

        An agent whose keeper was killed counts as killed: it goes down with it.
        """
        await self._control.until(self._report.has_exited)
        return KILLED if self._report.exit_code is None else self._report.exit_code

    def signal(self, number: int) -> None:
        """Signal the agent itself, if it still runs."""
        if self._report.agent is not None:
            self._control.say(f"signal {int(number)}")

    async def end(self, grace: float) -> Ending:
        """End the whole tree: SIGTERM now, SIGKILL after the grace; returns when all are gone.

        It always returns some seconds after the grace, and names the processes that are left. A
        second call with a shorter grace hastens the first.
        """
        if self._report.agent is None:
            # Before it is known to run, the keeper takes only an order or a hang-up.
            self._control.hang_up()
        else:
            self._control.say(f"end {float(grace)!r}")
        with trio.move_on_after(grace + KEEPER_PATIENCE):
            await self._control.until(self._report.is_settled)
        if not self._report.is_settled():
            await self._kill_in_its_place()
            self._kill_keeper()
            with trio.move_on_after(WARDEN_PATIENCE):
                await self._control.until(self._report.is_settled)
        with trio.move_on_after(FAREWELL if self._report.is_gone else 0):
            await self._control.until(lambda: False)
        await self._reap_adopted_keeper()
        return await self._ending()

    async def vitals(self) -> Vitals:
        """What /proc says about the tree now; empty where there is no /proc."""
        await trio.lowlevel.checkpoint()
        keeper = read_stat(self.keeper_pid)
        below = [stat for stat in map(read_stat, descendants(self.keeper_pid)) if stat is not None]
        ticks = sum(stat.ticks + stat.ticks_of_reaped for stat in below)
        return Vitals(
            cpu_seconds=(ticks + (keeper.ticks_of_reaped if keeper else 0)) / TICKS_PER_SECOND,
            processes=len(below),
            states=dict(Counter(stat.state for stat in below)),
        )

    async def aclose(self) -> None:
        """End the tree with the launch's `close_grace`, also when cancelled, and close all."""
        try:
            limit = self._close_grace + KEEPER_PATIENCE + KILL_SECONDS + WARDEN_PATIENCE + FAREWELL
            if not self._control.is_over:
                with trio.move_on_after(limit, shield=True):
                    await self.end(self._close_grace)
        finally:
            self._control.close()
            for fd in self._stdio:
                fd.close()

    async def __aenter__(self) -> "Lease":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    def _order(self, launch: Launch) -> StartOrder:
        env = {**launch.env, LEASE_COOKIE: self._cookie}
        return StartOrder(
            encode(launch.argv),
            os.fsencode(launch.cwd),
            dict(zip(encode(list(env)), encode(list(env.values())), strict=True)),
            exit_grace=launch.exit_grace,
            close_grace=launch.close_grace,
            nice=launch.nice,
        )

    async def _ending(self) -> Ending:
        report = self._report
        if report.is_gone:
            proof = Proof.WARDEN if report.is_lost else Proof.KEEPER
            return Ending(proof=proof, reaped=report.reaped)
        if report.left:
            return Ending(proof=Proof.NONE, left=report.left, denied=report.denied)
        if report.failure is not None or not self._was_ordered:
            return Ending(proof=Proof.KEEPER)
        await trio.to_thread.run_sync(kill_listed, report.ledger)
        await trio.to_thread.run_sync(sweep_lease, self._cookie)
        return Ending(proof=Proof.SEARCH)

    async def _kill_in_its_place(self) -> None:
        """Kill all processes below a keeper that is stopped or hangs, as its wardens may be too."""
        if self._keeper_identity is None or is_dead_process(self._keeper_identity):
            return
        with trio.move_on_after(KILL_SECONDS):
            while not kill_below(self.keeper_pid):  # noqa: ASYNC110 - only the kernel knows
                await trio.sleep(0.005)

    def _kill_keeper(self) -> None:
        identity = self._keeper_identity
        if identity is not None:
            with contextlib.suppress(PermissionError):
                signal_process(
                    self.keeper_pid, signal.SIGKILL, lambda _pid: not is_dead_process(identity)
                )

    async def _reap_adopted_keeper(self) -> None:
        # With its wardens dead a keeper becomes ours if we are PID 1 of a container or a subreaper.
        keeper = self._report.keeper
        stat = None if keeper is None else read_stat(keeper)
        if keeper is None or stat is None or stat.parent != os.getpid():
            return
        with trio.move_on_after(FAREWELL):
            while not reap(keeper):  # noqa: ASYNC110 - only the kernel knows
                await trio.sleep(0.01)


def open_lease() -> tuple[Lease, KeeperEnd]:
    """Both halves of a new lease. OSError when there are no descriptors left.

    The owner has its half at once, so a lease cannot get lost on its way to an owner that has left
    meanwhile; a keeper whose lease was closed exits by itself.
    """
    ours: list[OwnedFd] = []
    theirs: list[int] = []
    try:
        mine, other = socket.socketpair()
        ours.append(OwnedFd(mine.detach()))
        theirs.append(other.detach())
        for we_write in (True, False, False):
            read, write = os.pipe()
            ours.append(OwnedFd(write if we_write else read))
            theirs.append(read if we_write else write)
    except BaseException:
        for fd in ours:
            fd.drop()
        KeeperEnd(theirs).close()
        raise
    control, stdin, stdout, stderr = ours
    return Lease(control, stdin, stdout, stderr), KeeperEnd(theirs)


# That moment is over before a command line was read so often; a zombie has none for good.
_READS = 50
# A shorter command may be part of others by chance.
_TELLING = 12
# Claude quotes the command again for its `eval`; the process that runs it has the bare words.
_UNQUOTED = str.maketrans("", "", "'\"\\")


def end_command(agent: int, command: str) -> bool:
    """Kill the agent's descendants that run this command, and their children; False if none."""
    # Known by their start: the command of a process cannot be read while it executes another.
    started = {pid: _started(pid) for pid in descendants(agent)}
    roots = [pid for pid in started if _runs(pid, command)]
    for root in roots:
        # Its children first: once it is dead they stand elsewhere.
        signal_below(root, descendants(root), signal.SIGKILL)
        with contextlib.suppress(PermissionError):
            signal_process(root, signal.SIGKILL, lambda pid: _started(pid) == started[pid])
    return bool(roots)


def _started(pid: int) -> int | None:
    stat = read_stat(pid)
    return None if stat is None else stat.started


def _command_line(pid: int) -> bytes:
    """Its arguments. They are empty for a moment while it executes another program."""
    raw = b""
    with contextlib.suppress(OSError):
        for _ in range(_READS):
            if raw := Path(f"/proc/{pid}/cmdline").read_bytes():
                break
    return raw


def _runs(pid: int, command: str) -> bool:
    raw = _command_line(pid)
    arguments = raw.decode("utf-8", "replace").translate(_UNQUOTED).split("\0")
    words = command.translate(_UNQUOTED).strip()
    if not words:
        return False
    # As one argument of a shell, or as the whole command line; a shell may wrap it in more.
    is_it = words in arguments or words == " ".join(arguments).strip()
    return is_it or (len(words) >= _TELLING and any(words in each for each in arguments))
