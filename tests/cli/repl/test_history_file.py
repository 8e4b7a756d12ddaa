import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from avatar_actors.cli.repl.history_file import KEPT, HistoryFile, history_path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "avatar-actors" / "history"


def remembered(path: Path) -> list[str]:
    """By the next REPL, the oldest first."""
    return [*HistoryFile(path).load_history_strings()][::-1]


def test_lines_are_remembered_with_their_line_breaks_and_signs(path: Path) -> None:
    history = HistoryFile(path)
    history.append_string("first")
    history.append_string("příliš\nžluťoučký 🐎")
    assert remembered(path) == ["first", "příliš\nžluťoučký 🐎"]


def test_the_file_is_for_its_owner_alone(path: Path) -> None:
    HistoryFile(path).append_string("first")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_line_that_begins_with_a_space_is_not_stored(path: Path) -> None:
    history = HistoryFile(path)
    history.append_string(" my password is hunter2")
    history.append_string("hello")
    assert remembered(path) == ["hello"]
    assert "hunter2" not in path.read_text()
    assert history.get_strings() == ["hello"]


def test_several_at_once_lose_nothing(path: Path) -> None:
    long = "x" * 100_000
    with ThreadPoolExecutor(8) as pool:
        entries = [f"{number} {long}" for number in range(64)]
        for entry in entries:
            pool.submit(HistoryFile(path).append_string, entry)
    assert sorted(remembered(path)) == sorted(entries)


def test_a_torn_line_costs_only_itself(path: Path) -> None:
    history = HistoryFile(path)
    history.append_string("before")
    with path.open("ab") as file:
        file.write(b'"torn')
    history.append_string("after")
    assert remembered(path) == ["before", "after"]


def test_what_is_no_entry_is_passed_over(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"a": 1}\n\xff\xfe\n"good"\n')
    assert remembered(path) == ["good"]


def test_a_long_history_is_cut_to_its_newest(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(str(n)) + "\n" for n in range(2 * KEPT + 1)))
    assert remembered(path) == remembered(path) == [str(n) for n in range(KEPT + 1, 2 * KEPT + 1)]


def test_a_file_that_cannot_be_used_is_told_and_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "avatar-actors").write_text("a file where the folder should be")
    history = HistoryFile(tmp_path / "avatar-actors" / "history")
    assert list(history.load_history_strings()) == []
    history.append_string("hello")
    assert history.get_strings() == ["hello"]
    assert "cannot keep the history" in history.problem


def test_its_place_is_the_folder_for_state() -> None:
    home = Path.home() / ".local/state/avatar-actors/history"
    assert history_path({"XDG_STATE_HOME": "/s"}) == Path("/s/avatar-actors/history")
    assert history_path({}) == history_path({"XDG_STATE_HOME": "relative"}) == home
