"""The agents of the pages store their conversations in a folder of the tests, not of the user."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def conversations_are_stored_here(tmp_path: Path) -> Iterator[None]:
    """Agents inherit XDG_*; see launching.py."""
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(tmp_path)
    try:
        yield
    finally:
        del os.environ["XDG_STATE_HOME"]
        if before is not None:
            os.environ["XDG_STATE_HOME"] = before
