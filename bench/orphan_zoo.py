"""An agent with the worst tools: a stdlib-only program, run by its path.

`python -I -S orphan_zoo.py BOOK`. Each process of it writes `PID STARTTIME KIND` into the file BOOK
when it is born, so that an observer knows them all, whatever they do to their environment, session
or name. "ready" on stdout says that all kinds live. Without the file nobody is born any more.
"""

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

PR_SET_CHILD_SUBREAPER = 36
SYS_EXIT = {"x86_64": 60, "aarch64": 93}
ENV_START, ENV_END = 47, 48
STUBBORN_TOOLS = 10
LIFETIME_SECONDS = 120


class Book:
    """Where births are written down; one short line is one write."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.path.touch(mode=0o600)

    def enter(self, kind: str) -> None:
        started = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()[19]
        line = f"{os.getpid()} {started.decode()} {kind}\n".encode()
        try:
            fd = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        except FileNotFoundError:
            os._exit(1)
        os.write(fd, line)
        os.close(fd)

    def kinds(self) -> list[str]:
        return [line.split()[2] for line in self.path.read_text("ascii").splitlines()]


def live() -> NoReturn:
    """Until killed. A zoo whose observer failed ends by itself, too."""
    signal.alarm(LIFETIME_SECONDS)
    while True:
        signal.pause()


def plain(book: Book) -> None:
    book.enter("plain")


def own_session(book: Book) -> None:
    os.setsid()
    book.enter("own_session")


def daemon(book: Book) -> None:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.closerange(0, 256)
    os.chdir("/")
    book.enter("daemon")


def no_environment(book: Book) -> None:
    os.setsid()
    if os.fork():
        os._exit(0)
    book.enter("no_environment")
    os.execve("/bin/sleep", ["sleep", str(LIFETIME_SECONDS)], {})


def wiped_environment(book: Book) -> None:
    os.setsid()
    if os.fork():
        os._exit(0)
    fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
    start, end = int(fields[ENV_START]), int(fields[ENV_END])
    ctypes.memset(start, 0, end - start)
    book.enter("wiped_environment")


def stubborn(book: Book) -> None:
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    book.enter("stubborn")


def stopped(book: Book) -> None:
    os.setsid()
    book.enter("stopped")
    os.kill(os.getpid(), signal.SIGSTOP)


def respawning(book: Book) -> None:
    """Two that watch each other: whoever is left alone forks a new partner."""
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    end = time.monotonic() + LIFETIME_SECONDS
    while time.monotonic() < end:
        book.enter("respawning")
        if os.fork() == 0:
            parent = os.getppid()
            book.enter("respawning")
            while os.getppid() == parent and time.monotonic() < end:
                time.sleep(0.01)
        else:
            os.wait()


def adopting(book: Book) -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    book.enter("adopting")
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        book.enter("adopted")


def from_thread(book: Book) -> None:
    def fork() -> None:
        if os.fork() == 0:
            os.setsid()
            book.enter("from_thread")
            live()

    thread = threading.Thread(target=fork)
    thread.start()
    thread.join()


def without_main_thread(book: Book) -> None:
    """Its main thread is dead, so /proc shows a zombie; another thread lives on."""
    os.setsid()
    threading.Thread(target=time.sleep, args=(LIFETIME_SECONDS,)).start()
    book.enter("without_main_thread")
    number = SYS_EXIT.get(os.uname().machine)
    if number is not None:
        ctypes.CDLL(None).syscall(number, 0)


def comet(book: Book) -> None:
    """Forks, leaves its session and dies, for ever: no list of processes ever shows it twice."""
    end = time.monotonic() + LIFETIME_SECONDS
    while time.monotonic() < end:
        os.setsid()
        book.enter("comet")
        time.sleep(0.002)
        if os.fork():
            os._exit(0)


ANIMALS: dict[Callable[[Book], None], int] = {
    plain: 1,
    own_session: 1,
    daemon: 1,
    no_environment: 1,
    wiped_environment: 1,
    stubborn: STUBBORN_TOOLS,
    stopped: 1,
    respawning: 1,
    adopting: 1,
    from_thread: 1,
    without_main_thread: 1,
    comet: 1,
}


def main() -> NoReturn:
    book = Book(sys.argv[1])
    book.enter("agent")
    for animal, number in ANIMALS.items():
        for _ in range(number):
            if os.fork() == 0:
                animal(book)
                live()
    expected = {animal.__name__ for animal in ANIMALS} | {"adopted"}
    while not expected <= set(book.kinds()) or book.kinds().count("stubborn") < STUBBORN_TOOLS:
        time.sleep(0.005)
    with contextlib.suppress(BrokenPipeError):
        os.write(1, b"ready\n")
    live()


if __name__ == "__main__":
    main()
