"""How much memory this process has for itself, as the system counts it."""

import gc
from pathlib import Path

ROLLUP = Path("/proc/self/smaps_rollup")
STATM = Path("/proc/self/statm")
PAGE = 4096


def own_bytes() -> int:
    """What only this process has (USS): nothing that it shares with its children counts."""
    gc.collect()
    fields = (line.split() for line in ROLLUP.read_text("ascii").splitlines()[1:])
    kib = {name: int(rest[0]) for name, *rest in fields}
    return (kib["Private_Clean:"] + kib["Private_Dirty:"]) * 1024


def resident_bytes() -> int:
    """What of it is in memory now (RSS); cheap enough to be asked often."""
    return int(STATM.read_text("ascii").split()[1]) * PAGE
