"""Which tests are for `make conformance` alone: slow ones, and the same again in another form."""

import os

import pytest

IS_THOROUGH = "THOROUGH" in os.environ
for_conformance = pytest.mark.skipif(not IS_THOROUGH, reason="`make conformance` runs it")
