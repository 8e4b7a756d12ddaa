from collections.abc import Generator
from pathlib import Path

import pytest

from tests.processes.census import offspring, open_fds
from tests.runtime.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Generator[Home]:
    """Where avatars live; neither a process nor a descriptor may be left of them."""
    home = Home(tmp_path)
    children, fds = offspring(), open_fds()
    yield home
    assert offspring() <= children
    assert open_fds() <= fds
