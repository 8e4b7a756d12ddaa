from collections.abc import Generator
from pathlib import Path

import pytest

from tests.processes.census import offspring, open_fds
from tests.runtime.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Generator[Home]:
    """A working directory and a place for stored sessions; nothing may be left of a test."""
    home = Home(tmp_path)
    children, fds = offspring(), open_fds()
    yield home
    assert home.files() == home.own_files
    assert offspring() <= children
    # A descriptor that was open before may be closed by now; none may be new.
    assert open_fds() <= fds
