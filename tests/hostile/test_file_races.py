"""The file server, while another process exchanges directories for links."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from avatar_actors.session.file_server import fulfil
from avatar_actors.wire.facts import FileWanted

# For ever: now the one is the directory and the other the link, now the other way round.
EXCHANGER = """
import ctypes, sys
AT_FDCWD, RENAME_EXCHANGE = -100, 2
first, second = (name.encode() for name in sys.argv[1:])
renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
print("up", flush=True)
while renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE) == 0:
    pass
"""
TRIES = 2000


@contextmanager
def exchanging(first: Path, second: Path) -> Generator[None]:
    command = [sys.executable, "-c", EXCHANGER, str(first), str(second)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "up\n"
            yield
            assert process.poll() is None
        finally:
            process.kill()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for place, text in ((root / "dir", "inside"), (tmp_path / "outside", "outside")):
        place.mkdir(parents=True)
        (place / "file").write_text(text)
        (place / "deep").mkdir()
    (root / "link").symlink_to(tmp_path / "outside")
    return root


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges two names at once")
def test_m3_exchanged_parent_never_leads_a_read_or_a_write_out_of_the_directory(
    root: Path,
) -> None:
    outside = root.parent / "outside"
    found: list[str] = []
    with exchanging(root / "dir", root / "link"):
        for number in range(TRIES):
            with suppress(OSError):
                found.append(fulfil(root, FileWanted(request_id="1", path="dir/file")))
            new = f"dir/{'deep/' * (number % 2)}new/{number % 10}"
            with suppress(OSError):
                fulfil(root, FileWanted(request_id="1", path=new, text="mine"))
    assert set(found) == {"inside"}
    assert sorted(path.name for path in outside.rglob("*")) == ["deep", "file"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges two names at once")
def test_m3_exchanged_file_never_leads_out_of_the_directory(root: Path) -> None:
    (root / "file").write_text("inside")
    (root / "file link").symlink_to(root.parent / "outside" / "file")
    found: list[str] = []
    with exchanging(root / "file", root / "file link"):
        for _ in range(TRIES):
            with suppress(OSError):
                found.append(fulfil(root, FileWanted(request_id="1", path="file")))
            with suppress(OSError):
                fulfil(root, FileWanted(request_id="1", path="file", text="inside"))
    assert set(found) == {"inside"}
    assert (root.parent / "outside" / "file").read_text() == "outside"
