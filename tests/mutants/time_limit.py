"""A pytest plugin: a test that takes far longer than it did without a fault ends the run."""

import faulthandler
import os
from collections.abc import Generator
from pathlib import Path

import msgspec
import pytest

LIMITS: dict[str, float] = msgspec.json.decode(
    Path(os.environ["MUTANTS_LIMITS"]).read_bytes(), type=dict[str, float]
)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A fault that makes a test wait would cost the patience of the test: a minute and more."""
    faulthandler.dump_traceback_later(LIMITS[item.nodeid], exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
