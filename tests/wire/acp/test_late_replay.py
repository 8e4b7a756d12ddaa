"""A history that comes after the answer to session/load, as gemini-cli 0.61.0 sends it."""

from avatar_actors.model.events import TextEvent
from avatar_actors.model.values import Continuity, Outcome
from avatar_actors.wire.acp.profile import AcpProfile
from avatar_actors.wire.acp.wire import AcpWire
from avatar_actors.wire.commands import Open, Prompt
from avatar_actors.wire.facts import Opened, TurnOver
from tests.wire.acp.replay import MAX_LINE, refusal, reply, sent, update_of

LATE = AcpProfile(replays_late=True)
HELLO = {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}}
MODES = {"availableModes": [{"id": "ask", "name": "Ask"}], "currentModeId": "ask"}


def loading(profile: AcpProfile = LATE) -> AcpWire:
    wire = AcpWire(profile, MAX_LINE)
    wire.command(Open(cwd="/sandbox", resume="old"))
    wire.receive(reply(0, HELLO))
    sent(wire)
    return wire


def told(words: str) -> bytes:
    return update_of("old", "agent_message_chunk", content={"type": "text", "text": words})


def asked(wire: AcpWire) -> list[tuple[str, object]]:
    return [(message["method"], message.get("params")) for message in sent(wire)]


def test_it_is_open_when_an_answer_comes_with_nothing_of_the_past_before_it() -> None:
    wire = loading()
    assert wire.receive(told("first")) == []
    assert wire.receive(reply(1, {"modes": MODES})) == []
    for number in (2, 3):
        assert asked(wire) == [("session/set_mode", {"sessionId": "old", "modeId": "ask"})]
        assert wire.receive(told("more") + reply(number, {})) == []
    # Refused or not: it is an answer.
    [fact] = wire.receive(refusal(4, -32602, "no such mode"))
    assert isinstance(fact, Opened)
    assert (fact.session_id, fact.continuity) == ("old", Continuity.RESUMED)


def test_the_first_answer_after_it_has_nothing_of_the_past() -> None:
    wire = loading()
    wire.receive(told("first") + reply(1, {"modes": MODES}) + told("last") + reply(2, {}))
    wire.receive(reply(3, {}))
    wire.command(Prompt(turn_id=1, text="go on"))
    facts = wire.receive(told("present") + reply(4, {"stopReason": "end_turn"}))
    assert [fact.text for fact in facts if isinstance(fact, TextEvent)] == ["present"]
    [over] = [fact for fact in facts if isinstance(fact, TurnOver)]
    assert over.outcome is Outcome.COMPLETED


def test_an_agent_that_keeps_to_the_protocol_is_asked_nothing_more() -> None:
    wire = loading(AcpProfile())
    [fact] = wire.receive(told("all of it") + reply(1, {"modes": MODES}))
    assert isinstance(fact, Opened)
    assert asked(wire) == []


def test_a_new_session_has_no_past_to_wait_for() -> None:
    wire = AcpWire(LATE, MAX_LINE)
    wire.command(Open(cwd="/sandbox"))
    wire.receive(reply(0, HELLO))
    [fact] = wire.receive(reply(1, {"sessionId": "new", "modes": MODES}))
    assert isinstance(fact, Opened)
