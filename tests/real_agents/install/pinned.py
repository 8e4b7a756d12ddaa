"""The pinned versions: fills a folder with them, and pins anew what package.json asks for."""

import shutil
import time
from pathlib import Path

from tests.real_agents.install.cache import LOCK, MANIFEST, cache_root, scratch_folder
from tests.real_agents.install.lockfile import missing_packages, without_addresses
from tests.real_agents.install.npm import NpmFailed, Say, install_exactly, resolve


def fill_pinned(folder: Path, say: Say) -> None:
    """Installs what the lock of the checkout says into the folder."""
    shutil.copy(MANIFEST, folder)
    shutil.copy(LOCK, folder)
    install_exactly(folder, say)
    check_whole(folder)


def check_whole(folder: Path) -> None:
    """Raises NpmFailed if npm left out something that the lock has for this platform."""
    missing = missing_packages(folder, (folder / LOCK.name).read_text("utf-8"))
    if missing:
        raise NpmFailed(f"npm said nothing, yet these are missing: {', '.join(missing)}")


def pin_anew(say: Say) -> None:
    """Writes the lock of the checkout; what is pinned in it and still fits stays."""
    started = time.monotonic()
    say(f"Resolving {MANIFEST.name} ...")
    with scratch_folder(cache_root() / "lock") as scratch:
        shutil.copy(MANIFEST, scratch)
        if LOCK.is_file():
            shutil.copy(LOCK, scratch)
        resolve(scratch, say)
        lock = without_addresses((scratch / LOCK.name).read_text("utf-8"))
    LOCK.write_text(lock, "utf-8")
    say(f"Wrote {LOCK.name} in {time.monotonic() - started:.0f} s; `make agents` installs it.")
