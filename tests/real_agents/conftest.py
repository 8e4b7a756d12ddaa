"""Which agents take part, and what is found of each."""

import os
from collections.abc import Callable, Generator
from pathlib import Path

import msgspec
import pytest

from tests.real_agents.ability import Ability, Cell, Found
from tests.real_agents.agents import AGENTS
from tests.real_agents.install.agents import installed_agents
from tests.real_agents.subject import Agent

# The file for the cells of the matrix, which `make test-agents` names: `make test` runs no agent.
MATRIX = "AVATAR_AGENTS_MATRIX"
FOLDER = "AVATAR_AGENTS_FOLDER"
CELL = "cell"

if MATRIX not in os.environ:
    collect_ignore_glob = ["suite/*"]


def agents() -> list[Agent]:
    named = os.environ.get(FOLDER)
    installed = installed_agents(Path(named) if named else None)
    return [
        Agent(**msgspec.structs.asdict(each), installed=installed[each.name])
        for each in AGENTS
        if each.name in installed
    ]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test of a `agent` is played by each."""
    if "agent" in metafunc.fixturenames:
        able = agents()
        metafunc.parametrize("agent", able, ids=[agent.name for agent in able])


Finds = Callable[..., None]


@pytest.fixture
def finds(
    request: pytest.FixtureRequest,
    agent: Agent,
    record_property: Callable[[str, object], None],
) -> Generator[Finds]:
    """Tell what was found of the ability that the test is marked with; by default that it works.

    `finds(Found.DIFFERS, "a note")`, and `finds(seconds={"start": 1.2})` for what was measured.
    """
    [mark] = request.node.iter_markers("ability")
    ability: Ability = mark.args[0]
    told: list[Cell] = []

    def tell(
        found: Found = Found.WORKS, note: str = "", seconds: dict[str, float] | None = None
    ) -> None:
        cell = Cell(
            agent=agent.name, ability=ability, found=found, note=note, seconds=seconds or {}
        )
        told.append(cell)

    yield tell
    cell = told[-1] if told else Cell(agent=agent.name, ability=ability, found=Found.WORKS)
    record_property(CELL, msgspec.json.encode(cell).decode())


_failed: set[str] = set()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Where the reports of all workers come together, the cells go into the file.

    The clean-up counts: a test after which something was left behind has not passed.
    """
    path = os.environ.get(MATRIX)
    if path is None or "PYTEST_XDIST_WORKER" in os.environ:
        return
    if not report.passed:
        _failed.add(report.nodeid)
    if report.when == "teardown":
        told = [str(value) for name, value in report.user_properties if name == CELL]
        cells = [msgspec.json.decode(each, type=Cell) for each in told]
        if report.nodeid in _failed:
            cells = [msgspec.structs.replace(each, found=Found.FAILED, note="") for each in cells]
        with Path(path).open("ab") as file:
            file.writelines(msgspec.json.encode(each) + b"\n" for each in cells)
