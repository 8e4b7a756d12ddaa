"""Does anybody survive? kill -9 on everybody who looks after agents: `python -m bench.orphans`.

Each round starts a zoo of hostile tools (bench.orphan_zoo) under a host program (bench.orphan_host)
and kills somebody. Who lives is read from the zoo's book of births; of the warden and its keepers,
from the session that they share. Exit 1 when anything is left.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import TypeAlias

from avatar_actors.programs.warden.process_tree import all_pids, read_stat, signal_process

ROOT = Path(__file__).resolve().parents[1]
NOBODY = 65534
PATIENCE = 15.0
LIVING_HOST = ("agent", "keeper", "warden")
DYING_HOST = ("host", "host+warden")
# A process: its pid, and when it was started.
Entry: TypeAlias = tuple[int, str]
FIELDS = ("processes", "zombies", "fds", "dirs", "unrelated")


@dataclass
class Row:
    """What was left, of one kind of kill as one user."""

    user: str
    kill: str
    rounds: int = 0
    processes: int = 0
    zombies: int = 0
    fds: int = 0
    dirs: int = 0
    unrelated: int = 0
    slowest_ms: float = 0.0

    @property
    def is_clean(self) -> bool:
        return not any(getattr(self, field) for field in FIELDS)


@dataclass
class Reply:
    """What the host said."""

    warden: list[int]
    unrelated: int
    agent: int = 0
    keeper: int = 0
    proof: str = ""
    fds: int = 0


class HostProcess:
    """One host program, driven over its stdin."""

    def __init__(self, place: Path, python: str, uid: int | None) -> None:
        self._python = python
        self._place = place
        path = os.pathsep.join([str(ROOT), sysconfig.get_path("purelib")])
        self.process = subprocess.Popen(
            [python, "-m", "bench.orphan_host", str(place)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={"PYTHONPATH": path, "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
            user=uid,
            group=uid,
            extra_groups=None if uid is None else [],
        )

    def ask(self, command: str) -> Reply:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        return Reply(**json.loads(self.process.stdout.readline()))

    def zoo(self, book: Path) -> Reply:
        return self.ask(f"zoo {self._python} {book}")

    def close(self) -> None:
        self.process.communicate(timeout=PATIENCE)

    def close_pipes(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


def births(book: Path) -> list[Entry]:
    lines = book.read_text("ascii").splitlines() if book.exists() else []
    return [(int(line.split()[0]), line.split()[1]) for line in lines]


def count(entries: list[Entry], *, dead: bool) -> int:
    """How many stand in the table; a zombie with a thread that lives is alive."""
    total = 0
    for pid, started in entries:
        stat = read_stat(pid)
        if stat is not None and str(stat.started) == started:
            total += dead == (stat.is_dead and not has_living_thread(pid))
    return total


def has_living_thread(pid: int) -> bool:
    try:
        return len(list(Path(f"/proc/{pid}/task").iterdir())) > 1
    except OSError:
        return False


def wardens(sessions: set[int]) -> list[Entry]:
    """Anchors, servers and keepers: they share a session, which an agent leaves."""
    stats = ((pid, read_stat(pid)) for pid in all_pids())
    return [
        (pid, str(stat.started))
        for pid, stat in stats
        if stat is not None and stat.session in sessions
    ]


def wait_until_empty(find: Callable[[], list[Entry]], *, dead: bool) -> int:
    end = time.monotonic() + PATIENCE
    while (left := count(find(), dead=dead)) and time.monotonic() < end:
        time.sleep(0.002)
    return left


def clear(entries: list[Entry]) -> None:
    for pid, started in entries:
        signal_process(pid, signal.SIGKILL, partial(_is, started=started))


def _is(pid: int, started: str) -> bool:
    stat = read_stat(pid)
    return stat is not None and str(stat.started) == started


class Course:
    """The rounds of one kind of kill, as one user."""

    def __init__(self, row: Row, python: str, uid: int | None) -> None:
        self.row = row
        self._python = python
        self._uid = uid
        self._place = Path(tempfile.mkdtemp(prefix="orphans-"))
        if uid is not None:
            os.chown(self._place, uid, uid)
        self._books = (self._place / f"book-{number}" for number in range(10**6))
        self._seen: list[Path] = []
        self._sessions: set[int] = set()
        # Either half of the warden, and both.
        self._halves = cycle([slice(0, 1), slice(1, 2), slice(0, 2)])

    def run(self, rounds: int) -> Row:
        try:
            if self.row.kill in LIVING_HOST:
                self._with_one_host(rounds)
            else:
                for _ in range(rounds):
                    self._kill_host()
                HostProcess(self._place, self._python, self._uid).close()
            everybody: list[Callable[[], list[Entry]]] = [self._wardens]
            everybody += [partial(births, book) for book in self._seen]
            self.row.processes += wait_until_empty(self._wardens, dead=False)
            self.row.zombies = sum(wait_until_empty(find, dead=True) for find in everybody)
            self.row.dirs = len(list(self._place.glob("avatar-actors-*/*")))
        finally:
            for book in self._seen:
                entries = births(book)
                book.unlink(missing_ok=True)
                clear(entries)
            clear(self._wardens())
            shutil.rmtree(self._place, ignore_errors=True)
        return self.row

    def _with_one_host(self, rounds: int) -> None:
        host = HostProcess(self._place, self._python, self._uid)
        for _ in range(rounds):
            book = self._next_book()
            reply = self._meet(host.zoo(book))
            start = time.perf_counter()
            self._kill(reply)
            if self.row.kill == "warden":
                # The agents live on, so they are ended in the usual way.
                self.row.unrelated += count(births(book), dead=False) == 0
                ended = host.ask("end")
                self._observe(book, start)
            else:
                self._observe(book, start)
                ended = host.ask("end")
            self.row.fds += abs(ended.fds)
            self.row.unrelated += read_stat(reply.unrelated) is None
        host.close()

    def _kill_host(self) -> None:
        book = self._next_book()
        host = HostProcess(self._place, self._python, self._uid)
        reply = self._meet(host.zoo(book))
        stat = read_stat(reply.unrelated)
        start = time.perf_counter()
        self._kill(reply, host.process.pid)
        self._observe(book, start)
        host.process.wait()
        host.close_pipes()
        born = str(stat.started) if stat is not None else ""
        killed = signal_process(reply.unrelated, signal.SIGKILL, lambda pid: _is(pid, born))
        self.row.unrelated += not killed

    def _meet(self, reply: Reply) -> Reply:
        """Remember who looks after the zoo of this round."""
        stats = [stat for stat in map(read_stat, reply.warden) if stat is not None]
        self._sessions |= {stat.session for stat in stats}
        return reply

    def _wardens(self) -> list[Entry]:
        return wardens(self._sessions)

    def _kill(self, reply: Reply, host: int = 0) -> None:
        match self.row.kill:
            case "agent":
                victims = [reply.agent]
            case "keeper":
                victims = [reply.keeper]
            case "host":
                victims = [host]
            case "warden":
                victims = reply.warden[next(self._halves)]
            case _:
                victims = [host, *reply.warden[next(self._halves)]]
        for pid in victims:
            os.kill(pid, signal.SIGKILL)

    def _observe(self, book: Path, start: float) -> None:
        self.row.rounds += 1
        self.row.processes += wait_until_empty(partial(births, book), dead=False)
        self.row.slowest_ms = max(self.row.slowest_ms, (time.perf_counter() - start) * 1000)

    def _next_book(self) -> Path:
        book = next(self._books)
        self._seen.append(book)
        return book


def plans(user: str | None) -> list[tuple[str, int | None]]:
    """As whom: the one who runs this, and an ordinary user if that is root."""
    mine = "root" if os.geteuid() == 0 else "ordinary"
    if os.geteuid() != 0:
        return [(mine, None)]
    return [("nobody", NOBODY)] if user == "nobody" else [(mine, None), ("nobody", NOBODY)]


def can_run(python: str, uid: int | None) -> bool:
    try:
        done = subprocess.run([python, "-c", ""], user=uid, group=uid, check=False)
    except PermissionError:
        return False
    return done.returncode == 0


def main() -> int:
    parser = ArgumentParser(prog="python -m bench.orphans", description=__doc__)
    parser.add_argument("--rounds", type=int, default=500, help="in all (500)")
    parser.add_argument("--quick", action="store_true", help="20 rounds")
    parser.add_argument("--json", action="store_true", help="print one JSON object per row")
    parser.add_argument("--user", choices=["nobody"], help="only as this user")
    parser.add_argument("--python", default=sys.executable, help="one that every user can run")
    options = parser.parse_args()
    users = [each for each in plans(options.user) if can_run(options.python, each[1])]
    kinds = (*LIVING_HOST, *DYING_HOST)
    skipped = [name for name, uid in plans(options.user) if (name, uid) not in users]
    each = -(-(20 if options.quick else options.rounds) // (len(kinds) * max(1, len(users))))
    if not options.json:
        print(f"{'user':9}{'kill -9 on':14}{'rounds':>7}" + "".join(f"{f:>11}" for f in FIELDS)
              + f"{'slowest ms':>12}")  # fmt: skip
    rows: list[Row] = []
    for name, uid in users:
        for kind in kinds:
            row = Course(Row(name, kind), options.python, uid).run(each)
            rows.append(row)
            print(json.dumps({"bench": "orphans", **asdict(row)}) if options.json else shown(row),
                  flush=True)  # fmt: skip
    for name in skipped:
        print(f"not run as {name}: it cannot run {options.python}; name another with --python",
              file=sys.stderr)  # fmt: skip
    return 0 if rows and all(row.is_clean for row in rows) else 1


def shown(row: Row) -> str:
    left = "".join(f"{getattr(row, field):>11}" for field in FIELDS)
    return f"{row.user:9}{row.kill:14}{row.rounds:>7}{left}{row.slowest_ms:>12.0f}"


if __name__ == "__main__":
    sys.exit(main())
