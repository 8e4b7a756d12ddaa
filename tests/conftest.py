"""What holds for all tests: scripts in prompts, the signals of a terminal, the same examples.

`SEARCH=1 make test` looks for examples that nobody has seen; what it finds becomes an `@example`.
"""

import gc
import os
import signal
from typing import Any

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


# How many tests were left to `make conformance`.
LEFT_OUT = pytest.StashKey[int]()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What is for `make conformance` is deselected elsewhere; there nothing else is selected."""
    left_out = [] if IS_THOROUGH else [each for each in items if is_for_conformance(each)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [each for each in items if not is_for_conformance(each)]
    config.stash[LEFT_OUT] = len(left_out)


def is_for_conformance(item: pytest.Item) -> bool:
    return item.get_closest_marker("conformance") is not None


def pytest_collection_finish() -> None:
    """What was collected stays to the end: without it a look for garbage is forty times cheaper."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of xdist tells its count to the process that prints the summary."""
    output: dict[str, int] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Every worker collects all tests, so the counts of all are the same."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """One line says what was left out, also where workers did the collecting."""
    if count := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(f"{count} deselected: `make conformance` runs them")


@pytest.hookimpl(tryfirst=True)
def pytest_configure() -> None:
    """A job in the background starts deaf to Ctrl-C, and so would all that it starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
