"""The page of the real agents: no blank cell, and it says what the last whole run found."""

from pathlib import Path

import msgspec

from tests.real_agents.ability import Ability, Cell, Found
from tests.real_agents.install.agents import AGENTS
from tests.real_agents.install.cache import LOCK
from tests.real_agents.matrix import Matrix, differences, page

ROOT = Path(__file__).parents[2]


def matrix(found: Found, note: str = "", version: str = "1.0") -> Matrix:
    cells = [Cell(agent="a", ability=each, found=Found.WORKS) for each in Ability]
    cells[1] = Cell(
        agent="a", ability=Ability.TEXT, found=found, note=note, seconds={"start": 1.234}
    )
    return Matrix(versions={"a": version}, cells=tuple(cells), network="loopback only")


def recorded() -> Matrix:
    return msgspec.json.decode((ROOT / "tests/real_agents/matrix.json").read_bytes(), type=Matrix)


def test_a_cell_shows_what_was_found_and_its_note() -> None:
    shown = page(matrix(Found.DIFFERS, "in one piece"))
    assert "| text, streamed | ◐ [1] |" in shown
    assert "1. *text, streamed*: in one piece" in shown
    assert "| start-up, s | 1.23 |" in shown


def test_what_no_test_filled_is_not_blank_and_the_matrix_not_whole() -> None:
    empty = Matrix(versions={"a": "1.0"}, cells=(), network="loopback only")
    assert page(empty).count("| not tested |") == len(Ability)
    assert not empty.is_whole
    assert not matrix(Found.FAILED).is_whole
    assert matrix(Found.NOT_OFFERED).is_whole


def test_differences_name_versions_and_cells() -> None:
    old, new = matrix(Found.WORKS), matrix(Found.DIFFERS, "late", version="1.1")
    assert differences(old, old) == []
    assert differences(old, new) == ["a: 1.0 → 1.1", "a, text, streamed: works → differs (late)"]


def test_the_page_is_the_recorded_run_of_all_pinned_agents() -> None:
    found = recorded()
    assert found.is_whole
    assert list(found.versions) == list(AGENTS)
    lock = LOCK.read_text("utf-8")
    assert all(f'"version": "{version}"' in lock for version in found.versions.values())
    assert (ROOT / "docs/agents.md").read_text("utf-8") == page(found)
