"""What was said in a stored session, as its own agent wrote it."""

import json
from pathlib import Path

import pytest

from avatar_actors import StoredMessage, StoredSession, acp_provider, list_sessions, read_session
from avatar_actors.providers.registry import provider_named
from avatar_actors.providers.stores.store import LONGEST, Transcript, last_said
from tests.providers.stores.stores import BEGAN, CLAUDE, GEMINI, Kind


@pytest.fixture
def transcript(kind: Kind) -> Transcript:
    found = provider_named(kind.name.partition("-")[0]).transcript
    assert found is not None
    return found


def said(messages: tuple[StoredMessage, ...]) -> list[tuple[str, str]]:
    return [(each.role, each.text) for each in messages]


def test_prompt_and_answer_are_read(
    kind: Kind, transcript: Transcript, home: Path, work: Path
) -> None:
    path = kind.keep(home, work, "one", "about periwinkles")
    found = last_said(path, transcript, 10)
    assert said(found.messages) == [("user", "about periwinkles"), ("assistant", "an answer")]
    assert found.diagnostics == ()


def test_the_last_count_where_there_are_more(
    kind: Kind, transcript: Transcript, home: Path, work: Path
) -> None:
    path = kind.keep(home, work, "one", "about periwinkles")
    found = last_said(path, transcript, 1)
    assert said(found.messages) == [("assistant", "an answer")]
    assert found.diagnostics == ("1 earlier messages are left out",)


def test_of_a_huge_file_the_end_is_read(
    kind: Kind, transcript: Transcript, home: Path, work: Path
) -> None:
    lines = [json.dumps(each) for each in kind.lines(work, "one", "about periwinkles")]
    data = "\n".join(["{" + "x" * LONGEST, *lines]).encode()
    found = last_said(kind.put(home, work, "one", data), transcript, 10)
    assert said(found.messages)[-1] == ("assistant", "an answer")
    assert found.diagnostics[0].endswith("only the last 16 MB were read")


def test_a_file_that_is_gone_or_junk_is_a_remark_or_nothing(
    kind: Kind, transcript: Transcript, home: Path, work: Path
) -> None:
    path = kind.put(home, work, "one", b'junk\n{"type": 7}\n[]\n{"payload": []}')
    assert last_said(path, transcript, 10).messages == ()
    path.unlink()
    [remark] = last_said(path, transcript, 10).diagnostics
    assert "No such file" in remark


def test_claude_shows_neither_sub_agents_nor_commands_nor_tools(home: Path, work: Path) -> None:
    lines = CLAUDE.lines(work, "one", "about periwinkles")
    answer = {"role": "assistant", "content": [{"type": "text", "text": "by a sub-agent"}]}
    result = {"role": "user", "content": [{"type": "tool_result", "content": "x"}]}
    tool = {"role": "assistant", "content": [{"type": "tool_use", "name": "Read"}]}
    lines += [
        {"type": "assistant", "isSidechain": True, "message": answer},
        {"type": "user", "message": result},
        {"type": "assistant", "message": tool},
    ]
    CLAUDE.put(home, work, "one", "\n".join(map(json.dumps, lines)).encode())
    [session] = list_sessions("claude", work, {"HOME": str(home), "CLAUDE_CONFIG_DIR": ""}).sessions
    found = read_session("claude", session).messages
    assert found == (
        StoredMessage("user", "about periwinkles", BEGAN),
        StoredMessage("assistant", "an answer"),
    )


def test_gemini_replaces_messages_and_writes_them_again(home: Path, work: Path) -> None:
    first = GEMINI.lines(work, "one", "about periwinkles")
    kept = {"id": "1", "type": "user", "content": "after a rewind"}
    lines = [
        *first,
        {"$set": {"messages": [kept]}},
        {"id": "3", "type": "gemini", "content": ""},
        {"id": "3", "type": "gemini", "content": [{"text": "and its answer"}]},
    ]
    GEMINI.put(home, work, "one", "\n".join(map(json.dumps, lines)).encode())
    [session] = list_sessions("gemini", work, {"HOME": str(home), "GEMINI_CLI_HOME": ""}).sessions
    found = said(read_session("gemini", session).messages)
    assert found == [("user", "after a rewind"), ("assistant", "and its answer")]


def test_a_provider_without_a_known_store_says_so() -> None:
    found = read_session(acp_provider("parrot", ("parrot",)), StoredSession("one"))
    assert found.messages == ()
    assert found.diagnostics == ("what was said is not to be read from parrot's store",)
