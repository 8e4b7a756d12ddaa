"""Permission requests of Claude Code."""

from typing import Any

import pytest

from avatar_actors.model.events import DiagnosticEvent, ToolEvent
from avatar_actors.model.values import Permit, ToolStatus
from avatar_actors.wire.claude.wire import ClaudeWire
from avatar_actors.wire.commands import AnswerPermission, Cancel, Prompt
from avatar_actors.wire.facts import PermissionAsked, RequestWithdrawn
from tests.wire.claude.replay import Replay, line_of, opened, said, success

RULE = {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow"}
MODE = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
INPUT = {"command": "touch x", "description": "make x"}


def in_turn() -> ClaudeWire:
    wire = opened()
    wire.command(Prompt(1, "go"))
    wire.data_to_send()
    return wire


def ask(request_id: str = "r1", suggestions: list[Any] | None = None, **more: str) -> bytes:
    request = {
        **more,
        "subtype": "can_use_tool",
        "tool_name": "Bash",
        "input": INPUT,
        "tool_use_id": f"toolu_{request_id}",
        "permission_suggestions": suggestions or [],
    }
    return line_of({"type": "control_request", "request_id": request_id, "request": request})


def answered(wire: ClaudeWire, permit: Permit, **more: Any) -> dict[str, Any]:
    wire.command(AnswerPermission(request_id="r1", permit=permit, **more))
    [line] = said(wire)
    assert line["type"] == "control_response"
    assert (line["response"]["subtype"], line["response"]["request_id"]) == ("success", "r1")
    response: dict[str, Any] = line["response"]["response"]
    return response


def test_the_answers_are_the_recorded_ones() -> None:
    replay = Replay("s04_permission_stdio")
    pairs = [
        (new["response"]["response"], old["response"]["response"])
        for new, old in zip(replay.sent, replay.recorded, strict=True)
        if old["type"] == "control_response" and old["response"]["subtype"] == "success"
    ]
    ours, theirs = zip(*pairs, strict=True)
    assert ours[:3] == theirs[:3]
    assert [one["behavior"] for one in ours] == [*["allow"] * 2, "deny", "allow", *["deny"] * 4]


def test_a_request_shows_the_tool_and_what_can_be_answered() -> None:
    [fact] = in_turn().receive(ask(suggestions=[RULE]))
    assert isinstance(fact, PermissionAsked)
    assert (fact.tool.tool_name, fact.tool.kind, fact.tool.title) == ("Bash", "execute", "make x")
    assert (fact.tool.status, fact.tool.parameters) == (ToolStatus.APPROVAL, INPUT)
    kinds = [option.kind for option in fact.options]
    assert kinds == [Permit.ALLOW_ONCE, Permit.ALLOW_ALWAYS, Permit.REJECT_ONCE]


def test_always_is_offered_only_when_the_agent_suggests_it() -> None:
    [fact] = in_turn().receive(ask())
    assert isinstance(fact, PermissionAsked)
    assert Permit.ALLOW_ALWAYS not in [option.kind for option in fact.options]


def test_allowing_sends_the_input_back() -> None:
    wire = in_turn()
    wire.receive(ask())
    assert answered(wire, Permit.ALLOW_ONCE) == {"behavior": "allow", "updatedInput": INPUT}


def test_an_allowed_tool_goes_on() -> None:
    wire = in_turn()
    wire.receive(ask())
    [fact] = wire.command(AnswerPermission(request_id="r1", permit=Permit.ALLOW_ONCE))
    assert isinstance(fact, ToolEvent)
    assert (fact.tool_id, fact.status) == ("toolu_r1", ToolStatus.STARTED)


def test_changed_input_replaces_the_input() -> None:
    wire = in_turn()
    wire.receive(ask())
    response = answered(wire, Permit.ALLOW_ONCE, updated_input={"command": "true"})
    assert response["updatedInput"] == {"command": "true"}


def test_always_means_this_rule_in_this_session_only() -> None:
    wire = in_turn()
    wire.receive(ask(suggestions=[{**RULE, "destination": "localSettings"}, MODE]))
    response = answered(wire, Permit.ALLOW_ALWAYS)
    assert response["updatedPermissions"] == [{**RULE, "destination": "session"}]


def test_always_means_all_that_is_suggested_where_a_path_is_the_reason() -> None:
    wire = in_turn()
    wire.receive(ask(suggestions=[RULE, MODE], blocked_path="/sandbox/x"))
    response = answered(wire, Permit.ALLOW_ALWAYS)
    assert response["updatedPermissions"] == [{**RULE, "destination": "session"}, MODE]


def test_always_means_the_mode_where_no_rule_is_suggested() -> None:
    wire = in_turn()
    wire.receive(ask(suggestions=[MODE]))
    assert answered(wire, Permit.ALLOW_ALWAYS)["updatedPermissions"] == [MODE]


@pytest.mark.parametrize("permit", [Permit.REJECT_ONCE, Permit.REJECT_ALWAYS, Permit.CANCELLED])
def test_rejecting_gives_a_reason_and_does_not_end_the_turn(permit: Permit) -> None:
    wire = in_turn()
    wire.receive(ask())
    assert answered(wire, permit, message="no") == {"behavior": "deny", "message": "no"}


def test_an_answer_to_no_request_is_not_sent() -> None:
    wire = in_turn()
    [fact] = wire.command(AnswerPermission(request_id="r9", permit=Permit.ALLOW_ONCE))
    assert isinstance(fact, DiagnosticEvent)
    assert wire.data_to_send() == b""


def test_a_withdrawn_request_takes_no_answer() -> None:
    wire = in_turn()
    wire.receive(ask())
    cancel = line_of({"type": "control_cancel_request", "request_id": "r1"})
    assert wire.receive(cancel) == [RequestWithdrawn("r1")]
    wire.command(AnswerPermission(request_id="r1", permit=Permit.ALLOW_ONCE))
    assert wire.data_to_send() == b""


def test_cancelling_answers_all_requests_and_those_that_come_after() -> None:
    wire = in_turn()
    wire.receive(ask("r1") + ask("r2"))
    assert wire.command(Cancel(1)) == [RequestWithdrawn("r1"), RequestWithdrawn("r2")]
    interrupt, *answers = said(wire)
    assert interrupt["request"] == {"subtype": "interrupt"}
    assert [one["response"]["request_id"] for one in answers] == ["r1", "r2"]
    assert all(one["response"]["response"]["interrupt"] for one in answers)
    assert wire.receive(ask("r3")) == []
    [late] = said(wire)
    assert late["response"]["response"]["behavior"] == "deny"


def test_one_request_too_many_is_rejected_at_once() -> None:
    wire = in_turn()
    facts = wire.receive(b"".join(ask(f"r{number}") for number in range(65)))
    assert len([fact for fact in facts if isinstance(fact, PermissionAsked)]) == 64
    assert isinstance(facts[-1], DiagnosticEvent)
    [line] = said(wire)
    assert line["response"]["request_id"] == "r64"
    assert line["response"]["response"]["behavior"] == "deny"


def test_an_idle_agent_waits_for_no_answer() -> None:
    wire = in_turn()
    wire.receive(ask())
    idle = {"type": "system", "subtype": "session_state_changed", "state": "idle"}
    assert wire.receive(line_of(idle)) == [RequestWithdrawn("r1")]
    assert wire.data_to_send() == b""


def test_a_request_that_came_twice_is_asked_once() -> None:
    first, second = in_turn().receive(ask() * 2)
    assert isinstance(first, PermissionAsked)
    assert isinstance(second, DiagnosticEvent)


def test_a_request_outside_of_a_turn_is_asked_too() -> None:
    [fact] = opened().receive(ask())
    assert isinstance(fact, PermissionAsked)


@pytest.mark.parametrize("subtype", ["hook_callback", "mcp_message", "elicitation", ""])
def test_what_we_cannot_do_is_answered_with_an_error(subtype: str) -> None:
    wire = in_turn()
    request = {"subtype": subtype, "callback_id": "pre"}
    line = {"type": "control_request", "request_id": "r1", "request": request}
    [fact] = wire.receive(line_of(line))
    assert isinstance(fact, DiagnosticEvent)
    [answer] = said(wire)
    assert (answer["response"]["subtype"], answer["response"]["request_id"]) == ("error", "r1")


def test_a_request_without_an_id_cannot_be_answered() -> None:
    wire = in_turn()
    [fact] = wire.receive(line_of({"type": "control_request", "request": {"subtype": "x"}}))
    assert isinstance(fact, DiagnosticEvent)
    assert wire.data_to_send() == b""


def test_an_answer_to_no_question_is_remarked() -> None:
    [fact] = in_turn().receive(success("avatar-99"))
    assert isinstance(fact, DiagnosticEvent)
