"""What escapes when both wardens and the keeper are killed: `python -m bench.escape_window`.

An agent makes tools without environment, a new orphan every 20 ms. Both wardens are killed, and the
keeper some milliseconds later; then the lease is ended as ever, or the host is killed as well and
another one sweeps. The table says how many of the tools are left per round, and how old the oldest
of them was when the keeper died.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from functools import partial
from pathlib import Path

import trio

from avatar_actors.processes import Launch, WardenProcess, sweep_dead_hosts
from avatar_actors.programs.warden.process_tree import read_stat, signal_process

DELAYS_MS = (0, 1, 2, 5, 10, 20, 50, 100, 150, 200, 250, 300, 500)
TICKS = os.sysconf("SC_CLK_TCK")
ENOUGH = 10
# Each tool writes down who it is, so that it is found whatever it does to its environment.
AGENT = """
import os, sys, time
print("ready", flush=True)
for _ in range(600):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        with open("/proc/self/stat", "rb") as file:
            started = file.read().rpartition(b")")[2].split()[19].decode()
        with open(sys.argv[1], "a") as book:
            book.write(f"{os.getpid()} {started}\\n")
        os.execve("/bin/sleep", ["sleep", "60"], {})
    os.wait()
    time.sleep(0.02)
"""


class Tools:
    """The tools of one round."""

    def __init__(self, book: Path) -> None:
        self.book = book

    def left(self) -> list[tuple[int, int]]:
        lines = self.book.read_text("ascii").splitlines() if self.book.exists() else []
        known = [(int(pid), int(started)) for pid, started in map(str.split, lines)]
        return [(pid, started) for pid, started in known if _is_alive(pid, started)]

    def clear(self) -> None:
        for pid, started in self.left():
            signal_process(pid, signal.SIGKILL, partial(_is_alive, started=started))


def _is_alive(pid: int, started: int) -> bool:
    stat = read_stat(pid)
    return stat is not None and not stat.is_dead and stat.started == started


def _kill(*pids: int) -> None:
    # All are stopped first: else who dies last would have the time to replace who died first.
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            os.kill(pid, number)


async def _play(tools: Tools, delay: float, *, host_dies: bool) -> None:
    """One round; with `host_dies` this process ends with the keeper."""
    warden = await WardenProcess.open()
    lease = await warden.lease()
    argv = (sys.executable, "-I", "-S", "-c", AGENT, str(tools.book))
    await lease.run(Launch(argv=argv, cwd="/", env=dict(os.environ)))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lease.exited)
        while len(tools.left()) < ENOUGH:  # noqa: ASYNC110 - other processes tell nobody
            await trio.sleep(0.01)
        if delay:
            _kill(*warden.pids)
            await trio.sleep(delay)
            _kill(lease.keeper_pid)
        else:
            _kill(*warden.pids, lease.keeper_pid)
        tools.book.with_suffix(".died").write_text(repr(time.clock_gettime(time.CLOCK_BOOTTIME)))
        if host_dies:
            os.kill(os.getpid(), signal.SIGKILL)
        await lease.end(0)
    await lease.aclose()
    await warden.aclose()


def measure(delay: float, *, host_dies: bool) -> tuple[int, float]:
    """How many of one round's tools are left, and the age in seconds of the oldest of them."""
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(Path(folder, "book"))
        arguments = [str(tools.book), str(delay), "dies" if host_dies else "lives"]
        subprocess.run([sys.executable, "-m", "bench.escape_window", *arguments], check=False)
        try:
            if host_dies:
                sweep_dead_hosts()
            # The agent dies with its keeper; what it has just forked gets time to become a tool.
            time.sleep(0.3)
            left = tools.left()
            died = float(tools.book.with_suffix(".died").read_text("ascii"))
            return len(left), max((died - started / TICKS for _, started in left), default=0.0)
        finally:
            tools.clear()


def main() -> None:
    parser = ArgumentParser(prog="python -m bench.escape_window", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10, help="for each delay (10)")
    rounds = parser.parse_args().rounds
    print(
        f"{'host':8}{'keeper after':>14}{'rounds':>8}{'left, mean':>12}{'most':>6}{'oldest ms':>11}"
    )
    for host_dies in (False, True):
        for delay in DELAYS_MS:
            results = [measure(delay / 1000, host_dies=host_dies) for _ in range(rounds)]
            counts = [count for count, _ in results]
            oldest = max(age for _, age in results) * 1000
            host = "killed" if host_dies else "lives"
            mean = sum(counts) / rounds
            print(f"{host:8}{delay:>11} ms{rounds:>8}{mean:>12.1f}{max(counts):>6}{oldest:>11.0f}",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[3] in ("dies", "lives"):
        book, after, host = sys.argv[1:]
        trio.run(partial(_play, Tools(Path(book)), float(after), host_dies=host == "dies"))
    else:
        main()
