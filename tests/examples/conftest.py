"""What the tests of the examples are given."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.examples.programs import Signpost


@pytest.fixture(name="signpost")
def put_up_a_signpost(tmp_path: Path) -> Generator[Signpost]:
    signpost = Signpost(tmp_path / "signpost")
    yield signpost
    signpost.close()
