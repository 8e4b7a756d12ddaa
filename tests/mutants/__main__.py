"""Can the tests fail? Plants small faults, one at a time, and lists those that no test notices.

`python -m tests.mutants --seed 7 --count 200 avatar_actors/actors avatar_actors/hosting`, or
`--since main` for the files that have changed since a revision. The working tree is not touched.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import msgspec

from tests.mutants.copies import ROOT, apart, copied
from tests.mutants.planting import Fault, faults_of, sample
from tests.mutants.record import PACKAGES, brought_up_to_date
from tests.mutants.trying import Verdict, verdicts


def main() -> None:
    options = parsed(sys.argv[1:])
    if not apart():
        print("no pid namespaces here: a fault in process code may leave processes behind")
    judged: list[Verdict] = []
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as place:
        tree = copied(Path(place) / "tree")
        chosen = chosen_faults(options, tree)
        record = brought_up_to_date(options.record, options.tests, tree)
        for verdict in verdicts(chosen, record, options.jobs, tree):
            judged.append(verdict)
            print(f"{len(judged):4} {told(verdict)}", flush=True)
            if options.json:
                options.json.write_bytes(msgspec.json.format(msgspec.json.encode(judged)))
    print(summary(judged))
    print(f"{(time.monotonic() - begin) / 60:.0f} minutes")


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("paths", nargs="*", default=list(PACKAGES), help="files and folders")
    parser.add_argument("--since", metavar="REV", help="files changed since then instead")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10_000))
    parser.add_argument("--count", type=int, default=200, help="how many faults (200)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="at a time (cores)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all verdicts there")
    parser.add_argument("--tests", nargs="+", default=["tests"], help="only tests of these folders")
    parser.add_argument("--record", type=Path, default=ROOT / ".mutants.json", metavar="FILE")
    return parser.parse_args(arguments)


def chosen_faults(options: argparse.Namespace, tree: Path) -> list[Fault]:
    files = changed_since(options.since) if options.since else python_files(options.paths, tree)
    faults = [fault for file in files for fault in faults_of(file, (tree / file).read_text())]
    chosen = sample(faults, options.seed, options.count)
    print(f"seed {options.seed}: {len(chosen)} of {len(faults)} faults in {len(files)} files")
    return chosen


def changed_since(revision: str) -> list[str]:
    command = ["git", "diff", "--name-only", "--diff-filter=d", revision, "--", *PACKAGES]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return sorted(name for name in names.splitlines() if name.endswith(".py"))


def python_files(paths: list[str], tree: Path) -> list[str]:
    found = {
        file
        for path in paths
        for file in ([tree / path] if path.endswith(".py") else (tree / path).rglob("*.py"))
    }
    return sorted(str(file.relative_to(tree)) for file in found)


def told(verdict: Verdict) -> str:
    if verdict.found_by:
        return f"found     {verdict.fault.file}:{verdict.fault.line}  by {verdict.found_by}"
    return f"SURVIVED  {verdict.fault}{why(verdict)}"


def summary(judged: list[Verdict]) -> str:
    """The survivors, and the share found in each area."""
    survivors = sorted((v for v in judged if not v.found_by), key=lambda v: str(v.fault))
    lines = ["", "Survivors:", *(f"  {verdict.fault}{why(verdict)}" for verdict in survivors), ""]
    planted, found = Counter[str](), Counter[str]()
    for verdict in judged:
        for area in (str(Path(verdict.fault.file).parent), "all"):
            planted[area] += 1
            found[area] += bool(verdict.found_by)
    for area, number in sorted(planted.items()):
        share = found[area] / number
        lines.append(f"  {area:26} {found[area]:4} of {number:4} found  {share:4.0%}")
    return "\n".join(lines)


def why(verdict: Verdict) -> str:
    return f"  ({verdict.asked} tests passed)" if verdict.asked else "  (there is no test for it)"


main()
