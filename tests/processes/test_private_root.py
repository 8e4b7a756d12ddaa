"""The private directory: whose it is, when it goes, and what is refused."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from avatar_actors.processes import PrivateRootRefused, open_private_root, sweep_private_roots

HOST = """
import signal, sys
from pathlib import Path
from avatar_actors.processes import open_private_root
with open_private_root(Path(sys.argv[1])) as scratch:
    (scratch / "secret").write_text("x")
    print(scratch, flush=True)
    signal.pause()
"""


def parent(place: Path) -> Path:
    return place / f"avatar-actors-{os.geteuid()}"


def test_directory_is_ours_alone_and_gone_afterwards(tmp_path: Path) -> None:
    with open_private_root(tmp_path) as scratch:
        (scratch / "deep").mkdir()
        (scratch / "deep" / "file").write_text("x")
        assert scratch.parent == parent(tmp_path)
        assert scratch.name.startswith(f"{os.getpid()}.")
        assert [stat.S_IMODE(p.stat().st_mode) for p in (scratch, scratch.parent)] == [0o700] * 2
    assert list(parent(tmp_path).iterdir()) == []


def test_directory_of_a_killed_host_is_swept_and_those_of_the_living_are_not(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-c", HOST, str(tmp_path)]
    with (
        open_private_root(tmp_path) as ours,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as host,
    ):
        assert host.stdout is not None
        theirs = Path(host.stdout.readline().strip())
        assert sweep_private_roots(tmp_path) == 0
        host.send_signal(signal.SIGKILL)
        host.wait(30)
        assert (theirs / "secret").exists()
        assert sweep_private_roots(tmp_path) == 1
        assert (theirs.exists(), ours.exists()) == (False, True)


def test_half_made_directory_is_swept_only_when_it_is_old(tmp_path: Path) -> None:
    with open_private_root(tmp_path):
        half_made = parent(tmp_path) / ".1.1-0"
        half_made.mkdir()
        assert sweep_private_roots(tmp_path) == 0
        os.utime(half_made, (0, 0))
        assert sweep_private_roots(tmp_path) == 1


def test_parent_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    parent(tmp_path).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PrivateRootRefused, match="not a directory"), open_private_root(tmp_path):
        pass


def test_parent_that_is_open_to_others_is_refused(tmp_path: Path) -> None:
    parent(tmp_path).mkdir()
    parent(tmp_path).chmod(0o755)
    with pytest.raises(PrivateRootRefused, match="chmod 700"), open_private_root(tmp_path):
        pass
