"""Each test's agent has a place of its own."""

from pathlib import Path

import pytest

from tests.programs.embedded.driver import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)
