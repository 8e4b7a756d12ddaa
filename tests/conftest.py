"""What holds for all tests: scripts in prompts, the signals of a terminal, the same examples.

`SEARCH=1 make test` looks for examples that nobody has seen; what it finds becomes an `@example`.
"""

import os
import signal

import hypothesis
import pytest
from hypothesis.internal.conjecture.providers import HypothesisProvider
from hypothesis.internal.constants_ast import Constants

from tests.thorough import IS_THOROUGH

# The embedded agent plays the scripts that the tests put into their prompts.
os.environ["AVATAR_EMBEDDED_SCRIPTS"] = "1"
IS_SEARCH = "SEARCH" in os.environ

# A deadline would judge the machine, and new examples in each run would fail whoever comes along.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=not IS_SEARCH)
hypothesis.settings.load_profile("repeatable")
if not IS_SEARCH:
    # It draws constants out of the modules that are loaded, also where examples are derandomized:
    # so they would change with what is collected (6.170; there is no setting for it).
    HypothesisProvider._local_constants = Constants()  # type: ignore[assignment]


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
