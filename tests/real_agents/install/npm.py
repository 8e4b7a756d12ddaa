"""Runs npm in a folder: to resolve a lock, or to install one. Install scripts never run."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

# The last three hold against what a user's own configuration may say. Not every agent names the
# Node we have among its engines; a warning is enough, the suite shows whether it runs.
ALWAYS = (
    "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier",
    "--engine-strict=false", "--include=optional", "--omit-lockfile-registry-resolved",
)  # fmt: skip
REPORT_EVERY = 5.0
LAST_LINES = 25
LOG = "npm.log"

Say = Callable[[str], None]


class NpmFailed(Exception):
    """npm ended with an error, or left something out."""


def resolve(folder: Path, say: Say) -> None:
    """Writes the package-lock.json for the package.json there."""
    _run(folder, say, "install", "--package-lock-only")


def install_exactly(folder: Path, say: Say) -> None:
    """Installs what the lock says, and refuses a lock that does not fit its package.json."""
    _run(folder, say, "ci")


def install_leniently(folder: Path, say: Say) -> None:
    """Installs what the lock says, also if it lacks optional packages that no server has."""
    _run(folder, say, "install")


def _run(folder: Path, say: Say, *command: str) -> None:
    log = folder / LOG
    started = time.monotonic()
    with log.open("wb") as output:
        npm = subprocess.Popen(
            ["npm", *command, *ALWAYS],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        try:
            while not _ended(npm):
                elapsed = time.monotonic() - started
                say(f"  {elapsed:4.0f} s  {_megabytes(folder):5.0f} MB")
        finally:
            npm.terminate()
            npm.wait()
    if npm.returncode != 0:
        lines = log.read_text("utf-8", "replace").splitlines()[-LAST_LINES:]
        raise NpmFailed("\n".join([f"npm {command[0]} failed ({npm.returncode}):", *lines]))


def _ended(npm: subprocess.Popen[bytes]) -> bool:
    try:
        npm.wait(REPORT_EVERY)
    except subprocess.TimeoutExpired:
        return False
    return True


def _megabytes(folder: Path) -> float:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(parent) / name).lstat().st_size
            except FileNotFoundError:  # npm moves things about
                continue
    return total / 1e6
