"""Agents on the PATH of these tests: small programs that tell a version."""

import os
from pathlib import Path

from tests.providers.test_lookup import program


def path_with(home: Path, **says: str) -> dict[str, str]:
    """A PATH with these programs, each saying its words; a dash in a name is an underscore here."""
    folder = home / "bin"
    folder.mkdir(exist_ok=True)
    for name, words in says.items():
        program(folder, name.replace("_", "-"), f'echo "{words}"')
    return {"PATH": f"{folder}{os.pathsep}{os.defpath}"}


def log_in(home: Path, file: str = ".claude/.credentials.json") -> None:
    """A login as the agent keeps it."""
    path = home / file
    path.parent.mkdir(exist_ok=True)
    path.write_text('{"tokens": "a-secret-login"}')
