"""Copies of the tree in which faults are planted, and processes that nobody else can meet."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
UNSHARE: Final = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
# The first process of a namespace inherits all orphans, and somebody has to collect them.
INIT: Final = """
import os, sys
program = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
while True:
    pid, status = os.wait()
    if pid == program:
        sys.exit(os.waitstatus_to_exitcode(status) & 255)
"""


@cache
def apart() -> tuple[str, ...]:
    """A command's first words: a pid namespace of its own, with which all its processes end."""
    if shutil.which("unshare") is None:
        return ()
    works = subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0
    return (*UNSHARE, sys.executable, "-S", "-c", INIT) if works else ()


def copied(place: Path) -> Path:
    """What git knows or would take, without its history, in a directory of its own."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)
    (place / ".venv").symlink_to(ROOT / ".venv")
    return place


def environment(tree: Path, temporary: Path, **more: str) -> dict[str, str]:
    """For programs that import this tree instead of the one that is installed."""
    here = {"PYTHONPATH": str(tree), "TMPDIR": str(temporary), "XDG_RUNTIME_DIR": str(temporary)}
    # Each of thousands of processes would compile the package anew.
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **here, **more}
