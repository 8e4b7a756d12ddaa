import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.conformance.remains import leaving_nothing
from tests.hosting.engines import PATIENCE, Engines


@pytest.fixture
def engines(tmp_path: Path) -> Generator[Engines]:
    """Makes engines for one test; afterwards nothing is left of them, no thread either."""
    made = Engines(tmp_path)
    with leaving_nothing():
        yield made
        made.stop_all()
    ours = [each for each in threading.enumerate() if "avatar-runtime" in each.name]
    for thread in ours:
        thread.join(PATIENCE)
    assert not [thread for thread in ours if thread.is_alive()]
