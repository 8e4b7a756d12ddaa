"""The working directory: files inside of it, and nothing else, whatever links point out of it."""

from __future__ import annotations

import os
from pathlib import Path

from avatar_actors.programs.embedded.tools import ToolFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_FILES = 5_000
LARGEST_FILE = 1_000_000
SKIPPED = frozenset((".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__"))


class Workspace:
    """Reads and writes below one root; every path is resolved before it is judged."""

    def __init__(self, root: str) -> None:
        self.root = Path(root).resolve()

    def locate(self, name: str) -> Path:
        """The real path of a file inside; raises ToolFailed for one outside."""
        try:
            path = (self.root / name).resolve()
        except ValueError:
            # A NUL, or half a surrogate pair.
            raise ToolFailed(f"{name!r} is no name of a file") from None
        if path != self.root and self.root not in path.parents:
            raise ToolFailed(f"{name} is outside of the working directory")
        return path

    def read(self, name: str) -> str:
        """The text of a file, up to a size."""
        path = self.locate(name)
        if not path.is_file():
            raise ToolFailed(f"{name} is not a file here")
        try:
            with path.open("rb") as file:
                data = file.read(LARGEST_FILE)
        except OSError as error:
            raise ToolFailed(f"{name}: {error.strerror}") from None
        if b"\0" in data:
            raise ToolFailed(f"{name} is not a text file")
        return data.decode(errors="replace")

    def write(self, name: str, text: str) -> None:
        """Writes a file, with the folders it needs."""
        path = self.locate(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        except OSError as error:
            raise ToolFailed(f"{name}: {error.strerror}") from None

    def files(self) -> list[str]:
        """The names of the files inside, sorted; hidden ones and those of tools are left out."""
        found: list[str] = []
        for name in self._walk():
            found.append(name)
            if len(found) >= MOST_FILES:
                break
        return sorted(found)

    def _walk(self) -> Iterator[str]:
        # os.walk follows no links to folders; links to files are resolved when they are read.
        for folder, folders, files in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not _is_skipped(name))
            for name in files:
                if not _is_skipped(name):
                    yield str(Path(folder, name).relative_to(self.root))


def _is_skipped(name: str) -> bool:
    return name.startswith(".") or name in SKIPPED
