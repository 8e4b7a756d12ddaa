"""`avatar session` lists what was said, shows it, and goes on with it."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.programs import avatar
from tests.cli.terminal import avatar_in_terminal
from tests.providers.stores.stores import CLAUDE, CODEX, EMBEDDED

FIRST, SECOND = "11112222-aaaa", "11113333-bbbb"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Three sessions of this directory, and one of another."""
    CLAUDE.keep(tmp_path, tmp_path, FIRST, "about žluťoučký kůň \x1b[31m red", age=60)
    CODEX.keep(tmp_path, tmp_path, SECOND, "about lighthouses", age=3600)
    CODEX.keep(tmp_path, tmp_path / "other", "99999999-cccc", "elsewhere", age=7200)
    embedded = tmp_path / ".state/avatar-actors"
    embedded.mkdir(parents=True)
    EMBEDDED.keep(tmp_path, tmp_path, "44445555-dddd", "my name is Ada", age=10)
    (tmp_path / ".local/state/avatar-actors/embedded").rename(embedded / "embedded")
    return tmp_path


def listed(home: Path, *arguments: str) -> list[dict[str, Any]]:
    done = avatar(home, "session", "list", "--json", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_sessions_of_all_agents_are_listed_the_last_first(home: Path) -> None:
    done = avatar(home, "session", "list")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["ID", "WHEN", "PROVIDER", "TITLE"]
    assert [line.split()[0] for line in lines[1:]] == ["44445555", "11112222", "11113333"]
    assert lines[2].endswith("claude    about žluťoučký kůň red")
    assert "\x1b" not in done.stdout


def test_which_ones_is_the_askers_choice(home: Path) -> None:
    ids = [each["session_id"] for each in listed(home, "--all")]
    assert ids == ["44445555-dddd", FIRST, SECOND, "99999999-cccc"]
    assert [each["provider"] for each in listed(home, "-p", "codex")] == ["codex"]
    assert [each["session_id"] for each in listed(home, "--limit", "1")] == ["44445555-dddd"]
    (home / "other").mkdir()
    assert [each["title"] for each in listed(home, "-C", "other")] == ["elsewhere"]


def test_a_session_is_shown_by_the_beginning_of_its_id(home: Path) -> None:
    done = avatar(home, "session", "show", "11112")
    assert f"id:        {FIRST}\n" in done.stdout
    assert f"directory: {home}\n" in done.stdout
    assert done.stdout.endswith("user:\nabout žluťoučký kůň  red\n\nassistant:\nan answer\n")
    elsewhere = avatar(home, "session", "show", "9999", "--json")
    session, *messages = map(json.loads, elsewhere.stdout.splitlines())
    assert session["provider"] == "codex"
    assert [(each["role"], each["text"]) for each in messages] == [
        ("user", "elsewhere"),
        ("assistant", "an answer"),
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (("show", "11112222-abab"), 2, f"no session '11112222-abab'; did you mean {FIRST}?"),
        (("resume", "1111", "hi"), 2, "2 sessions start with '1111': "),
        (("list", "-p", "acp"), 1, "cannot read the sessions of acp"),
        (("list", "-c", "no-such"), 2, "no-such: cannot be read: No such file"),
    ],
)
def test_what_cannot_be_is_one_line(
    home: Path, arguments: tuple[str, ...], code: int, line: str
) -> None:
    done = avatar(home, "session", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    [told] = done.stderr.splitlines()
    assert line in told


def test_a_session_goes_on_and_a_copy_leaves_it_as_it_is(home: Path) -> None:
    resumed = avatar(home, "session", "resume", "4444", "what did I say?")
    assert (resumed.returncode, resumed.stderr) == (0, "")
    assert "Ada" in resumed.stdout
    forked = avatar(home, "session", "fork", "4444", "2+3")
    assert (forked.returncode, forked.stdout) == (0, "5\n")
    copy = forked.stderr.removeprefix("avatar: the copy is ").strip()
    assert "2+3" in avatar(home, "session", "show", copy).stdout
    assert "2+3" not in avatar(home, "session", "show", "4444").stdout


def test_a_short_id_is_resumed_and_an_unknown_one_is_a_usage_error(home: Path) -> None:
    resumed = avatar(home, "chat", "-p", "embedded", "--resume", "4444", "what did I say?")
    assert (resumed.returncode, resumed.stderr) == (0, "")
    assert "Ada" in resumed.stdout
    unknown = avatar(home, "chat", "-p", "embedded", "--resume", "deadbeef", "hi")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "Session not found" in unknown.stderr
    assert unknown.stderr.endswith("to see those that can be: avatar session list\n")


def test_only_a_session_of_our_own_is_deleted_and_only_after_a_yes(home: Path) -> None:
    done = avatar(home, "session", "delete", "4444")
    assert (done.returncode, "--yes" in done.stderr) == (2, True)
    foreign = avatar(home, "session", "delete", "--yes", "4444", "11112")
    assert (foreign.returncode, "claude keeps its sessions itself" in foreign.stderr) == (2, True)
    assert len(listed(home)) == 3
    deleted = avatar(home, "session", "delete", "--yes", "4444")
    assert (deleted.returncode, deleted.stdout) == (0, "deleted 1 session: my name is Ada\n")
    assert [each["session_id"] for each in listed(home)] == [FIRST, SECOND]


def test_old_sessions_of_our_own_are_pruned_in_all_directories(home: Path) -> None:
    now = time.time()
    folder = home / ".state/avatar-actors/embedded"
    for number in range(5):
        EMBEDDED.keep(home, home / "other", f"old-{number}", f"old {number}")
        path = folder / f"old-{number}.jsonl"
        (home / f".local/state/avatar-actors/embedded/old-{number}.jsonl").rename(path)
        os.utime(path, (now - number * 86400, now - number * 86400))
    which = avatar(home, "session", "prune")
    assert (which.returncode, "--older-than 30d" in which.stderr) == (2, True)
    # The session of Ada is the newest: its file is of the future.
    pruned = avatar(home, "session", "prune", "--older-than", "36h", "--keep", "4", "--yes")
    assert (pruned.returncode, pruned.stderr) == (0, "")
    assert pruned.stdout == "deleted 2 sessions\n"
    rest = avatar(home, "session", "prune", "--older-than", "36h", "--yes", "--json")
    assert [json.loads(line)["deleted"] for line in rest.stdout.splitlines()] == ["old-2"]
    assert {each["session_id"] for each in listed(home, "--all")} >= {FIRST, "old-0", "old-1"}
    nothing = avatar(home, "session", "prune", "--older-than", "36h", "--yes")
    assert nothing.stdout == "nothing to delete\n"


def test_a_person_is_asked_before_sessions_are_deleted(home: Path) -> None:
    with avatar_in_terminal(home, "session", "prune", "--keep", "0") as terminal:
        terminal.wait_for("Delete 1 session of embedded? [y/N]:")
        assert "my name is Ada" in terminal.text
        terminal.press("\r")
        assert terminal.wait() == 1
        assert "nothing was deleted" in terminal.text
    assert len(listed(home)) == 3
    with avatar_in_terminal(home, "session", "prune", "--keep", "0") as terminal:
        terminal.wait_for("Delete 1 session of embedded? [y/N]:")
        terminal.press("y\r")
        assert terminal.wait() == 0
    assert len(listed(home)) == 2


def test_at_a_terminal_titles_are_cut_and_narrow_ones_get_records(home: Path) -> None:
    with avatar_in_terminal(home, "session", "list", size=(50, 24)) as terminal:
        assert terminal.wait() == 0
        assert all(len(line) <= 50 for line in terminal.lines)
        assert terminal.says("about žluťoučký")
    with avatar_in_terminal(home, "session", "list", size=(30, 24)) as terminal:
        assert terminal.wait() == 0
        assert "  provider  claude" in terminal.lines


def test_where_there_are_none_it_says_so(tmp_path: Path) -> None:
    done = avatar(tmp_path, "session", "list")
    assert done.stdout == "no sessions for this directory; to see all: avatar session list --all\n"
