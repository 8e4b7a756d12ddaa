"""The socket of a program's tree: whose it is, where it stands, and which are listed."""

import os
import resource
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from avatar_actors import observable_programs
from avatar_actors.processes import listening_for_watchers, open_private_root, tree_sockets
from avatar_actors.processes.tree_socket import LONGEST

HOST = """
import signal
from avatar_actors.processes import listening_for_watchers, open_private_root
with open_private_root() as scratch, listening_for_watchers(scratch):
    print(scratch, flush=True)
    signal.pause()
"""


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where private directories stand: with a path as short as the usual one."""
    with TemporaryDirectory() as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


def paths() -> list[Path]:
    return [found.path for found in tree_sockets()]


def test_the_socket_is_ours_alone_and_gone_afterwards(place: Path) -> None:
    with open_private_root(place) as scratch, listening_for_watchers(scratch) as listener:
        path = Path(listener.getsockname())
        assert path.parent == scratch
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(scratch.stat().st_mode) == 0o700
    assert not scratch.exists()


def test_a_path_that_is_too_long_makes_way_to_a_short_one(tmp_path: Path) -> None:
    place = tmp_path / ("x" * 100)
    place.mkdir()
    with open_private_root(place) as scratch, listening_for_watchers(scratch) as listener:
        path = Path(listener.getsockname())
        assert len(os.fsencode(path)) <= LONGEST
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert path in paths()
        with socket.socket(socket.AF_UNIX) as watcher:
            watcher.connect(str(path))
    assert not path.parent.exists()


def test_the_socket_of_a_killed_program_is_not_listed_and_swept(place: Path) -> None:
    command = [sys.executable, "-c", HOST]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        scratch = Path(host.stdout.readline().strip())
        listed = {program.pid: program.socket for program in observable_programs()}
        host.send_signal(signal.SIGKILL)
        host.wait(60)
        assert listed[host.pid] == scratch / "tree"
        assert scratch.is_relative_to(place)
        assert (scratch / "tree").exists()
        assert host.pid not in {program.pid for program in observable_programs()}
        assert not scratch.exists()


def test_what_is_no_socket_of_a_living_program_is_not_listed(place: Path) -> None:
    with open_private_root(place) as scratch:
        (scratch / "tree").write_text("a file")
        (scratch.parent / "no-number").mkdir()
        (scratch.parent / "file").touch()
        assert not [path for path in paths() if path.is_relative_to(place)]


def test_a_place_that_others_can_reach_is_left_out(place: Path) -> None:
    with open_private_root(place) as scratch, listening_for_watchers(scratch):
        assert [path for path in paths() if path.is_relative_to(place)]
        scratch.parent.chmod(0o755)
        assert not [path for path in paths() if path.is_relative_to(place)]


def test_a_place_that_cannot_be_listed_is_left_out(place: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with open_private_root(place) as scratch, listening_for_watchers(scratch):
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
        try:
            listed = paths()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        assert listed == []
        assert scratch / "tree" in paths()
