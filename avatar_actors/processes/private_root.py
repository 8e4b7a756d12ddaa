"""The runtime's private directory: 0700, removed at the end, swept later if its host was killed."""

import contextlib
import fcntl
import os
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

from avatar_actors.processes.descriptors import OwnedFd
from avatar_actors.processes.sweep import is_dead_process, process_identity, sweep_dead_hosts
from avatar_actors.processes.types import PrivateRootRefused

# The first character of a directory's name until its host has locked it.
UNFINISHED = "."
UNFINISHED_SECONDS = 60.0
OTHERS = 0o077
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


@contextlib.contextmanager
def open_private_root(place: Path | None = None) -> Generator[Path]:
    """A new private directory `PLACE/avatar-actors-UID/PID.STARTTIME-RANDOM`, removed afterwards.

    `place` is XDG_RUNTIME_DIR or the system's directory for temporary files, unless given.
    PrivateRootRefused if the parent is open to others, or not a directory.
    """
    parent = _own_parent(place)
    name = f"{process_identity(os.getpid())}-{secrets.token_hex(8)}"
    unfinished, path = parent / f"{UNFINISHED}{name}", parent / name
    unfinished.mkdir(mode=0o700)
    # Held as long as we live: a sweeper in another container sees the lock, but not our process.
    lock = OwnedFd(os.open(unfinished, DIRECTORY))
    try:
        fcntl.flock(lock.number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        unfinished.rename(path)
        yield path
    finally:
        for each in (path, unfinished):
            remove_tree(each)
        lock.drop()


def sweep_private_roots(place: Path | None = None) -> int:
    """Kill what dead hosts left running and remove their directories; returns how many.

    A killed host's directory outlives it: without one, no process is looked at.
    """
    parents = private_root_parents(place)
    abandoned = [path for each in parents for path in each.iterdir() if _is_abandoned(path)]
    if abandoned:
        # Before the evidence goes: the next start would look for nobody.
        sweep_dead_hosts()
    for path in abandoned:
        remove_tree(path)
    return len(abandoned)


def remove_tree(path: Path) -> None:
    """Remove the directory with its contents, however deep, as far as permissions allow."""
    # rmtree takes a frame and a descriptor for each level, and agents can dig deeper than that.
    with contextlib.suppress(RecursionError):
        shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        with contextlib.suppress(OSError):
            _flatten(path)
        shutil.rmtree(path, ignore_errors=True)


def _flatten(path: Path) -> None:
    """Lift every directory below this one to its top."""
    top = os.open(path, DIRECTORY)
    try:
        waiting = _directories(top)
        while waiting:
            fd = os.open(waiting.pop(), DIRECTORY, dir_fd=top)
            try:
                for name in _directories(fd):
                    waiting.append(secrets.token_hex(8))
                    os.rename(name, waiting[-1], src_dir_fd=fd, dst_dir_fd=top)
            finally:
                os.close(fd)
    finally:
        os.close(top)


def _directories(fd: int) -> list[str]:
    with os.scandir(fd) as entries:
        return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]


def private_root_parents(place: Path | None = None) -> list[Path]:
    """The parents of this user's private directories, if there are any.

    One, unless another user has taken its name: then one with a random suffix. PrivateRootRefused
    if the usual one is ours, but open to others or not a directory.
    """
    usual = _usual_parent(place)
    status = _own_status(usual)
    if status is not None and not stat.S_ISDIR(status.st_mode):
        raise PrivateRootRefused(f"{usual} is not a directory: remove it")
    if status is not None and status.st_mode & OTHERS:
        raise PrivateRootRefused(f"{usual} is open to others: chmod 700 it")
    beside = sorted(usual.parent.glob(f"{usual.name}-*"))
    return [usual] * (status is not None) + list(filter(_is_private, beside))


def _own_parent(place: Path | None) -> Path:
    usual = _usual_parent(place)
    with contextlib.suppress(FileExistsError):
        usual.mkdir(mode=0o700)
    for parent in private_root_parents(place):
        return parent
    return Path(tempfile.mkdtemp(prefix=f"{usual.name}-", dir=usual.parent))


def _usual_parent(place: Path | None) -> Path:
    return (place or _default_place()) / f"avatar-actors-{os.geteuid()}"


def _own_status(path: Path) -> os.stat_result | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status if status.st_uid == os.geteuid() else None


def _is_private(path: Path) -> bool:
    status = _own_status(path)
    return status is not None and stat.S_ISDIR(status.st_mode) and not status.st_mode & OTHERS


def _default_place() -> Path:
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and Path(runtime).is_dir() and os.access(runtime, os.W_OK | os.X_OK):
        return Path(runtime)
    return Path(tempfile.gettempdir())


def _is_abandoned(path: Path) -> bool:
    host = path.name.removeprefix(UNFINISHED).partition("-")[0]
    try:
        fd = os.open(path, DIRECTORY)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        age = time.time() - os.fstat(fd).st_mtime
    except OSError:
        # Its host lives, or this file system has no locks to tell by.
        return False
    finally:
        os.close(fd)
    if path.name.startswith(UNFINISHED):
        return age > UNFINISHED_SECONDS
    return is_dead_process(host)
