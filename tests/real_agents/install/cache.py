"""The folders outside the checkout that hold installed agents; each appears whole or not at all."""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
MANIFEST = HERE / "package.json"
LOCK = HERE / "package-lock.json"

VARIABLE = "AVATAR_AGENTS_CACHE"
# Written last. A folder without it was made by a run that did not finish, or was tampered with.
COMPLETE = "complete"
UNFINISHED = ".unfinished"
LATEST = "latest"


def cache_root() -> Path:
    """Where all installations are, one folder each."""
    named = os.environ.get(VARIABLE)
    return Path(named).absolute() if named else Path.home() / ".cache" / "avatar-actors" / "agents"


def pinned_folder() -> Path:
    """The installation of the lock in this checkout, whether it is there or not."""
    return cache_root() / digest(LOCK.read_text("utf-8"))


def latest_folder() -> Path:
    """The newest versions as `--latest` last found them, whether they are there or not."""
    return (cache_root() / LATEST).resolve()


def digest(lock: str) -> str:
    """The name of the folder for a lock."""
    return hashlib.sha256(lock.encode()).hexdigest()[:16]


def is_complete(folder: Path) -> bool:
    return (folder / COMPLETE).is_file()


def make_complete(folder: Path, fill: Callable[[Path], None]) -> None:
    """Has `fill` make the content elsewhere, and puts it in place only if that succeeded.

    To be called as the sole maker of the folder.
    """
    for remains in [folder, *folder.parent.glob(f"{folder.name}.*{UNFINISHED}")]:
        shutil.rmtree(remains, ignore_errors=True)
    with scratch_folder(folder) as scratch:
        fill(scratch)
        (scratch / COMPLETE).touch()
        scratch.rename(folder)


@contextmanager
def scratch_folder(beside: Path) -> Generator[Path]:
    """A folder beside the other, so that it can take its place; gone at the end unless it did."""
    root = beside.parent
    root.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f"{beside.name}.", suffix=UNFINISHED, dir=root))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def sole_maker(folder: Path, on_wait: Callable[[], None]) -> Generator[None]:
    """At most one run makes a folder; the others wait here. A killed one holds nobody up."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def point_latest_at(folder: Path) -> None:
    """Makes `latest_folder` give this one, in one step."""
    latest = folder.parent / LATEST
    with scratch_folder(latest) as scratch:
        link = scratch / LATEST
        link.symlink_to(folder.name)
        link.replace(latest)


def superseded_latest(folder: Path) -> list[Path]:
    """Installations of newest versions that are not the newest any more."""
    found = folder.parent.glob(f"{LATEST}-*/{COMPLETE}")
    return sorted(path.parent for path in found if path.parent != folder)
