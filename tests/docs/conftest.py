"""The agents of the pages run as a reader's would, but store their conversations in the tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def like_a_readers(tmp_path: Path) -> Iterator[None]:
    """Agents inherit XDG_* (see launching.py). A page that plays scripts switches them on."""
    before = os.environ.copy()
    os.environ["XDG_STATE_HOME"] = str(tmp_path)
    del os.environ["AVATAR_EMBEDDED_SCRIPTS"]
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
