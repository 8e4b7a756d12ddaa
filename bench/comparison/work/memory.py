"""What this process and those that its library runs beside the agents hold in memory."""

import gc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes that nobody shares (USS): of the host, and with its library's other processes."""

    host: int
    all: int

    @classmethod
    def now(cls, agents: Sequence[int]) -> "Memory":
        gc.collect()
        own = private(Path("/proc/self"))
        others = sum(private(Path(f"/proc/{pid}")) for pid in descendants() if pid not in agents)
        return cls(own, own + others)


def private(process: Path) -> int:
    """What one process alone has. Agents are Pythons, too: what they share with it is no growth."""
    try:
        lines = (process / "smaps_rollup").read_text("ascii").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) * 1024


def descendants() -> list[int]:
    """Everybody below this process."""
    parents = dict(_parents())
    found = {int(Path("/proc/self").readlink().name)}
    own = set(found)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - own)


def _parents() -> Iterator[tuple[int, int]]:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        yield int(stat.parent.name), int(fields[1])
