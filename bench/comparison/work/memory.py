"""What this process and those that its library runs beside the agents hold in memory."""

import gc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes, proportionally shared (PSS): of the host, and with its library's other processes."""

    host: int
    all: int

    @classmethod
    def now(cls, agents: Sequence[int]) -> "Memory":
        gc.collect()
        own = proportional(Path("/proc/self"))
        others = sum(
            proportional(Path(f"/proc/{pid}")) for pid in descendants() if pid not in agents
        )
        return cls(own, own + others)


def proportional(process: Path) -> int:
    """A page that is shared by two counts half."""
    try:
        lines = (process / "smaps_rollup").read_text("ascii").splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024


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
