"""Plants one fault after the other and asks the tests that could see it."""

import os
import queue
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import count
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from tests.mutants.copies import apart, environment
from tests.mutants.planting import Fault
from tests.mutants.record import Record, mirrors

# Seconds that any test, or all that are asked, may take beyond so many times what they took without
# a fault: who runs the tests would notice.
PATIENCE: Final = 20.0
SLOWER: Final = 10.0
# So many find most faults, and are collected in a moment.
FIRST: Final = 12
FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
NO_TESTS: Final = 5
# No two sources of a file may have one time: Python would take the compiled one for the other's.
_TIMES: Final = count(1_000_000_000)


class Verdict(Struct, frozen=True):
    """`found_by` is a test, or "time limit"; empty for a survivor."""

    fault: Fault
    asked: int
    found_by: str


def verdicts(faults: list[Fault], record: Record, jobs: int, tree: Path) -> Iterator[Verdict]:
    """As they come, `jobs` at a time, each in a copy of the tree."""
    trees: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for number in range(jobs):
        trees.put(Path(shutil.copytree(tree, tree.parent / f"copy-{number}", symlinks=True)))

    def judge(fault: Fault) -> Verdict:
        tree = trees.get()
        try:
            return _tried(fault, record, tree)
        finally:
            trees.put(tree)

    with ThreadPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(judge, fault) for fault in faults]):
            yield done.result()


def in_order(tests: set[str], fault: Fault, record: Record) -> list[str]:
    """Those of the folder that mirrors the source first, then the quick ones."""
    near = mirrors(fault.file)
    return sorted(tests, key=lambda test: (not test.startswith(near), record.tests[test].seconds))


def _tried(fault: Fault, record: Record, tree: Path) -> Verdict:
    source = (tree / fault.file).read_text()
    seeing = record.who_sees(fault.file, source, fault.first, fault.line)
    tests = in_order(seeing, fault, record)
    if not tests:
        return Verdict(fault, 0, "")
    _write(tree / fault.file, fault.planted_in(source))
    try:
        found_by = _ask(tests[:FIRST], record, tree)
        if not found_by and tests[FIRST:]:
            found_by = _ask(tests[FIRST:], record, tree)
    finally:
        _write(tree / fault.file, source)
    return Verdict(fault, len(tests), found_by)


def _ask(tests: list[str], record: Record, tree: Path) -> str:
    """Who found it."""
    temporary = tree / "tmp"
    temporary.mkdir(exist_ok=True)
    limits = {test: PATIENCE + SLOWER * record.tests[test].seconds for test in tests}
    (temporary / "limits.json").write_bytes(msgspec.json.encode(limits))
    (temporary / "tests").write_text("\n".join(tests))
    command = [
        *apart(), sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "--tb=no",
        "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "tests.mutants.time_limit",
        f"@{temporary / 'tests'}",
    ]  # fmt: skip
    env = environment(tree, temporary, MUTANTS_LIMITS=str(temporary / "limits.json"))
    with subprocess.Popen(
        command, cwd=tree, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as run:
        try:
            output, _ = run.communicate(timeout=PATIENCE + SLOWER * _seconds(tests, record))
        except subprocess.TimeoutExpired:
            run.kill()
            return "time limit"
    if run.returncode == 0:
        return ""
    if run.returncode == NO_TESTS:
        raise RuntimeError(output)
    named = FAILED.search(output)
    return named[1] if named else "time limit"


def _seconds(tests: list[str], record: Record) -> float:
    return sum(record.tests[test].seconds for test in tests)


def _write(file: Path, source: str) -> None:
    file.write_text(source)
    time = next(_TIMES)
    os.utime(file, (time, time))
