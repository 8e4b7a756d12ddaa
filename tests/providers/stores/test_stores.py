"""What is listed of a store that is whole."""

import json
import time
from pathlib import Path

import pytest

from avatar_actors import StoredSession
from avatar_actors.providers.stores.store import SessionListing, SessionSearch
from tests.providers.stores.stores import BEGAN, CLAUDE, CODEX, EMBEDDED, GEMINI, Kind


def test_a_session_has_its_title_directory_and_times(kind: Kind, home: Path, work: Path) -> None:
    path = kind.keep(home, work, "one", "Tell me  about\nperiwinkles", age=1.5)
    listing = kind.read(home, work)
    expected = StoredSession(
        session_id="one",
        title="Tell me about periwinkles",
        working_dir=str(work),
        updated_at="2027-01-15T07:59:58.500Z",
        created_at=BEGAN,
        file=str(path),
    )
    assert listing == SessionListing((expected,))


def test_the_last_used_comes_first_and_the_limit_cuts_the_oldest(
    kind: Kind, home: Path, work: Path
) -> None:
    for number in (3, 1, 2, 0):
        kind.keep(home, work, f"s{number}", "hello", age=number)
    assert [each.session_id for each in kind.read(home, work).sessions] == ["s0", "s1", "s2", "s3"]
    assert [each.session_id for each in kind.read(home, work, limit=2).sessions] == ["s0", "s1"]


def test_other_directories_are_left_out_unless_all_are_wanted(
    kind: Kind, home: Path, work: Path, tmp_path: Path
) -> None:
    kind.keep(home, work, "mine", "hello")
    # As a folder's name in Claude's store both are the same.
    kind.keep(home, tmp_path / "work-er", "other", "hello", age=1)
    kind.keep(home, tmp_path / "work" / "er", "another", "hello", age=2)
    assert [each.session_id for each in kind.read(home, work).sessions] == ["mine"]
    er = [each.session_id for each in kind.read(home, tmp_path / "work-er").sessions]
    assert er == ["other"]
    everything = [each.session_id for each in kind.read(home, None).sessions]
    assert everything == ["mine", "other", "another"]


def test_a_directory_is_the_same_through_a_symbolic_link(
    kind: Kind, home: Path, work: Path, tmp_path: Path
) -> None:
    kind.keep(home, work, "one", "hello")
    (tmp_path / "link").symlink_to(work)
    assert [each.session_id for each in kind.read(home, tmp_path / "link").sessions] == ["one"]


def test_a_session_in_which_nothing_was_said_is_none(kind: Kind, home: Path, work: Path) -> None:
    silent = kind.lines(work, "one", "hello")[:1]
    kind.put(home, work, "one", json.dumps(silent[0]).encode())
    assert kind.read(home, work) == SessionListing()


def test_where_nothing_was_ever_stored_there_is_nothing_to_tell(
    kind: Kind, home: Path, work: Path
) -> None:
    assert kind.read(home, work) == SessionListing()


def test_the_title_is_what_the_person_said_not_what_was_sent_along(
    kind: Kind, home: Path, work: Path
) -> None:
    sent = '<context>\n{"stdin":"+++ a\\n<\\/b>"}\n</context>\n\nreview this'
    kind.keep(home, work, "one", sent)
    assert [each.title for each in kind.read(home, work).sessions] == ["review this"]


def test_a_long_title_is_cut(kind: Kind, home: Path, work: Path) -> None:
    kind.keep(home, work, "one", "word " * 10_000)
    [session] = kind.read(home, work).sessions
    assert len(session.title) == 100
    assert session.title.endswith("…")


@pytest.mark.parametrize(
    ("kind", "variable", "kept"),
    [
        (CLAUDE, "CLAUDE_CONFIG_DIR", ".claude"),
        (CODEX, "CODEX_HOME", ".codex"),
        (GEMINI, "GEMINI_CLI_HOME", ""),
        (EMBEDDED, "AVATAR_EMBEDDED_HOME", ".local/state/avatar-actors/embedded"),
        (EMBEDDED, "XDG_STATE_HOME", ".local/state"),
    ],
)
def test_an_agents_own_variable_says_where_its_store_is(
    kind: Kind, variable: str, kept: str, home: Path, work: Path
) -> None:
    kind.keep(home, work, "one", "hello")
    env = {"HOME": str(home / "elsewhere"), variable: str(home / kept)}
    [session] = kind.store(SessionSearch(env=env, working_dir=work)).sessions
    assert session.session_id == "one"


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ({"type": "custom-title", "customTitle": "Mine"}, "Mine"),
        ({"type": "ai-title", "aiTitle": "The model's"}, "The model's"),
        ({"type": "summary", "summary": "What it was about"}, "What it was about"),
    ],
)
def test_claude_titles_come_before_the_first_prompt(
    home: Path, work: Path, line: dict[str, str], title: str
) -> None:
    data = [json.dumps(each) for each in (*CLAUDE.lines(work, "one", "hello"), line)]
    # Between the title and the beginning there is more than is read.
    data.insert(-1, json.dumps({"type": "assistant", "text": "x" * 3_000_000}))
    CLAUDE.put(home, work, "one", "\n".join(data).encode())
    assert [each.title for each in CLAUDE.read(home, work).sessions] == [title]


def test_claude_cuts_the_names_of_long_directories(home: Path, tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 150) / ("e" * 150)
    CLAUDE.keep(home, deep, "one", "hello")
    CLAUDE.keep(home, deep / "below", "two", "hello")
    assert [each.session_id for each in CLAUDE.read(home, deep).sessions] == ["one"]


def test_gemini_summaries_are_titles(home: Path, work: Path) -> None:
    lines = [*GEMINI.lines(work, "one", "hello"), {"$set": {"summary": "About flowers"}}]
    GEMINI.put(home, work, "one", "\n".join(map(json.dumps, lines)).encode())
    assert [each.title for each in GEMINI.read(home, work).sessions] == ["About flowers"]


def test_sessions_of_sub_agents_are_none_of_their_own(home: Path, work: Path) -> None:
    CLAUDE.keep(home, work, "agent-1", "hello")
    meta, *rest = GEMINI.lines(work, "one", "hello")
    lines = [{**meta, "kind": "subagent"}, *rest]
    GEMINI.put(home, work, "one", "\n".join(map(json.dumps, lines)).encode())
    meta, *rest = CODEX.lines(work, "one", "hello")
    meta["payload"]["source"] = {"subagent": "review"}
    CODEX.put(home, work, "one", "\n".join(map(json.dumps, [meta, *rest])).encode())
    for kind in (CLAUDE, GEMINI, CODEX):
        assert kind.read(home, work) == SessionListing()


def test_a_big_store_is_read_at_its_ends_only(kind: Kind, home: Path, work: Path) -> None:
    for number in range(50):
        path = kind.keep(home, work, f"s{number}", "hello", age=number)
        with path.open("r+b") as file:
            file.truncate(2**30)
    began = time.process_time()
    assert len(kind.read(home, work).sessions) == 50
    # 50 GB in all; measured 0.05 s, and up to 0.4 s for Claude's, whose ends are read too.
    assert time.process_time() - began < 5
