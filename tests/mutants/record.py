"""What was recorded of the tests: which of them could see a fault in a given line.

Kept from run to run: only test files that are new or changed are recorded anew, and a source that
has changed since is taken as a whole.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from tests.mutants.copies import ROOT, apart, environment

# Programs of their own, which no tracer of the tests sees, and the tests that start them.
PROGRAMS: Final = {
    "avatar_actors/programs/warden/": ("tests/programs/warden/", "tests/processes/"),
    "avatar_actors/programs/embedded/": ("tests/programs/embedded/",),
    "avatar_actors/programs/gemini_shim/": ("tests/programs/gemini_shim/",),
    "avatar_actors/programs/schema_check.py": (
        "tests/avatar/test_structured_output.py",
        "tests/hostile/test_structured_answers.py",
        "tests/runtime/test_structured_answers.py",
    ),
}
PACKAGES: Final = ("avatar_actors", "supervisors")
# Without a word about lines of the packages, or too slow to be asked once per fault.
LEFT_OUT: Final = tuple(
    f"tests/{folder}/" for folder in ("bench", "chaos", "examples", "mutants", "real_agents")
)


class TestRun(Struct, frozen=True):
    """One test: how long it took, and the lines that it ran, by file."""

    __test__ = False

    seconds: float
    lines: dict[str, list[int]]


class Record(Struct):
    """All tests that were recorded, and the digests of the files as they were then."""

    tests: dict[str, TestRun] = {}
    digests: dict[str, str] = {}

    def who_sees(self, file: str, source: str, first: int, last: int) -> set[str]:
        """The tests that ran one of these lines, or that start the program whose lines they are.

        A line that no test ran may run in a program that a test starts: then all tests of the
        folder are asked.
        """
        is_same = self.digests.get(file) == digest(source)
        wanted = set(range(first, last + 1))
        starters = _starters(file)
        seen = {
            name
            for name, run in self.tests.items()
            if name.startswith(starters)
            or (file in run.lines and (not is_same or wanted & set(run.lines[file])))
        }
        return seen or {name for name in self.tests if name.startswith(mirrors(file))}


def mirrors(file: str) -> tuple[str, ...]:
    """The tests that are about this file: those that start it, else those of its folder."""
    return _starters(file) or (_folder(Path(file).parent),)


def _starters(file: str) -> tuple[str, ...]:
    found = (tests for program, tests in PROGRAMS.items() if file.startswith(program))
    return next(found, ())


def _folder(package: Path) -> str:
    """`tests` mirrors the rooms of `avatar_actors`; a room's inner folders have none of their own.

    So the nearest one that there is.
    """
    inside = package.parts[package.parts[0] == "avatar_actors" :]
    folder = Path("tests", *inside)
    return f"{folder}/" if (ROOT / folder).is_dir() else _folder(package.parent)


def digest(source: str) -> str:
    """What a source says, in short."""
    return hashlib.sha256(source.encode()).hexdigest()


def brought_up_to_date(kept: Path, folders: Iterable[str], tree: Path) -> Record:
    """The record in that file, with what is missing in these folders of tests recorded now."""

    def now(file: str) -> str:
        return digest((tree / file).read_text())

    record = msgspec.json.decode(kept.read_bytes(), type=Record) if kept.exists() else Record()
    files = test_files(folders, tree)
    stale = [file for file in files if record.digests.get(file) != now(file)]
    gone = {file for file in record.digests if not (tree / file).exists()}
    record.tests = {
        name: run
        for name, run in record.tests.items()
        if name.partition("::")[0] not in {*stale, *gone}
    }
    if stale:
        print(f"recording which lines the tests of {len(stale)} files run ...", flush=True)
        recorded = _recorded(stale, tree)
        record.tests |= recorded
        sources = {file for run in recorded.values() for file in run.lines}
        known = {file for file in sources if file in record.digests}
        # Lines of a file that has changed between two recordings are not comparable.
        mixed = {file for file in known if record.digests[file] != now(file)}
        record.digests |= {file: now(file) for file in {*stale, *(sources - known)}}
        record.digests |= dict.fromkeys(mixed, "mixed")
        kept.write_bytes(msgspec.json.encode(record))
    return record


def test_files(folders: Iterable[str], tree: Path) -> list[str]:
    """All modules of tests there that may be asked."""
    found = (path for folder in folders for path in (tree / folder).rglob("test_*.py"))
    names = {str(path.relative_to(tree)) for path in found}
    return sorted(name for name in names if not name.startswith(LEFT_OUT))


def _recorded(files: list[str], tree: Path) -> dict[str, TestRun]:
    with tempfile.TemporaryDirectory() as place:
        command = [
            *apart(), sys.executable, "-m", "pytest", "-q", "-n", str(os.cpu_count() or 1),
            "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "tests.mutants.recorder", *files,
        ]  # fmt: skip
        env = environment(tree, Path(place), MUTANTS_RECORD=place)
        subprocess.run(command, cwd=tree, env=env, check=False)
        tests: dict[str, TestRun] = {}
        for file in Path(place).glob("*.json"):
            tests |= msgspec.json.decode(file.read_bytes(), type=dict[str, TestRun])
    return tests
