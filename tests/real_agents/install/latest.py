"""The newest versions of all agents: what they are, and how they get beside the pinned ones."""

import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.real_agents.install.cache import (
    LATEST,
    LOCK,
    MANIFEST,
    cache_root,
    digest,
    point_latest_at,
    scratch_folder,
    superseded_latest,
)
from tests.real_agents.install.lockfile import (
    requested,
    versions,
    with_locked_requests,
    with_requests,
    without_addresses,
)
from tests.real_agents.install.npm import Say, install_leniently, resolve
from tests.real_agents.install.pinned import check_whole

# Not asked for by us, yet they are the agents inside the adapters.
INSIDE = ("@anthropic-ai/claude-agent-sdk", "@openai/codex")


@dataclass(frozen=True)
class Latest:
    """The newest versions, resolved in a folder and not installed yet."""

    resolved: Path

    @property
    def lock(self) -> str:
        return (self.resolved / LOCK.name).read_text("utf-8")

    @property
    def folder(self) -> Path:
        """Where they belong: a folder per set of versions, so that nothing is installed twice."""
        return cache_root() / f"{LATEST}-{digest(self.lock)}"

    def changes(self) -> Iterator[str]:
        """One line per package: pinned version → newest version."""
        before, after = versions(LOCK.read_text("utf-8")), versions(self.lock)
        for name in sorted({*requested(MANIFEST.read_text("utf-8")), *INSIDE}):
            old, new = before.get(name, "–"), after.get(name, "–")
            yield f"  {name:42}{old} → {new}" if old != new else f"  {name:42}{old}, the newest"

    def fill(self, folder: Path, say: Say) -> None:
        """Installs them into the folder."""
        shutil.copy(self.resolved / MANIFEST.name, folder)
        shutil.copy(self.resolved / LOCK.name, folder)
        install_leniently(folder, say)
        check_whole(folder)


@contextmanager
def resolve_latest(say: Say) -> Generator[Latest]:
    """Asks for the newest versions, and gives them for as long as the block runs."""
    say("Asking for the newest versions ...")
    pinned = MANIFEST.read_text("utf-8")
    with scratch_folder(cache_root() / "resolve") as scratch:
        manifest, lock = scratch / MANIFEST.name, scratch / LOCK.name
        # The tag by its name: for no version or a range npm picks an old release whose engines
        # suit this Node, and does not say so.
        asked = with_requests(pinned, dict.fromkeys(requested(pinned), "latest"))
        manifest.write_text(asked, "utf-8")
        resolve(scratch, say)
        text = without_addresses(lock.read_text("utf-8"))
        found = {name: each for name, each in versions(text).items() if name in requested(pinned)}
        manifest.write_text(with_requests(pinned, found), "utf-8")
        lock.write_text(with_locked_requests(text, found), "utf-8")
        yield Latest(scratch)


def settle_latest(folder: Path) -> list[Path]:
    """Makes the folder the one that `latest_folder` gives; returns those it takes the place of."""
    point_latest_at(folder)
    return superseded_latest(folder)
