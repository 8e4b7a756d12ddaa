from typing import Any

import pytest

from avatar_actors.model.events import SessionInfoEvent
from avatar_actors.model.values import StoredSession
from avatar_actors.wire.acp.calls import MOST_PAGES
from avatar_actors.wire.acp.profile import AcpProfile
from avatar_actors.wire.acp.wire import AcpWire
from avatar_actors.wire.commands import Call, Open, Prompt
from avatar_actors.wire.facts import Answered, Opened, TurnOver
from tests.wire.acp.replay import MAX_LINE, SESSION, in_turn, opened, refusal, reply, sent


def sent_by(wire: AcpWire, action: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    assert wire.command(Call(7, action, arguments)) == []
    [message] = sent(wire)
    return message["method"], message["params"]


@pytest.mark.parametrize(
    ("action", "arguments", "method", "params"),
    [
        ("close_session", {}, "session/close", {"sessionId": SESSION}),
        ("delete", {"session_id": "old"}, "session/delete", {"sessionId": "old"}),
        (
            "fork",
            {},
            "session/fork",
            {"sessionId": SESSION, "cwd": "/sandbox", "mcpServers": []},
        ),
        ("list_sessions", {}, "session/list", {}),
        ("list_sessions", {"cwd": "/x"}, "session/list", {"cwd": "/x"}),
        ("raw:_any/thing", {"a": 1}, "_any/thing", {"a": 1}),
    ],
)
def test_action_is_sent_as_its_method(
    action: str, arguments: dict[str, Any], method: str, params: dict[str, Any]
) -> None:
    assert sent_by(opened(), action, **arguments) == (method, params)


def test_answer_and_refusal_carry_the_call() -> None:
    wire = opened()
    wire.command(Call(7, "raw:x"))
    wire.command(Call(8, "raw:y"))
    assert wire.receive(refusal(3, -32601, "no y")) == [Answered(8, None, "no y")]
    assert wire.receive(reply(2, {"a": [1]})) == [Answered(7, {"a": [1]})]


def test_calls_work_during_a_turn() -> None:
    wire = in_turn()
    assert sent_by(wire, "raw:x")[0] == "x"
    assert wire.receive(reply(3, None)) == [Answered(7, None)]


def test_sessions_come_page_by_page_in_our_words() -> None:
    wire = opened()
    sent_by(wire, "list_sessions")
    row = {"sessionId": "a", "cwd": "/x", "title": "T", "updatedAt": "now"}
    assert wire.receive(reply(2, {"sessions": [row, 5, {}], "nextCursor": "c"})) == []
    [page] = sent(wire)
    assert page["params"] == {"cursor": "c"}
    [answer] = wire.receive(reply(3, {"sessions": [{"sessionId": "b"}]}))
    assert isinstance(answer, Answered)
    assert [StoredSession(**each) for each in answer.result] == [
        StoredSession("a", "T", "/x", "now"),
        StoredSession("b"),
    ]


def test_endless_pages_come_to_an_end() -> None:
    wire = opened()
    sent_by(wire, "list_sessions")
    facts = [
        fact
        for number in range(MOST_PAGES)
        for fact in wire.receive(reply(2 + number, {"sessions": [], "nextCursor": "more"}))
    ]
    assert facts == [Answered(7, [])]


def test_model_and_mode_are_chosen_by_the_agents_methods() -> None:
    wire = AcpWire(AcpProfile(), MAX_LINE)
    wire.command(Open(cwd="/sandbox"))
    wire.receive(reply(0, {"protocolVersion": 1}))
    modes = {"availableModes": [{"id": "plan"}], "currentModeId": "plan"}
    option = {"id": "model", "currentValue": "big", "options": [{"value": "big"}]}
    wire.receive(reply(1, {"sessionId": SESSION, "modes": modes, "configOptions": [option]}))
    sent(wire)
    mode = {"sessionId": SESSION, "modeId": "plan"}
    assert sent_by(wire, "set_mode", mode="plan") == ("session/set_mode", mode)
    assert wire.receive(reply(2, {})) == [SessionInfoEvent(mode="plan"), Answered(7, {})]
    model = {"sessionId": SESSION, "configId": "model", "value": "big"}
    assert sent_by(wire, "set_model", model="big") == ("session/set_config_option", model)
    [answer] = wire.receive(refusal(3, -32602, "bad"))
    assert isinstance(answer, Answered)
    assert answer.error == "the model 'big' was not taken (bad); offered: big"


def test_what_is_not_offered_is_not_even_asked_for() -> None:
    wire = AcpWire(AcpProfile(), MAX_LINE)
    wire.command(Open(cwd="/sandbox"))
    wire.receive(reply(0, {"protocolVersion": 1}))
    option = {"id": "model", "currentValue": "big", "options": [{"value": "big"}]}
    wire.receive(reply(1, {"sessionId": SESSION, "configOptions": [option]}))
    sent(wire)
    [answer] = wire.command(Call(7, "set_model", {"model": "bigg"}))
    assert sent(wire) == []
    offered = "the model 'bigg' was not taken (it is not offered); offered: big"
    assert answer == Answered(7, error=f"{offered}; did you mean 'big'?")


def test_an_agent_that_takes_any_model_is_asked() -> None:
    wire = AcpWire(AcpProfile(takes_any_model=True), MAX_LINE)
    wire.command(Open(cwd="/sandbox"))
    wire.receive(reply(0, {"protocolVersion": 1}))
    models = {"availableModels": [{"modelId": "auto"}], "currentModelId": "auto"}
    wire.receive(reply(1, {"sessionId": SESSION, "models": models}))
    sent(wire)
    wanted = {"sessionId": SESSION, "modelId": "another"}
    assert sent_by(wire, "set_model", model="another") == ("session/set_model", wanted)


@pytest.mark.parametrize("action", ["stop_task", "", "set_model"])
def test_what_cannot_be_done_is_answered_at_once(action: str) -> None:
    [answer] = opened().command(Call(7, action, {"model": "x"}))
    assert isinstance(answer, Answered)
    assert answer.error


def test_nothing_can_be_called_before_the_session_is_open() -> None:
    [answer] = AcpWire(AcpProfile(), MAX_LINE).command(Call(7, "list_sessions"))
    assert answer == Answered(7, None, "not now: the connection is new")


def test_an_error_to_the_listing_is_its_answer_also_after_a_page() -> None:
    wire = opened()
    sent_by(wire, "list_sessions")
    wire.receive(reply(2, {"sessions": [], "nextCursor": "c"}))
    assert wire.receive(refusal(3, -32603, "no store")) == [Answered(7, error="no store")]


def test_after_a_refused_opening_no_prompt_is_taken() -> None:
    wire = AcpWire(AcpProfile(), MAX_LINE)
    wire.command(Open(cwd="/x", mode="free"))
    wire.receive(reply(0, {"protocolVersion": 1}) + reply(1, {"sessionId": "s"}))
    [over] = wire.command(Prompt(1, "hello"))
    assert isinstance(over, TurnOver)
    assert over.error == "the agent takes no prompt now: the connection is closed"


def test_cost_is_tracked_only_where_the_profile_says_so() -> None:
    for profile, is_tracked in ((AcpProfile(), False), (AcpProfile(tells_cost=True), True)):
        wire = AcpWire(profile, MAX_LINE)
        wire.command(Open(cwd="/x"))
        [fact] = wire.receive(reply(0, {"protocolVersion": 1}) + reply(1, {"sessionId": "s"}))
        assert isinstance(fact, Opened)
        assert fact.capabilities.cost_tracking is is_tracked
