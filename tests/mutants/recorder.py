"""A pytest plugin: writes down which lines of the packages each test ran, and how long it took.

Each worker of pytest-xdist writes one file into the directory MUTANTS_RECORD.
"""

import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from coverage import Coverage

from tests.mutants.record import PACKAGES, TestRun

ROOT = Path(__file__).resolve().parents[2]


class Recorder:
    """Traces all threads without a pause: one that outlives its test is traced in the next."""

    def __init__(self) -> None:
        self._runs: dict[str, TestRun] = {}
        self._unfit: set[str] = set()
        self._coverage = Coverage(data_file=None, source_pkgs=list(PACKAGES), config_file=False)
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Whatever runs meanwhile, in any thread, is this test's."""
        self._take_lines()
        begin = time.perf_counter()
        try:
            return (yield)
        finally:
            seconds = time.perf_counter() - begin
            self._runs[item.nodeid] = TestRun(seconds=seconds, lines=self._take_lines())

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that fails without a fault, or is skipped, finds none."""
        if not report.passed:
            self._unfit.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write it all down."""
        for name in self._unfit:
            self._runs.pop(name, None)
        file = Path(os.environ["MUTANTS_RECORD"]) / f"{os.getpid()}.json"
        file.write_bytes(msgspec.json.encode(self._runs))

    def _take_lines(self) -> dict[str, list[int]]:
        # Coverage's own contexts go through a database, which does not survive tests that fork.
        collector = cast("Any", self._coverage)._collector
        taken: dict[str, list[int]] = {}
        for path, lines in dict(collector.data).items():
            if lines:
                taken[str(Path(path).relative_to(ROOT))] = sorted(lines)
                lines.clear()
        return taken


def pytest_configure(config: pytest.Config) -> None:
    """Under pytest-xdist the controller runs no test."""
    is_controller = config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    if not is_controller:
        config.pluginmanager.register(Recorder())
