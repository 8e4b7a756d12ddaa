"""Who of a lease lives, seen from outside: by the zoo's book of births, not by asking our code."""

import gc
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import trio

from avatar_actors.processes import Launch, Lease, WardenProcess
from avatar_actors.programs.warden.process_tree import (
    children,
    descendants,
    read_stat,
    signal_process,
)

ZOO = Path(__file__).resolve().parents[2] / "bench" / "orphan_zoo.py"
PATIENCE = 60


class Book:
    """The births in one zoo."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def launch(self, close_grace: float = 0.1) -> Launch:
        argv = (sys.executable, "-I", "-S", str(ZOO), str(self.path))
        return Launch(argv=argv, cwd="/", env=dict(os.environ), close_grace=close_grace)

    def clear(self) -> None:
        """Kill who is left: a test that failed must not leave a zoo in the machine."""
        left = self.left()
        # Who cannot enter its birth any more dies of it, so nobody can be born past us.
        self.path.unlink(missing_ok=True)
        for pid, started, _ in map(str.split, left):
            signal_process(int(pid), signal.SIGKILL, partial(is_left, started=started))

    def left(self) -> list[str]:
        """Those of the zoo that still stand in the table, zombies too."""
        lines = self.path.read_text("ascii").splitlines() if self.path.exists() else []
        return [line for line in lines if is_left(*line.split()[:2])]


def is_left(pid: str | int, started: str) -> bool:
    stat = read_stat(int(pid))
    return stat is not None and str(stat.started) == started


def python(code: str, *arguments: str, exit_grace: float = 0.5, nice: int = 0) -> Launch:
    argv = (sys.executable, "-I", "-S", "-c", code, *arguments)
    return Launch(argv=argv, cwd="/", env=dict(os.environ), exit_grace=exit_grace, nice=nice)


async def run_zoo(warden: WardenProcess, book: Book) -> Lease:
    """A lease with the whole zoo alive in it."""
    lease = await warden.lease()
    await lease.run(book.launch())
    assert await lease.stdout.receive_some() == b"ready\n"
    return lease


async def eventually(is_so: Callable[[], object]) -> None:
    """Other processes tell nobody what they do, so look until it is so."""
    while not is_so():  # noqa: ASYNC110 - as said
        await trio.sleep(0.005)


async def until_changed(warden: WardenProcess, pids: tuple[int, ...]) -> None:
    """Until the warden has made its killed half anew."""
    await eventually(lambda: warden.pids != pids)


def open_fds() -> int:
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


def offspring() -> set[int]:
    """Everybody below the test itself."""
    return set(descendants(os.getpid()))


def own_children() -> set[int]:
    return set(children(os.getpid()))
