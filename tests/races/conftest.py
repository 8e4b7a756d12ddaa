from collections.abc import Generator

import pytest

from tests.conformance.remains import leaving_nothing


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Generator[None]:
    with leaving_nothing():
        yield
