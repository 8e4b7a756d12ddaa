"""Which tests are for `make conformance` alone: slow ones, and the same again in another form."""

import os
from collections.abc import Callable
from typing import TypeVar

import pytest

T = TypeVar("T", bound=Callable[..., object])

IS_THOROUGH = "THOROUGH" in os.environ
for_conformance = pytest.mark.conformance


def longer_in_conformance(test: T) -> T:
    """`make test` runs it, and `make conformance` runs it with more."""
    return for_conformance(test) if IS_THOROUGH else test
