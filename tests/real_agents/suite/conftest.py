"""That nothing is touched outside of a test: the HOME of who runs the suite stays as it was."""

from collections.abc import Generator
from pathlib import Path

import pytest

# Where agents of the tester's own keep their things.
AGENTS_OWN = (
    ".claude", ".codex", ".config/opencode", ".gemini", ".local/share/opencode", ".local/state",
    ".qwen",
)  # fmt: skip


@pytest.fixture(scope="session", autouse=True)
def untouched_home() -> Generator[None]:
    """Whatever the agents do: the tester's own HOME is afterwards as it was."""
    before = own_files()
    yield
    after = own_files()
    changed = [name for name in {*before, *after} if before.get(name) != after.get(name)]
    assert not changed, f"changed meanwhile, by an agent of the suite or by one of yours: {changed}"


def own_files() -> dict[str, tuple[int, int]]:
    """The tester's files that an agent might find by itself, with their sizes and times."""
    home = Path.home()
    roots = [home / name for name in AGENTS_OWN]
    inside = [path for root in roots for path in root.rglob("*")]
    found = [path for path in [*home.iterdir(), *inside] if path.is_file()]
    stats = {str(path): path.stat() for path in found}
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in stats.items()}
