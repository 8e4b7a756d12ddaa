"""A copy of the product with one defect planted in its source, and a run of chaos over it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from avatar_actors.chaos import ChaosReport, report_from_json
from avatar_actors.chaos.process_view import ProcessSeen, seen
from avatar_actors.programs.warden import LEASE_COOKIE
from avatar_actors.programs.warden.process_tree import all_pids

ROOT: Final = Path(__file__).resolve().parents[2]
LIMIT: Final = 180
# The module `planted` in the copy. Whoever of all its processes makes the file is the first.
PLANTED: Final = '''
import os

MARKER = {marker!r}
words = []

def once():
    try:
        os.close(os.open(MARKER, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True

def last(word):
    """The word before this one, once."""
    words.append(word)
    return words[-2] if len(words) > 1 and once() else word
'''


class Edit(Struct, frozen=True):
    """One place of the source, which must be there exactly once, and what stands there instead."""

    file: str
    old: str
    new: str


class Run(Struct, frozen=True):
    """What became of it. `has_happened`: the defect was reached."""

    code: int
    report: ChaosReport
    output: str
    has_happened: bool

    @property
    def broken(self) -> set[str]:
        """The names of the promises that were not kept."""
        return {promise.name for promise in self.report.promises if not promise.is_kept}


def copied(place: Path, edit: Edit | None) -> Path:
    """Both packages in a directory of their own, with the edit made."""
    copy = place / "copy"
    # What is compiled already comes along; what another process is about to write does not.
    ignore = shutil.ignore_patterns("*.pyc.*")
    for package in ("avatar_actors", "supervisors"):
        shutil.copytree(ROOT / package, copy / package, ignore=ignore)
    (copy / "planted.py").write_text(PLANTED.format(marker=str(_marker(place))))
    if edit is not None:
        _make(edit, copy / edit.file)
    return copy


def run_chaos_of(copy: Path, *options: str) -> Run:
    """`avatar chaos` as the copy has it; nobody of it is left afterwards, whatever it leaves."""
    place = copy.parent
    file, temporary = place / "report.json", place / "tmp"
    temporary.mkdir()
    here = {"PYTHONPATH": str(copy), "TMPDIR": str(temporary), "XDG_RUNTIME_DIR": str(temporary)}
    # The warden passes this one on to its keepers, by which they are found.
    env = {**os.environ, **here, LEASE_COOKIE: str(place)}
    command = [sys.executable, "-m", "avatar_actors", "chaos", *options, "--json", str(file)]
    with nobody_left(place):
        done = subprocess.run(
            command, cwd=copy, env=env, capture_output=True, text=True, timeout=LIMIT, check=False
        )
    output = done.stdout + done.stderr
    assert file.exists(), output
    has_happened = _marker(place).exists()
    return Run(done.returncode, report_from_json(file), output, has_happened)


@contextmanager
def nobody_left(place: Path) -> Generator[None]:
    """At the end, kill who has this place in its environment."""
    try:
        yield
    finally:
        end = time.monotonic() + LIMIT
        while (left := _processes_of(place)) and time.monotonic() < end:
            for process in left:
                process.signal(signal.SIGKILL)
            time.sleep(0.01)
        assert not left, left


def _processes_of(place: Path) -> list[ProcessSeen]:
    found = (seen(pid) for pid in all_pids() if str(place).encode() in _environment(pid))
    return [each for each in found if each is not None and each.state not in {"", "Z", "X"}]


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def _make(edit: Edit, path: Path) -> None:
    source = path.read_text()
    count = source.count(edit.old)
    assert count == 1, (
        f"the product has moved on: {edit.file} has this {count} times instead of once; "
        f"adapt what is planted there:\n{edit.old}"
    )
    path.write_text(source.replace(edit.old, edit.new))


def _marker(place: Path) -> Path:
    return place / "happened"
