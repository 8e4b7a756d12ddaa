"""What a run may leave behind or need too much of: processes, descriptors, directories, memory."""

import gc
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from avatar_actors.processes.sweep import host_identity, process_identity
from avatar_actors.programs.warden import LEASE_COOKIE
from avatar_actors.programs.warden.process_tree import all_pids, descendants


def processes_of(host: str) -> set[int]:
    """Everybody who carries a lease of that host."""
    return {pid for pid in all_pids() if has_lease_of(host, pid)}


def has_lease_of(host: str, pid: int) -> bool:
    return f"{LEASE_COOKIE}={host}/".encode() in read(Path(f"/proc/{pid}/environ"))


def processes_marked(mark: str) -> set[int]:
    """Everybody with this mark in the command line: also who has cleared the environment."""
    return {pid for pid in all_pids() if mark.encode() in read(Path(f"/proc/{pid}/cmdline"))}


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def directories_of(process: str) -> list[str]:
    """The private directories of the host `PID.STARTTIME`."""
    places = {tempfile.gettempdir(), os.environ.get("XDG_RUNTIME_DIR") or "/tmp"}
    pattern = f"avatar-actors-{os.geteuid()}/*{process}-*"
    return [path.name for place in places for path in Path(place).glob(pattern)]


def open_descriptors() -> set[str]:
    """Ours, each with what it leads to; but for the one of this very listing, closed by now."""
    links = ((path.name, link(path)) for path in Path("/proc/self/fd").iterdir())
    return {f"{number} {target}" for number, target in links if target is not None}


def link(path: Path) -> str | None:
    try:
        return str(path.readlink())
    except OSError:
        return None


def remains() -> list[str]:
    """What this program has now that only a running avatar may need."""
    return [
        *(f"process {pid}" for pid in descendants(os.getpid())),
        *(f"leased process {pid}" for pid in processes_of(host_identity())),
        *(f"directory {name}" for name in directories_of(process_identity(os.getpid()))),
    ]


@contextmanager
def leaving_nothing() -> Generator[None]:
    """Whatever happens in the block: no process, zombie, descriptor or directory afterwards."""
    gc.collect()
    before, descriptors = set(remains()), open_descriptors()
    yield
    left = {*remains(), *open_descriptors()} - before - descriptors
    assert not left, left


@contextmanager
def growing_at_most(size: int) -> Generator[None]:
    """The memory of this program may not grow beyond so many bytes, not even for a moment."""
    # "5" forgets the peak: what earlier tests needed would hide what this one needs.
    Path("/proc/self/clear_refs").write_text("5", "ascii")
    before = memory("VmRSS")
    yield
    assert memory("VmHWM") - before < size


def memory(name: str) -> int:
    status = Path("/proc/self/status").read_text("ascii")
    [line] = [line for line in status.splitlines() if line.startswith(f"{name}:")]
    return int(line.split()[1]) * 1024
