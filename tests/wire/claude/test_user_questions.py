"""Claude Code's AskUserQuestion: asked as a permission, answered by the tool's input."""

from typing import Any

from avatar_actors.wire.claude.wire import ClaudeWire
from avatar_actors.wire.commands import AnswerUser, Cancel, Prompt
from avatar_actors.wire.facts import PermissionAsked, RequestWithdrawn, UserAsked
from tests.wire.claude.replay import line_of, opened, said

COLOUR = {
    "question": "Which colour?",
    "header": "Colour",
    "multiSelect": False,
    "options": [{"label": "red", "description": "like fire"}, {"label": "blue"}],
}
SIZES = {**COLOUR, "question": "Which sizes?", "multiSelect": True}


def in_turn() -> ClaudeWire:
    wire = opened()
    wire.command(Prompt(1, "go"))
    wire.data_to_send()
    return wire


def ask(tool_input: Any, request_id: str = "r1") -> bytes:
    request = {
        "subtype": "can_use_tool",
        "tool_name": "AskUserQuestion",
        "input": tool_input,
        "tool_use_id": "toolu_1",
    }
    return line_of({"type": "control_request", "request_id": request_id, "request": request})


def answered(wire: ClaudeWire, **answer: Any) -> dict[str, Any]:
    assert wire.command(AnswerUser(request_id="r1", **answer)) == []
    [line] = said(wire)
    response: dict[str, Any] = line["response"]["response"]
    return response


def test_the_questions_are_those_of_the_tool() -> None:
    [asked] = in_turn().receive(ask({"questions": [COLOUR, SIZES]}))
    assert isinstance(asked, UserAsked)
    assert asked.tool_id == "toolu_1"
    first, second = asked.questions
    assert (first.text, first.header, first.takes_text) == ("Which colour?", "Colour", True)
    assert [(o.label, o.description) for o in first.options] == [("red", "like fire"), ("blue", "")]
    assert (first.is_multiple, second.is_multiple) == (False, True)


def test_the_answers_go_into_the_tools_input_by_the_text_of_the_question() -> None:
    wire = in_turn()
    wire.receive(ask({"questions": [COLOUR, SIZES], "metadata": 1}))
    response = answered(wire, answers={"q1": ("mauve",), "q2": ("red", "blue")})
    assert response["behavior"] == "allow"
    assert response["updatedInput"] == {
        "questions": [COLOUR, SIZES],
        "metadata": 1,
        "answers": {"Which colour?": "mauve", "Which sizes?": "red, blue"},
    }


def test_the_model_hears_why_nobody_answered() -> None:
    wire = in_turn()
    wire.receive(ask({"questions": [COLOUR]}))
    response = answered(wire, answers=None, message="Nobody is there to answer.")
    assert response == {"behavior": "deny", "message": "Nobody is there to answer."}
    [fact] = wire.command(AnswerUser(request_id="r1", answers=None))
    assert "not open" in str(fact)


def test_a_cancelled_turn_withdraws_its_question() -> None:
    wire = in_turn()
    wire.receive(ask({"questions": [COLOUR]}))
    assert wire.command(Cancel(1)) == [RequestWithdrawn("r1")]


def test_an_input_that_is_not_the_tools_is_asked_about_as_any_tool() -> None:
    odd_ones: list[Any] = [{}, {"questions": 5}, {"questions": [{"options": []}]}]
    for odd in odd_ones:
        [asked] = in_turn().receive(ask(odd))
        assert isinstance(asked, PermissionAsked)
