"""What holds for all tests: scripts in prompts, the signals of a terminal, the same examples.

`SEARCH=1 make test` looks for examples that nobody has seen; what it finds becomes an `@example`.
"""

import os
import signal

import hypothesis
import pytest

from tests.thorough import IS_THOROUGH

# The embedded agent plays the scripts that the tests put into their prompts.
os.environ["AVATAR_EMBEDDED_SCRIPTS"] = "1"

# A deadline would judge the machine, and new examples in each run would fail whoever comes along.
hypothesis.settings.register_profile(
    "repeatable", deadline=None, derandomize="SEARCH" not in os.environ
)
hypothesis.settings.load_profile("repeatable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is for `make conformance` is skipped elsewhere; there nothing else is selected."""
    for item in items:
        if "conformance" in item.keywords and not IS_THOROUGH:
            item.add_marker(pytest.mark.skip(reason="`make conformance` runs it"))


@pytest.hookimpl(tryfirst=True)
def pytest_configure() -> None:
    """A job in the background starts deaf to Ctrl-C, and so would all that it starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
