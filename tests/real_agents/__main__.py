"""Runs the suite of real agents and writes what it finds to docs/agents.md: `make test-agents`.

`--latest` plays the newest versions instead and tells what differs from the page's. Further
arguments are pytest's: a part of the suite writes no page.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from tests.real_agents.ability import Cell
from tests.real_agents.install import InstalledAgent, installed_agents, latest_folder, pinned_folder
from tests.real_agents.loopback_only import (
    INSIDE,
    is_inside,
    is_loopback_only,
    raise_loopback,
    way_in,
)
from tests.real_agents.matrix import Matrix, differences, page

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "agents.md"
# What the page was made from, for the comparison with newer versions.
RECORD = Path(__file__).parent / "matrix.json"
NOTHING_INSTALLED = 3


def main() -> int:
    if not is_inside() and (way := way_in()):
        command = [*way, sys.executable, "-m", "tests.real_agents", *sys.argv[1:]]
        return subprocess.run(
            command, env={**os.environ, INSIDE: "1"}, cwd=ROOT, check=False
        ).returncode
    if is_inside():
        raise_loopback()
    parser = argparse.ArgumentParser("python -m tests.real_agents", description=__doc__)
    parser.add_argument("--latest", action="store_true", help="play the newest versions")
    options, others = parser.parse_known_args()
    folder = latest_folder() if options.latest else pinned_folder()
    agents = installed_agents(folder)
    if not agents:
        target = "agents-latest" if options.latest else "agents"
        sys.stderr.write(f"No real agents are installed. Install them first: make {target}\n")
        return NOTHING_INSTALLED
    code, matrix = play(folder, agents, others)
    return report(matrix, code, is_latest=options.latest, is_whole=not others)


def play(folder: Path, agents: dict[str, InstalledAgent], others: list[str]) -> tuple[int, Matrix]:
    """Run pytest; what it found."""
    with tempfile.TemporaryDirectory() as scratch:
        found = Path(scratch) / "cells.jsonl"
        env = {
            **os.environ,
            "AVATAR_AGENTS_MATRIX": str(found),
            "AVATAR_AGENTS_FOLDER": str(folder),
        }
        command = [sys.executable, "-m", "pytest", "-n", "2", "tests/real_agents/suite", *others]
        code = subprocess.run(command, env=env, cwd=ROOT, check=False).returncode
        lines = found.read_bytes().splitlines() if found.exists() else []
    cells = tuple(msgspec.json.decode(line, type=Cell) for line in lines)
    versions = {name: agent.version for name, agent in agents.items()}
    network = "loopback only" if is_loopback_only() else "NOT isolated: unshare is not allowed here"
    return code, Matrix(versions=versions, cells=cells, network=network)


def report(matrix: Matrix, code: int, *, is_latest: bool, is_whole: bool) -> int:
    """Show it, and keep it if it is the whole truth about the pinned versions."""
    text = page(matrix)
    sys.stdout.write(f"\n{text}")
    if is_latest:
        old = msgspec.json.decode(RECORD.read_bytes(), type=Matrix)
        lines = differences(old, matrix) or ["Nothing differs."]
        sys.stdout.write(
            "\n".join(["", "The newest versions against the pinned ones:", *lines, ""])
        )
    elif is_whole and code == 0 and matrix.is_whole:
        PAGE.write_text(text, "utf-8")
        # In the order of the page: so that two runs can be compared.
        ordered = msgspec.structs.replace(matrix, cells=tuple(matrix.all_cells()))
        RECORD.write_bytes(msgspec.json.format(msgspec.json.encode(ordered), indent=1) + b"\n")
        sys.stdout.write(f"\nWritten to {PAGE.relative_to(ROOT)}.\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
