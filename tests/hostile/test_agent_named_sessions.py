"""An agent may name its session as it likes; what could be a flag is never passed on: C2."""

import json
from pathlib import Path

import pytest

from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.providers.stores.embedded import embedded_store
from avatar_actors.providers.stores.store import SessionSearch
from avatar_actors.wire.acp.profile import AcpProfile
from avatar_actors.wire.acp.wire import AcpWire
from avatar_actors.wire.commands import Beginning, Open, Prompt
from avatar_actors.wire.facts import Fact, Opened, SessionRenamed
from tests.wire.acp import replay as acp_replay
from tests.wire.claude import replay as claude_replay
from tests.wire.gemini import replay as gemini_replay

FLAG = '--settings={"hooks":{}}'


def told(facts: list[Fact]) -> list[str]:
    """The diagnostics about ids."""
    return [
        fact.message
        for fact in facts
        if isinstance(fact, DiagnosticEvent) and "no session is asked for by such" in fact.message
    ]


def test_c2_claude_names_a_session_by_a_flag() -> None:
    wire = claude_replay.opened()
    line = claude_replay.line_of({"type": "system", "subtype": "init", "session_id": FLAG})
    facts = [*wire.receive(line), *wire.receive(line)]
    assert len(told(facts)) == 1
    assert not [fact for fact in facts if isinstance(fact, SessionRenamed)]


def test_c2_gemini_names_a_session_by_a_flag() -> None:
    wire = gemini_replay.opened()
    gemini_replay.prompt(wire)
    line = gemini_replay.line_of({"type": "init", "session_id": FLAG, "model": "m"})
    said = gemini_replay.line_of({"type": "message", "role": "user", "content": "go"})
    facts = wire.receive(line + said + gemini_replay.ended())
    assert len(told(facts)) == 1
    assert gemini_replay.prompt(wire, 2)["args"] == ["--resume=s-0"]


@pytest.mark.parametrize(("named", "kept"), [(FLAG, ""), ("ses_1", "ses_1")])
def test_c2_an_acp_session_named_by_a_flag_serves_one_life(named: str, kept: str) -> None:
    wire = AcpWire(AcpProfile(), 1024)
    wire.command(Open(cwd="/"))
    wire.receive(acp_replay.reply(0, {"protocolVersion": 1}))
    facts = wire.receive(acp_replay.reply(1, {"sessionId": named}))
    [opened] = [fact for fact in facts if isinstance(fact, Opened)]
    assert (opened.session_id, len(told(facts))) == (kept, 0 if kept else 1)
    acp_replay.sent(wire)
    wire.command(Prompt(1, "go"))
    assert acp_replay.sent(wire)[-1]["params"]["sessionId"] == named


def test_c2_the_last_session_is_not_taken_up_if_a_flag_names_it() -> None:
    wire = AcpWire(AcpProfile(), 1024)
    wire.command(Open(cwd="/", begins=Beginning.LAST))
    can: dict[str, object] = {"loadSession": True, "sessionCapabilities": {"list": {}}}
    wire.receive(acp_replay.reply(0, {"protocolVersion": 1, "agentCapabilities": can}))
    row = {"sessionId": FLAG, "cwd": "/", "updatedAt": "2026-01-01T00:00:00Z"}
    wire.receive(acp_replay.reply(1, {"sessions": [row]}))
    assert acp_replay.sent(wire)[-1]["method"] == "session/new"
    [opened] = wire.receive(acp_replay.reply(2, {"sessionId": "new"}))
    assert isinstance(opened, Opened)
    assert "no session is asked for by such an id" in opened.why


def test_c2_a_stored_session_named_by_a_flag_is_not_listed(tmp_path: Path) -> None:
    for name in ("good-1", "--settings={}"):
        lines = ({"role": "session", "cwd": "/"}, {"role": "user", "text": "hi"})
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    found = embedded_store(SessionSearch(env={"AVATAR_EMBEDDED_HOME": str(tmp_path)}))
    assert [each.session_id for each in found.sessions] == ["good-1"]
    assert "cannot be asked for" in found.diagnostics[0]
