"""An environment for each library that is not the project's: made once, outside the checkout."""

import hashlib
import os
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.agents.program import Say
from bench.comparison.contestants import Contestant


class NotInstalled(Exception):
    """The library could not be installed; the text says why, in one line."""


def python_for(contestant: Contestant, say: Say, cache: Path | None = None) -> str:
    """The Python that can import the contestant's library: this one's version, its own packages."""
    if contestant.lock is None:
        return sys.executable
    folder = (
        cache or cache_root(os.environ)
    ) / f"{contestant.lock.stem}-{_digest(contestant.lock)}"
    if not folder.exists():
        say(f"{contestant.lock.stem} is being installed, once")
        _install(folder, contestant.lock)
    return str(folder / "bin" / "python")


def cache_root(environ: Mapping[str, str]) -> Path:
    """`$XDG_CACHE_HOME/avatar-actors/bench`, by default in `~/.cache`."""
    named = environ.get("XDG_CACHE_HOME", "")
    cache = Path(named) if Path(named).is_absolute() else Path.home() / ".cache"
    return cache / "avatar-actors" / "bench"


def _digest(lock: Path) -> str:
    """Another lock or another Python is another environment."""
    told = lock.read_bytes() + sys.version.encode()
    return hashlib.sha256(told).hexdigest()[:16]


def _install(folder: Path, lock: Path) -> None:
    """Beside its place, and moved there once it is complete: two may do this at once."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True) as scratch:
            made = Path(scratch) / "made"
            venv.create(made, with_pip=True)
            _fill(made, lock)
            # Whoever was faster has made the same.
            if not folder.exists():
                made.rename(folder)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotInstalled(f"could not be installed: {error}") from error


def _fill(made: Path, lock: Path) -> None:
    done = subprocess.run(
        [
            *(str(made / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps"),
            *("--disable-pip-version-check", "--require-hashes", "-r", str(lock)),
        ],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise NotInstalled(f"could not be installed: {(lines or ['pip failed'])[-1]}")
