"""How a session of Claude Code begins, or does not."""

from avatar_actors.model.values import Continuity
from avatar_actors.wire.claude.opening import ClaudeBasis, capabilities_of
from avatar_actors.wire.claude.wire import ClaudeWire
from avatar_actors.wire.commands import Call, Close, Open, Prompt
from avatar_actors.wire.facts import (
    Answered,
    Fact,
    Opened,
    OpenFailed,
    OpenFailure,
    SessionRenamed,
    TurnOver,
)
from tests.wire.claude.replay import (
    Replay,
    initialized,
    line_of,
    opened,
    recording,
    said,
    success,
)


def opening(resume: str = "") -> ClaudeWire:
    wire = ClaudeWire(seed="test")
    assert wire.command(Open(cwd="/sandbox", resume=resume)) == []
    return wire


def test_the_handshake_is_the_recorded_one() -> None:
    request = {"subtype": "initialize"}
    sent = {"type": "control_request", "request_id": "avatar-1", "request": request}
    assert said(opening()) == [sent]
    asked = [line["msg"] for line in recording("s03_init_control") if line["dir"] == "in"]
    assert any(one.get("request") == request for one in asked)


def test_the_answer_tells_what_the_agent_can_do() -> None:
    fact, commands = opening().receive(success("avatar-1", initialized()))
    assert isinstance(fact, Opened)
    assert (fact.session_id, fact.continuity, fact.mode) == ("", Continuity.NEW, "default")
    can = fact.capabilities
    assert (can.agent, can.version) == ("Claude Code", "2.1.325")
    assert [model.choice_id for model in can.models][:2] == ["default", "opus"]
    assert "plan" in [mode.choice_id for mode in can.modes]
    assert can.attachments == ("image", "pdf", "text")
    assert can.steering
    assert can.editable_input
    assert can.cost_tracking
    assert "deep-research" in repr(commands)
    assert "ANTHROPIC_API_KEY" not in repr([fact, commands])


def test_a_resumed_session_has_its_id_at_once() -> None:
    [fact, *_] = opening("s-1").receive(success("avatar-1", initialized()))
    assert isinstance(fact, Opened)
    assert (fact.session_id, fact.continuity) == ("s-1", Continuity.RESUMED)


def test_an_unknown_session_is_told_before_the_session_opens() -> None:
    wire = opening("91061df9-55db-4797-9def-951e7616bd93")
    [result] = [line["msg"] for line in recording("s18_resume_bad") if line["dir"] == "out"]
    [fact] = wire.receive(line_of(result))
    assert isinstance(fact, OpenFailed)
    assert fact.failure is OpenFailure.NO_SUCH_SESSION
    assert fact.message.startswith("No conversation found with session ID")


def test_a_refused_handshake_is_a_refusal() -> None:
    answer = {"subtype": "error", "request_id": "avatar-1", "error": "not today"}
    [fact] = opening().receive(line_of({"type": "control_response", "response": answer}))
    assert fact == OpenFailed(OpenFailure.REFUSED, "not today")


def test_a_missing_login_names_the_way_to_log_in() -> None:
    error = "Not logged in · Please run /login"
    answer = {"subtype": "error", "request_id": "avatar-1", "error": error}
    [fact] = opening().receive(line_of({"type": "control_response", "response": answer}))
    assert isinstance(fact, OpenFailed)
    assert fact.failure is OpenFailure.NEEDS_LOGIN
    assert "ANTHROPIC_API_KEY" in fact.advice


# As 2.1.197 and 2.1.325 describe them.
SIGNED_OUT = {"tokenSource": "none", "apiProvider": "firstParty"}
SIGNED_IN: tuple[dict[str, str], ...] = (
    {"tokenSource": "none", "apiKeySource": "ANTHROPIC_API_KEY", "apiProvider": "firstParty"},
    {"tokenSource": "ANTHROPIC_AUTH_TOKEN", "apiProvider": "firstParty"},
    {"subscriptionType": "Claude Pro", "apiProvider": "firstParty"},
    {"apiProvider": "bedrock"},
    {},
)


def greeted(account: object, *, knows_login: bool = True) -> Fact:
    wire = ClaudeWire(seed="s", basis=ClaudeBasis(knows_login=knows_login))
    wire.command(Open(cwd="/sandbox"))
    answer = {"subtype": "success", "request_id": "avatar-1", "response": {"account": account}}
    return wire.receive(line_of({"type": "control_response", "response": answer}))[0]


def test_an_account_without_token_and_key_needs_a_login() -> None:
    failed = greeted(SIGNED_OUT)
    assert isinstance(failed, OpenFailed)
    assert failed.failure is OpenFailure.NEEDS_LOGIN
    assert failed.message == "Claude Code is not signed in"


def test_every_other_account_and_a_login_that_the_agent_does_not_know_of_is_let_in() -> None:
    for account in SIGNED_IN:
        assert isinstance(greeted(account), Opened)
    assert isinstance(greeted(SIGNED_OUT, knows_login=False), Opened)


def test_another_session_id_is_told_once() -> None:
    wire = opened()
    line = {"type": "system", "subtype": "ui_invalidate", "session_id": "s-2"}
    assert wire.receive(line_of(line) * 2) == [SessionRenamed("s-2")]


def test_a_prompt_before_the_session_is_rejected() -> None:
    [fact] = opening().command(Prompt(1, "hello"))
    assert isinstance(fact, TurnOver)
    assert (fact.outcome.value, fact.error) == ("rejected", "no prompt is taken while opening")


def test_the_goodbye_is_the_recorded_one_and_said_once() -> None:
    wire = opened()
    assert wire.command(Close()) == []
    [sent] = said(wire)
    assert sent["request"] == {"subtype": "end_session"}
    assert sent["request"] in [one.get("request") for one in Replay("s03_init_control").recorded]
    assert wire.command(Close()) == []
    assert said(wire) == []


def test_after_the_goodbye_nothing_is_asked() -> None:
    wire = opened()
    wire.command(Close())
    assert wire.command(Call(1, "mcp_status")) == [Answered(1, error="there is no session")]


def test_what_its_protocol_can_is_told() -> None:
    can = capabilities_of({})
    assert (can.thinking_supported, can.thinking_structured, can.cost_tracking) == (True,) * 3
    assert (can.can_load_session, can.can_fork_session, can.budget_enforcement) == (True,) * 3
