"""What is looked for in a store of sessions, and what is found."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from avatar_actors.model.values import StoredSession
from avatar_actors.wire.moments import moment_of

LONGEST_TITLE = 100


class SessionListing(Struct, frozen=True):
    """The sessions, the last used first; and what of the store could not be read."""

    sessions: tuple[StoredSession, ...] = ()
    diagnostics: tuple[str, ...] = ()


class SessionSearch(Struct, frozen=True, kw_only=True):
    """What an agent with this environment has kept of a directory, or of all (None)."""

    env: Mapping[str, str]
    working_dir: Path | None = None
    limit: int = 100

    @property
    def home(self) -> Path:
        """The agent's home directory."""
        return Path(self.env.get("HOME") or Path.home())

    def directories(self) -> set[str]:
        """The names of the directory; an agent sees it without symbolic links."""
        if self.working_dir is None:
            return set()
        return {os.path.abspath(self.working_dir), os.path.realpath(self.working_dir)}  # noqa: PTH100 - also of what is gone

    def covers(self, working_dir: str) -> bool:
        """Whether a session of this directory is looked for."""
        return self.working_dir is None or working_dir in self.directories()


Store: TypeAlias = Callable[[SessionSearch], SessionListing]
"""Reads one agent's store. It blocks; what is wrong with the store is told, not raised."""


def newest_first(sessions: list[StoredSession]) -> tuple[StoredSession, ...]:
    """In the order of their last use."""
    return tuple(sorted(sessions, key=lambda each: moment_of(each.updated_at), reverse=True))


def title_from(text: str) -> str:
    """A title of one line."""
    words = " ".join(text[: 10 * LONGEST_TITLE].split())
    return words if len(words) <= LONGEST_TITLE else f"{words[: LONGEST_TITLE - 1]}…"
