"""Forms of ACP agents for the user: as questions, and the answers as their content."""

from typing import Any

import pytest
from acp.schema import CreateElicitationRequest, CreateElicitationResponse
from pydantic import TypeAdapter

from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.questions import Answers, UserQuestion
from avatar_actors.wire.acp.permissions import MOST_PENDING
from avatar_actors.wire.acp.wire import AcpWire
from avatar_actors.wire.commands import AnswerUser, Cancel
from avatar_actors.wire.facts import Fact, RequestWithdrawn, UserAsked
from tests.wire.acp.replay import SESSION, in_turn, line_of, opened, request, sent

COLOURS = [{"const": "red", "title": "Red"}, {"const": "blue", "title": "Blue"}]
# As claude-agent-acp 0.49.0 sends one question, and codex-acp 2.6.0 (without its key `required`).
CLAUDE: dict[str, Any] = {
    "question_0": {
        "type": "string",
        "title": "Colour",
        "oneOf": [
            {
                "const": "red",
                "title": "red — like fire",
                "_meta": {"_claude/askUserQuestionOption": {"description": "like fire"}},
            },
            {"const": "blue", "title": "blue"},
        ],
    },
    "question_0_custom": {"type": "string", "title": "Other"},
}
CODEX: dict[str, Any] = {
    "q1": {
        "type": "string",
        "title": "Which colour?",
        "description": "Colour",
        "_meta": {"codex": {"isOther": True, "isSecret": True}},
        "oneOf": [{"const": "red", "title": "red", "description": "like fire"}],
    },
    "q1_note": {
        "type": "string",
        "title": "Additional answer or note",
        "_meta": {"codex": {"questionId": "q1", "role": "user_note"}},
    },
}
MANY: dict[str, Any] = {
    "which": {"type": "array", "title": "Which?", "items": {"anyOf": COLOURS}},
    "count": {"type": "integer", "title": "How many?"},
    "weight": {"type": "number", "title": "How heavy?"},
    "sure": {"type": "boolean", "title": "Sure?"},
    "name": {"type": "string", "title": "Name", "description": "Whose is it?"},
    "size": {"type": "string", "enum": ["S", "L"]},
}


def form(properties: dict[str, Any], rpc_id: object = "f", **more: Any) -> bytes:
    schema = {"type": "object", "properties": properties, **more.pop("schema", {})}
    params = {"sessionId": SESSION, "mode": "form", "message": "Which colour?", **more}
    asked = {**params, "requestedSchema": schema}
    if "sessionId" in asked:
        TypeAdapter(CreateElicitationRequest).validate_python(asked)
    return request(rpc_id, "elicitation/create", asked)


def asked_by(wire: AcpWire, line: bytes) -> UserAsked:
    [fact] = wire.receive(line)
    assert isinstance(fact, UserAsked)
    return fact


def reply_to(wire: AcpWire, asked: UserAsked, answers: Answers | None) -> Any:
    """What the agent is told; by the schema of ACP."""
    assert wire.command(AnswerUser(request_id=asked.request_id, answers=answers)) == []
    [message] = sent(wire)
    assert message["id"] == "f"
    TypeAdapter(CreateElicitationResponse).validate_python(message["result"])
    return message["result"]


def shown(question: UserQuestion) -> tuple[Any, ...]:
    options = [(option.label, option.description) for option in question.options]
    return question.text, question.header, options, question.takes_text


def test_the_question_of_claude_agent_acp_is_its_message() -> None:
    wire = in_turn()
    asked = asked_by(wire, form(CLAUDE, toolCallId="t1"))
    [question] = asked.questions
    options = [("red", "like fire"), ("blue", "")]
    assert shown(question) == ("Which colour?", "Colour", options, True)
    assert asked.tool_id == "t1"
    accepted = reply_to(wire, asked, {"question_0": ("red",)})
    assert accepted == {"action": "accept", "content": {"question_0": "red"}}


def test_words_of_ones_own_go_to_the_field_for_them() -> None:
    wire = in_turn()
    asked = asked_by(wire, form(CLAUDE))
    accepted = reply_to(wire, asked, {"question_0": ("green",)})
    assert accepted["content"] == {"question_0_custom": "green"}
    codex = asked_by(wire, form(CODEX))
    [question] = codex.questions
    assert shown(question) == ("Which colour?", "Colour", [("red", "like fire")], True)
    assert question.is_secret
    assert reply_to(wire, codex, {"q1": ("green",)})["content"] == {"q1_note": "green"}


def test_each_field_gets_a_value_of_its_type() -> None:
    wire = in_turn()
    asked = asked_by(wire, form(MANY, schema={"required": ["count"]}))
    by_id = {question.question_id: question for question in asked.questions}
    assert list(by_id) == list(MANY)
    assert [key for key, one in by_id.items() if one.is_multiple] == ["which"]
    assert [key for key, one in by_id.items() if one.is_required] == ["count"]
    assert [key for key, one in by_id.items() if one.takes_text] == ["count", "weight", "name"]
    assert (by_id["name"].text, by_id["name"].header) == ("Whose is it?", "Name")
    answers: Answers = {
        "which": ("Blue", "Red"),
        "count": ("3",),
        "weight": ("0.5",),
        "sure": ("No",),
        "name": ("Ann",),
        "size": ("L",),
    }
    assert reply_to(wire, asked, answers)["content"] == {
        "which": ["blue", "red"],
        "count": 3,
        "weight": 0.5,
        "sure": False,
        "name": "Ann",
        "size": "L",
    }


def test_a_form_without_fields_is_a_question_of_yes_or_no() -> None:
    wire = in_turn()
    asked = asked_by(wire, form({}))
    [question] = asked.questions
    assert shown(question) == ("Which colour?", "", [("Yes", ""), ("No", "")], False)
    assert reply_to(wire, asked, {"confirm": ("Yes",)}) == {"action": "accept", "content": {}}
    again = asked_by(wire, form({}))
    assert reply_to(wire, again, {"confirm": ("No",)}) == {"action": "decline"}


def test_declining_is_told_as_such() -> None:
    wire = in_turn()
    assert reply_to(wire, asked_by(wire, form(CLAUDE)), None) == {"action": "decline"}


def test_the_end_of_a_turn_cancels_its_forms() -> None:
    wire = in_turn()
    asked = asked_by(wire, form(CLAUDE))
    assert wire.command(Cancel(1)) == [RequestWithdrawn(asked.request_id)]
    assert [each.get("result") for each in sent(wire)] == [None, {"action": "cancel"}]
    assert wire.command(AnswerUser(request_id=asked.request_id, answers=None)) == []
    assert sent(wire) == []


def test_the_agent_takes_its_form_back() -> None:
    wire = in_turn()
    asked = asked_by(wire, form(CLAUDE))
    cancel = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "f"}}
    assert wire.receive(line_of(cancel)) == [RequestWithdrawn(asked.request_id)]


def declined(facts: list[Fact]) -> bool:
    return all(isinstance(fact, DiagnosticEvent) for fact in facts)


@pytest.mark.parametrize(
    "properties",
    [
        {"deep": {"type": "object", "properties": {}}},
        {"empty": {"type": "array", "items": {"type": "string"}}},
        {"wide": {"type": "string", "enum": [str(n) for n in range(300)]}},
        {f"q{n}": {"type": "string"} for n in range(40)},
    ],
)
def test_a_form_that_nobody_could_fill_in_is_declined(properties: dict[str, Any]) -> None:
    wire = in_turn()
    params = {"sessionId": SESSION, "mode": "form", "message": "?"}
    schema = {"type": "object", "properties": properties}
    line = request("f", "elicitation/create", {**params, "requestedSchema": schema})
    assert declined(wire.receive(line))
    assert sent(wire)[0]["result"] == {"action": "decline"}


def test_a_form_outside_of_a_turn_or_session_is_cancelled() -> None:
    wire = opened()
    wire.data_to_send()
    assert declined(wire.receive(form(CLAUDE)))
    assert sent(wire)[0]["result"] == {"action": "cancel"}
    busy = in_turn()
    assert declined(busy.receive(form(CLAUDE, sessionId="another")))
    assert sent(busy)[0]["result"] == {"action": "cancel"}


def test_a_page_to_visit_is_not_offered_and_refused() -> None:
    wire = in_turn()
    params = {"sessionId": SESSION, "mode": "url", "url": "http://x", "message": "go"}
    assert declined(wire.receive(request("f", "elicitation/create", params)))
    assert sent(wire)[0]["error"]["code"] == -32602


def test_only_so_many_forms_wait() -> None:
    wire = in_turn()
    for number in range(MOST_PENDING):
        asked_by(wire, form(CLAUDE, number))
    assert declined(wire.receive(form(CLAUDE, "one more")))
    assert sent(wire)[0]["result"] == {"action": "decline"}
