"""What the wire says to Claude Code, against what the recorded host said."""

from typing import Any

import pytest

from avatar_actors.model.values import Attachment
from avatar_actors.wire.commands import AnswerFile, Call, Prompt, Steer
from avatar_actors.wire.facts import Answered, TurnOver
from tests.wire.claude.replay import RECORDINGS, Replay, line_of, opened, said, success
from tests.wire.digest import digest

NAMES = sorted(path.stem for path in RECORDINGS.glob("*.jsonl"))


@pytest.mark.parametrize("name", NAMES)
def test_what_the_wire_says_is_what_the_recorded_host_said(name: str) -> None:
    replay = Replay(name)
    for new, old in zip(replay.sent, replay.recorded, strict=True):
        assert set(new) - {"uuid"} == set(old) - {"uuid"}
        if old["type"] == "user":
            assert new["message"] == old["message"]
        elif old["type"] == "control_request":
            assert new["request"] == old["request"]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_that_the_agent_says_is_unrecognised(name: str) -> None:
    assert not [word for word in digest(Replay(name).facts) if word.startswith("UNRECOGNISED")]


@pytest.mark.parametrize(
    ("action", "arguments", "request_"),
    [
        ("set_model", {"model": "opus"}, {"subtype": "set_model", "model": "opus"}),
        ("set_mode", {"mode": "plan"}, {"subtype": "set_permission_mode", "mode": "plan"}),
        ("stop_task", {"task_id": "b1"}, {"subtype": "stop_task", "task_id": "b1"}),
        ("mcp_status", {}, {"subtype": "mcp_status"}),
        ("raw:get_usage", {}, {"subtype": "get_usage"}),
    ],
)
def test_a_call_is_a_control_request(
    action: str, arguments: dict[str, Any], request_: dict[str, Any]
) -> None:
    wire = opened()
    assert wire.command(Call(7, action, arguments)) == []
    [line] = said(wire)
    assert line["request"] == request_
    assert wire.receive(success(line["request_id"], {"a": 1}))[-1].__class__ is Answered


def test_the_answer_has_the_number_of_the_call() -> None:
    wire = opened()
    wire.command(Call(7, "raw:get_usage"))
    [line] = said(wire)
    assert wire.receive(success(line["request_id"], {"a": 1})) == [Answered(7, {"a": 1})]


def test_files_are_rewound_to_a_turn() -> None:
    wire = opened()
    wire.command(Prompt(3, "go"))
    [sent] = said(wire)
    wire.command(Call(7, "rewind_files", {"turn_id": 3, "dry_run": True}))
    [line] = said(wire)
    request = {"subtype": "rewind_files", "dry_run": True, "user_message_id": sent["uuid"]}
    assert line["request"] == request


def test_an_error_is_the_answer_too() -> None:
    wire = opened()
    wire.command(Call(7, "set_mode", {"mode": "bogus"}))
    [line] = said(wire)
    answer = {"subtype": "error", "request_id": line["request_id"], "error": "no such mode"}
    found = wire.receive(line_of({"type": "control_response", "response": answer}))
    assert found == [Answered(7, error="no such mode")]


@pytest.mark.parametrize("action", ["list_sessions", "fork", "raw:"])
def test_what_the_protocol_has_no_words_for_is_answered_at_once(action: str) -> None:
    wire = opened()
    [fact] = wire.command(Call(7, action))
    assert isinstance(fact, Answered)
    assert fact.error
    assert wire.data_to_send() == b""


def test_the_configuration_of_mcp_servers_is_left_out() -> None:
    wire = opened()
    wire.command(Call(7, "mcp_status"))
    [line] = said(wire)
    server = {"name": "db", "status": "connected", "config": {"env": {"TOKEN": "hush"}}}
    [fact] = wire.receive(success(line["request_id"], {"mcpServers": [server]}))
    assert fact == Answered(7, {"mcpServers": [{"name": "db", "status": "connected"}]})


def test_attachments_go_before_the_text() -> None:
    wire = opened()
    image = Attachment("image/png", b"\x89PNG")
    page = Attachment("application/pdf", b"%PDF", "a.pdf")
    note = Attachment("text/markdown", b"# hi", "a.md")
    wire.command(Prompt(1, "look", (image, page, note)))
    [line] = said(wire)
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}
    first, second, third, last = line["message"]["content"]
    assert first == {"type": "image", "source": source}
    assert (second["type"], second["source"]["media_type"]) == ("document", "application/pdf")
    assert third == {"type": "text", "text": '<file name="a.md">\n# hi\n</file>'}
    assert last == {"type": "text", "text": "look"}


def test_a_sound_is_rejected_and_nothing_is_sent() -> None:
    wire = opened()
    [fact] = wire.command(Prompt(1, "listen", (Attachment("audio/wav", b"RIFF"),)))
    assert isinstance(fact, TurnOver)
    assert fact.outcome.value == "rejected"
    assert "'audio/wav'" in fact.error
    assert wire.data_to_send() == b""
    assert wire.command(Prompt(2, "then not")) == []


@pytest.mark.parametrize("text", ["a\nb\r\n", "a\u2028b\u2029c", "half \ud83d", "\x00 \x1f", ""])
def test_any_text_is_one_line(text: str) -> None:
    wire = opened()
    wire.command(Prompt(1, text))
    data = wire.data_to_send()
    assert data.count(b"\n") == 1
    assert len(data.decode("utf-8").splitlines()) == 1
    wire = opened()
    wire.command(Prompt(1, text))
    [line] = said(wire)
    assert line["message"]["content"] == text


def test_every_message_has_an_id_of_its_own_in_the_form_of_a_uuid() -> None:
    wire = opened()
    wire.command(Prompt(1, "a"))
    wire.command(Steer(1, "b"))
    ids = [line["uuid"] for line in said(wire)]
    assert len(set(ids)) == 2
    assert all([len(part) for part in one.split("-")] == [8, 4, 4, 4, 12] for one in ids)


def test_claude_wants_no_file_from_us() -> None:
    assert "by itself" in repr(opened().command(AnswerFile(request_id="1")))


def test_a_prompt_that_is_sent_again_is_another_message_to_the_agent() -> None:
    """2.1.325 passes over a message whose id it knows."""
    wire = opened()
    ids: list[str] = []
    for turn_id in (1, 1, 2, 1):
        wire.command(Prompt(turn_id, "x"))
        [message] = said(wire)
        ids.append(message["uuid"])
        wire.receive(line_of({"type": "result", "is_error": True, "api_error_status": 429}))
    assert len(set(ids[:3])) == 3
    assert ids[3] == ids[0], "ids follow from the turn, so that rewind_files finds its message"
