"""What other programs of this machine can do to our processes, and what shortage does to them."""

import os
import signal
import stat
from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import trio

from avatar_actors import open_runtime
from avatar_actors.avatar.actors.private_dir import private_dir
from avatar_actors.processes import (
    WardenProcess,
    open_private_root,
    sweep_dead_hosts,
    sweep_private_roots,
    tree_sockets,
)
from avatar_actors.processes.private_root import private_root_parents
from avatar_actors.processes.sweep import host_identity, is_dead_host
from avatar_actors.session.messages import Nothing
from supervisors import ChildSpec, open_supervisor
from tests.processes.census import PATIENCE, Book, eventually, run_zoo
from tests.processes.test_host_death import program, said, wardens_left
from tests.processes.test_sweep import carrier, dead_host
from tests.thorough import for_conformance

LIVING_IN_SCRATCH = """
import signal
from avatar_actors.processes import listening_for_watchers, open_private_root
with open_private_root() as scratch, listening_for_watchers(scratch):
    print(scratch, flush=True)
    signal.pause()
"""
HOST_OF_A_ZOO = """
import sys
from pathlib import Path
import trio
from avatar_actors.processes import WardenProcess
from tests.processes.census import Book, run_zoo

async def main():
    warden = await WardenProcess.open()
    lease = await run_zoo(warden, Book(Path(sys.argv[1])))
    print(*warden.pids, lease.keeper_pid, flush=True)
    await trio.sleep_forever()

trio.run(main)
"""
ODD_PROCESSES = ["².1", "1" * 5000 + ".1", "1." + "1" * 5000, "٣.1", "1", ".", "", "-1.1", "1.1\n"]


@pytest.mark.parametrize("odd", ODD_PROCESSES)
def test_m2_odd_cookie_of_any_process_does_not_stop_the_sweep(odd: str) -> None:
    world = host_identity().rpartition(":")[0]
    assert not is_dead_host(f"{world}:{odd}")
    with carrier(f"{world}:{odd}/u") as strange, carrier(f"{dead_host()}/1") as left:
        sweep_dead_hosts(among=lambda: [strange.pid, left.pid])
        assert left.wait(60) == -signal.SIGKILL


async def test_m2_runtime_starts_beside_a_process_with_an_odd_cookie() -> None:
    world = host_identity().rpartition(":")[0]
    with trio.fail_after(60), carrier(f"{world}:².1/u"):
        async with open_runtime():
            pass


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """Where private directories stand: with a path as short as the usual one."""
    with TemporaryDirectory() as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


@pytest.mark.parametrize("odd", ["².1-x", "1" * 200 + ".1-x", "x", "-", ".²"])
def test_m2_odd_directory_does_not_stop_the_sweep(place: Path, odd: str) -> None:
    with open_private_root() as ours:
        strange, dead = ours.parent / odd, ours.parent / f"{os.getpid()}.1-x"
        for path in (strange, dead):
            path.mkdir()
        assert sweep_private_roots() == 1
        assert (strange.exists(), dead.exists()) == (True, False)
        assert not [found for found in tree_sockets() if found.path.is_relative_to(place)]
        strange.rmdir()
    assert not [path for parent in private_root_parents() for path in parent.iterdir()]


def dig(path: Path, depth: int) -> None:
    """Directories in each other, deeper than a path or Python's stack can be."""
    path.mkdir()
    fd = os.open(path, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=fd)
        above, fd = fd, os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(above)
    os.close(fd)


def test_m2_directory_deeper_than_the_stack_does_not_stop_the_sweep(place: Path) -> None:
    with open_private_root() as ours:
        dead = ours.parent / f"{os.getpid()}.1-x"
        dig(dead, 1200)
        (dead / "d" / "file").write_text("x")
        (dead / "d" / "link").symlink_to(place)
        assert sweep_private_roots() == 1
        assert (dead.exists(), ours.exists()) == (False, True)
        dig(ours / "deep", 1200)
    assert not ours.exists()


async def test_m2_private_directory_deeper_than_the_stack_goes_with_its_avatar(
    tmp_path: Path,
) -> None:
    path = tmp_path / "private"
    with trio.fail_after(PATIENCE):
        async with open_supervisor("root") as root:
            spec = ChildSpec[Nothing]("folder", partial(private_dir, path=path), shutdown=PATIENCE)
            folder = await root.start(spec)
            dig(path / "deep", 1200)
            await root.terminate(folder)
            assert not path.exists()


@pytest.fixture
def book(tmp_path: Path) -> Generator[Book]:
    births = Book(tmp_path / "book")
    yield births
    births.clear()


async def kill_host_after_stopping(book: Book, stopped: Sequence[str]) -> list[str]:
    """Anchor, server and keeper of a zoo whose host was killed while some of them were stopped."""
    with program(HOST_OF_A_ZOO, str(book.path)) as host:
        pids = await trio.to_thread.run_sync(said, host)
        for name, pid in zip(("anchor", "server", "keeper"), pids, strict=True):
            if name in stopped:
                os.kill(int(pid), signal.SIGSTOP)
        host.kill()
        await trio.to_thread.run_sync(host.wait)
    return pids


@pytest.mark.parametrize(
    "stopped",
    [
        ("keeper",),
        ("keeper", "server"),
        pytest.param(("server",), marks=for_conformance),
        pytest.param(("anchor",), marks=for_conformance),
        pytest.param(("keeper", "anchor"), marks=for_conformance),
        pytest.param(("server", "anchor"), marks=for_conformance),
    ],
)
async def test_low4_stopped_processes_of_ours_do_not_outlive_a_killed_host(
    book: Book, stopped: tuple[str, ...]
) -> None:
    with trio.fail_after(PATIENCE):
        anchor, *_ = await kill_host_after_stopping(book, stopped)
        await eventually(lambda: not book.left() and not wardens_left(anchor))


async def test_low4_next_start_wakes_keepers_and_wardens_that_are_all_stopped(book: Book) -> None:
    with trio.fail_after(PATIENCE):
        anchor, *others = await kill_host_after_stopping(book, ("anchor", "server", "keeper"))
        assert book.left()
        sweep_dead_hosts(among=lambda: [int(anchor), *map(int, others)])
        await eventually(lambda: not book.left() and not wardens_left(anchor))


@for_conformance
async def test_low4_graceful_stop_leaves_nobody_when_keeper_and_server_are_stopped(
    book: Book,
) -> None:
    with trio.fail_after(PATIENCE):
        warden = await WardenProcess.open()
        lease = await run_zoo(warden, book)
        for pid in (lease.keeper_pid, *warden.pids):
            os.kill(pid, signal.SIGSTOP)
        await lease.aclose()
        await warden.aclose()
        await eventually(lambda: not book.left())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's directory")
def test_low9_another_users_directory_of_our_name_is_left_aside(place: Path) -> None:
    taken = place / f"avatar-actors-{os.geteuid()}"
    for path in (taken, taken.with_name(f"{taken.name}-taken")):
        path.mkdir(mode=0o700)
        os.chown(path, 65534, 65534)
    (place / f"{taken.name}-notes").write_text("ours, but no directory")
    with program(LIVING_IN_SCRATCH) as host, open_private_root() as ours:
        theirs = Path(" ".join(said(host)))
        assert theirs.parent == ours.parent != taken
        assert stat.S_IMODE(ours.parent.stat().st_mode) == 0o700
        assert [found.pid for found in tree_sockets() if found.path.parent == theirs] == [host.pid]
        host.kill()
        host.wait(60)
        assert sweep_private_roots() == 1
        assert (theirs.exists(), ours.exists()) == (False, True)


SHORT_OF = """
import os, resource, sys, tempfile
import trio
from avatar_actors import AvatarError, open_avatar

if sys.argv[1] == "cwd":
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.rmdir(folder)
else:
    kind, most = getattr(resource, sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(kind, (most, most))

async def main():
    async with open_avatar():
        pass

try:
    trio.run(main)
except AvatarError as error:
    print(type(error).__name__, *str(error).split())
"""


@pytest.mark.parametrize(
    ("short_of", "told"),
    [
        (("cwd",), ("SettingsError", "current directory is gone")),
        (("RLIMIT_NOFILE", "8"), ("AvatarStartError", "(ulimit -a)")),
        (("RLIMIT_NOFILE", "10"), ("AvatarStartError", "raise ulimit -n")),
        (("RLIMIT_NOFILE", "12"), ("AvatarStartError", "raise ulimit -n")),
        (("RLIMIT_FSIZE", "0"), ("AvatarStartError", "(ulimit -a)")),
    ],
)
def test_low11_shortage_is_an_error_of_ours_that_says_what_to_do(
    short_of: tuple[str, ...], told: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    with program(SHORT_OF, *short_of) as host:
        kind, *words = said(host)
        assert kind == told[0]
        assert told[1] in " ".join(words)
        assert host.wait(60) == 0


HOST_THAT_CLOSES_EVERYTHING = """
import os, threading
from avatar_actors import AvatarDown, AvatarEngine, TextEvent

def told(call):
    try:
        return call()
    except AvatarDown as error:
        return error

started = threading.Event()
engine = AvatarEngine(options={"scripts": "true"})
engine.on(TextEvent, lambda event: started.set())
engine.start_sync()
stream = engine.events()
turn = engine.chat_async('SCRIPT:[{"say": "up"}, {"wait": 300}]')
started.wait()
os.closerange(3, 4096)
print(told(lambda: turn.result(timeout=100)))
print(told(lambda: list(stream)))
print(told(lambda: engine.chat_sync("more")))
print(told(engine.stop_sync))
"""


def test_low10_host_that_closes_all_descriptors_in_a_turn_hears_of_it() -> None:
    with program(HOST_THAT_CLOSES_EVERYTHING) as host:
        lines = [" ".join(said(host)) for _ in range(4)]
        assert all("event loop broke: [Errno 9]" in line for line in lines[:3])
        assert lines[3] == "None"
        assert host.wait(60) == 0
