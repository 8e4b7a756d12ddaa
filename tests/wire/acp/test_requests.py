from typing import Any

import pytest

from avatar_actors.model.events import DiagnosticEvent, ToolEvent
from avatar_actors.model.values import Outcome, Permit, ToolStatus
from avatar_actors.wire.acp.incoming import MOST_FILES
from avatar_actors.wire.acp.permissions import MOST_PENDING
from avatar_actors.wire.acp.profile import AcpProfile, FilesOffered
from avatar_actors.wire.acp.wire import AcpWire
from avatar_actors.wire.commands import AnswerFile, AnswerPermission, Cancel, Close, Prompt
from avatar_actors.wire.facts import FileWanted, PermissionAsked, RequestWithdrawn, TurnOver
from tests.wire.acp.digest import words
from tests.wire.acp.replay import SESSION, in_turn, line_of, opened, reply, request, sent, update

OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "server", "name": "All", "kind": "allow_always"},
    {"optionId": "proceed_always_tool", "name": "This", "kind": "allow_always"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
    {"optionId": "odd", "name": "Odd", "kind": "of_a_later_version"},
]
CANCELLED = {"outcome": {"outcome": "cancelled"}}
READS_AND_WRITES = AcpProfile(files=FilesOffered.READ_AND_WRITE)


def question(rpc_id: object, tool_id: str = "t", options: object = OPTIONS) -> bytes:
    tool = {"toolCallId": tool_id, "title": "rm x", "kind": "execute", "status": "pending"}
    params = {"sessionId": SESSION, "toolCall": tool, "options": options}
    return request(rpc_id, "session/request_permission", params)


def asked_by(wire: AcpWire, line: bytes) -> PermissionAsked:
    [fact] = wire.receive(line)
    assert isinstance(fact, PermissionAsked)
    return fact


def answer(wire: AcpWire, asked: PermissionAsked, permit: Permit, option_id: str = "") -> Any:
    """What the agent is told."""
    command = AnswerPermission(request_id=asked.request_id, permit=permit, option_id=option_id)
    wire.command(command)
    [message] = sent(wire)
    return message["result"]["outcome"].get("optionId", message["result"]["outcome"]["outcome"])


def test_question_carries_the_tool_that_was_never_announced() -> None:
    asked = asked_by(in_turn(), question(0))
    tool = asked.tool
    assert (tool.tool_id, tool.status, tool.kind) == ("t", ToolStatus.APPROVAL, "execute")
    assert (tool.title, tool.parameters) == ("rm x", {"command": "rm x"})
    assert [option.option_id for option in asked.options] == [
        *("yes", "server", "proceed_always_tool", "no"),
    ]


@pytest.mark.parametrize("rpc_id", [0, 7, "df92f59b", "7"])
def test_answer_has_the_id_of_the_question(rpc_id: object) -> None:
    wire = in_turn()
    asked = asked_by(wire, question(rpc_id))
    wire.command(AnswerPermission(request_id=asked.request_id, permit=Permit.ALLOW_ONCE))
    [message] = sent(wire)
    assert message["id"] == rpc_id
    assert type(message["id"]) is type(rpc_id)


def test_one_and_the_string_one_are_two_questions() -> None:
    wire = in_turn()
    first, second = asked_by(wire, question(1)), asked_by(wire, question("1", "u"))
    assert first.request_id != second.request_id


@pytest.mark.parametrize(
    ("permit", "option_id", "chosen"),
    [
        (Permit.ALLOW_ONCE, "", "yes"),
        (Permit.ALLOW_ALWAYS, "", "proceed_always_tool"),
        (Permit.ALLOW_ALWAYS, "server", "server"),
        (Permit.REJECT_ONCE, "", "no"),
        (Permit.REJECT_ALWAYS, "", "no"),
        (Permit.CANCELLED, "", "cancelled"),
        (Permit.ALLOW_ONCE, "unheard of", "yes"),
        # An id never turns a no into a yes.
        (Permit.REJECT_ONCE, "yes", "no"),
    ],
)
def test_option_is_chosen_by_id_or_kind(permit: Permit, option_id: str, chosen: str) -> None:
    wire = in_turn()
    assert answer(wire, asked_by(wire, question(0)), permit, option_id) == chosen


def test_allowing_once_never_becomes_allowing_always() -> None:
    wire = in_turn()
    asked = asked_by(wire, question(0, options=OPTIONS[1:3]))
    assert answer(wire, asked, Permit.ALLOW_ONCE) == "cancelled"


def test_allowed_tool_is_started_and_denied_one_cancelled() -> None:
    wire = in_turn()
    yes, no = asked_by(wire, question(0, "a")), asked_by(wire, question(1, "b"))
    told = wire.command(AnswerPermission(request_id=yes.request_id, permit=Permit.ALLOW_ONCE))
    denial = AnswerPermission(request_id=no.request_id, permit=Permit.REJECT_ONCE, message="never")
    told += wire.command(denial)
    assert words(told) == ["execute started: rm x", "execute cancelled error 'never'"]
    # What codex tells of it afterwards is no news.
    assert wire.receive(update("tool_call_update", toolCallId="b", status="failed")) == []


def test_answer_to_no_question_is_left_alone() -> None:
    wire = in_turn()
    assert wire.command(AnswerPermission(request_id="x", permit=Permit.ALLOW_ONCE)) == []
    asked = asked_by(wire, question(0))
    answer(wire, asked, Permit.ALLOW_ONCE)
    wire.command(AnswerPermission(request_id=asked.request_id, permit=Permit.REJECT_ONCE))
    assert sent(wire) == []


def test_cancel_answers_the_questions_by_itself() -> None:
    wire = in_turn()
    first, second = asked_by(wire, question(0)), asked_by(wire, question("b", "u"))
    withdrawn = wire.command(Cancel(1))
    assert withdrawn == [
        RequestWithdrawn(first.request_id),
        RequestWithdrawn(second.request_id),
    ]
    cancel, *answers = sent(wire)
    assert cancel["method"] == "session/cancel"
    assert [(each["id"], each["result"]) for each in answers] == [(0, CANCELLED), ("b", CANCELLED)]
    wire.command(AnswerPermission(request_id=first.request_id, permit=Permit.ALLOW_ONCE))
    assert sent(wire) == []


@pytest.mark.parametrize("wire", [opened(), in_turn()])
def test_question_that_no_turn_waits_for_is_answered_cancelled(wire: AcpWire) -> None:
    wire.command(Cancel(1))
    sent(wire)
    [fact] = wire.receive(question(5))
    assert isinstance(fact, DiagnosticEvent)
    [message] = sent(wire)
    assert message["result"] == CANCELLED


def test_question_of_an_earlier_turn_is_answered_cancelled() -> None:
    wire = in_turn()
    wire.receive(update("tool_call", toolCallId="old", title="x", status="in_progress"))
    wire.receive(reply(2, {"stopReason": "end_turn"}))
    wire.command(Prompt(2, "next"))
    sent(wire)
    assert not [f for f in wire.receive(question(5, "old")) if isinstance(f, PermissionAsked)]
    assert sent(wire)[0]["result"] == CANCELLED


def test_questions_end_with_their_turn() -> None:
    wire = in_turn()
    asked = asked_by(wire, question(0))
    facts = wire.receive(reply(2, {"stopReason": "end_turn"}))
    assert facts[0] == RequestWithdrawn(asked.request_id)
    assert isinstance(facts[-1], TurnOver)
    assert facts[-1].outcome is Outcome.COMPLETED


def test_agent_can_take_its_question_back() -> None:
    wire = in_turn()
    asked = asked_by(wire, question(3))
    back = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 3}}
    assert wire.receive(line_of(back)) == [RequestWithdrawn(asked.request_id)]
    assert wire.receive(line_of(back)) == []


def test_one_question_too_many_is_denied_at_once() -> None:
    wire = in_turn()
    for number in range(MOST_PENDING):
        asked_by(wire, question(number, f"t{number}"))
    facts = wire.receive(question(999, "more"))
    assert [type(fact) for fact in facts] == [DiagnosticEvent, ToolEvent]
    [message] = sent(wire)
    assert message["id"] == 999
    assert message["result"]["outcome"]["optionId"] == "no"


@pytest.mark.parametrize("params", [None, {}, {"sessionId": SESSION, "toolCall": 1, "options": []}])
def test_malformed_question_is_refused(params: object) -> None:
    wire = in_turn()
    [fact] = wire.receive(request(0, "session/request_permission", params))
    assert isinstance(fact, DiagnosticEvent)
    assert sent(wire)[0]["error"]["code"] == -32602


@pytest.mark.parametrize(
    "method",
    ["fs/read_text_file", "terminal/create", "mcp/connect", "_x/y", "what"],
)
def test_request_that_was_not_offered_is_not_found(method: str) -> None:
    wire = in_turn()
    [fact] = wire.receive(request("r", method, {}))
    assert isinstance(fact, DiagnosticEvent)
    [message] = sent(wire)
    assert (message["id"], message["error"]["code"]) == ("r", -32601)


def test_files_are_read_and_written_by_the_host() -> None:
    wire = in_turn(READS_AND_WRITES)
    params = {"sessionId": SESSION, "path": "/sandbox/a", "line": 3, "limit": 2}
    [read] = wire.receive(request(1, "fs/read_text_file", params))
    assert read == FileWanted(request_id="file-1", path="/sandbox/a", first_line=3, max_lines=2)
    params = {"sessionId": SESSION, "path": "/sandbox/b", "content": "text"}
    [write] = wire.receive(request(2, "fs/write_text_file", params))
    assert write == FileWanted(request_id="file-2", path="/sandbox/b", text="text")
    wire.command(AnswerFile(request_id="file-2"))
    wire.command(AnswerFile(request_id="file-1", text="c\nd\n"))
    assert [(each["id"], each["result"]) for each in sent(wire)] == [
        (2, {}),
        (1, {"content": "c\nd\n"}),
    ]


def test_missing_file_is_a_resource_not_found() -> None:
    wire = in_turn(READS_AND_WRITES)
    wire.receive(request(1, "fs/read_text_file", {"sessionId": SESSION, "path": "/sandbox/a"}))
    wire.command(AnswerFile(request_id="file-1", error="no such file"))
    wire.command(AnswerFile(request_id="file-1", error="again"))
    [message] = sent(wire)
    assert message["error"] == {"code": -32002, "message": "no such file"}


def test_file_may_be_answered_after_the_turn_but_not_after_the_goodbye() -> None:
    wire = in_turn(READS_AND_WRITES)
    read = {"sessionId": SESSION, "path": "/sandbox/a"}
    wire.receive(request(1, "fs/read_text_file", read) + request(2, "fs/read_text_file", read))
    wire.receive(reply(2, {"stopReason": "end_turn"}))
    wire.command(AnswerFile(request_id="file-1", text=""))
    assert len(sent(wire)) == 1
    wire.command(Close())
    wire.command(AnswerFile(request_id="file-2", text=""))
    assert sent(wire) == []


def test_files_that_wait_are_bounded() -> None:
    wire = in_turn(READS_AND_WRITES)
    read = {"sessionId": SESSION, "path": "/sandbox/a"}
    facts = [
        fact
        for number in range(MOST_FILES + 1)
        for fact in wire.receive(request(number, "fs/read_text_file", read))
    ]
    assert [type(fact) for fact in facts] == [FileWanted] * MOST_FILES + [DiagnosticEvent]
    assert sent(wire)[0]["error"]["code"] == -32603


def test_a_line_below_the_first_is_the_first() -> None:
    wire = in_turn(READS_AND_WRITES)
    params = {"sessionId": SESSION, "path": "/sandbox/a", "line": -5}
    [read] = wire.receive(request(1, "fs/read_text_file", params))
    assert read == FileWanted(request_id="file-1", path="/sandbox/a", first_line=1)
