"""That nothing is touched outside of a test: the HOME of who runs the suite stays as it was."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

# Where agents of the tester's own keep their things.
AGENTS_OWN = (
    ".claude", ".codex", ".config/opencode", ".gemini", ".local/share/opencode", ".local/state",
    ".qwen",
)  # fmt: skip
# Avatars of the tester's own may be at work meanwhile, and the embedded agent is none of the suite.
OURS = ".local/state/avatar-actors"


@pytest.fixture(scope="session", autouse=True)
def untouched_home() -> Generator[None]:
    """Whatever the agents do: the tester's own HOME is afterwards as it was."""
    before = own_files()
    yield
    after = own_files()
    changed = [name for name in {*before, *after} if before.get(name) != after.get(name)]
    assert not changed, f"changed meanwhile, by an agent of the suite or by one of yours: {changed}"


def own_files() -> dict[str, tuple[int, int]]:
    """What of the tester's an agent might find by itself, with sizes and times. None is opened."""
    home = Path.home()
    roots = [home / name for name in AGENTS_OWN]
    inside = [path for root in roots if root.exists() for path in (root, *root.rglob("*"))]
    stats = {
        str(path): path.lstat()
        for path in [*filter(Path.is_file, home.iterdir()), *inside]
        if os.path.lexists(path) and not path.is_relative_to(home / OURS)
    }
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in stats.items()}
