from typing import Any

import pytest

from avatar_actors import __version__
from avatar_actors.model.values import Attachment, Continuity, McpServer, Outcome
from avatar_actors.wire.acp.profile import AcpProfile, FilesOffered, SystemPromptBy
from avatar_actors.wire.acp.wire import AcpWire
from avatar_actors.wire.commands import Beginning, Open, Prompt
from avatar_actors.wire.facts import Fact, Opened, OpenFailed, OpenFailure, TurnOver
from tests.wire.acp.digest import words
from tests.wire.acp.replay import MAX_LINE, refusal, reply, sent, text, update_of

RESUMES: dict[str, Any] = {"loadSession": True, "sessionCapabilities": {"resume": {}}}
MODES = {
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "free", "name": "Free"}],
    "currentModeId": "ask",
}
MODEL_OPTION = {
    "id": "model",
    "category": "model",
    "currentValue": "small",
    "options": [{"group": "g", "name": "G", "options": [{"value": "small"}, {"value": "big"}]}],
}


def opening(profile: AcpProfile | None = None, **wanted: Any) -> AcpWire:
    wire = AcpWire(profile or AcpProfile(), MAX_LINE)
    wire.command(Open(cwd="/sandbox", **wanted))
    return wire


def greet(wire: AcpWire, capabilities: dict[str, Any] | None = None, **more: object) -> list[Fact]:
    hello = {"protocolVersion": 1, "agentCapabilities": capabilities or {}, **more}
    return wire.receive(reply(0, hello))


def requests(wire: AcpWire) -> list[tuple[str, dict[str, Any]]]:
    return [(message["method"], message.get("params", {})) for message in sent(wire)]


def test_handshake_offers_what_is_implemented() -> None:
    [(method, params)] = requests(opening())
    assert method == "initialize"
    assert params["protocolVersion"] == 1
    assert params["clientInfo"] == {"name": "avatar-actors", "version": __version__}
    assert params["clientCapabilities"] == {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
        "session": {"notices": {}, "compaction": {}},
        "elicitation": {"form": {}},
    }


def test_files_are_offered_as_the_profile_says() -> None:
    for files in FilesOffered:
        [(_, params)] = requests(opening(AcpProfile(files=files)))
        assert params["clientCapabilities"]["fs"] == {
            "readTextFile": files is FilesOffered.READ_AND_WRITE,
            "writeTextFile": files is not FilesOffered.NONE,
        }


def test_new_session_gets_the_servers_in_its_own_form() -> None:
    stdio = McpServer(name="a", command="/bin/a", args=("x",), env={"K": "V"})
    http = McpServer(name="b", url="http://b", transport="http", headers={"H": "1"})
    wire = opening(mcp_servers=(stdio, http))
    sent(wire)
    greet(wire, {"mcpCapabilities": {"http": True}})
    [(method, params)] = requests(wire)
    assert (method, params["cwd"]) == ("session/new", "/sandbox")
    assert params["mcpServers"] == [
        {"name": "a", "command": "/bin/a", "args": ["x"], "env": [{"name": "K", "value": "V"}]},
        {
            "type": "http",
            "name": "b",
            "url": "http://b",
            "headers": [{"name": "H", "value": "1"}],
        },
    ]


def test_server_whose_transport_the_agent_lacks_is_refused_before_the_session() -> None:
    wire = opening(mcp_servers=(McpServer(name="b", url="http://b", transport="sse"),))
    sent(wire)
    [failed] = greet(wire, {"mcpCapabilities": {"http": True}})
    assert isinstance(failed, OpenFailed)
    assert "sse" in failed.message
    assert sent(wire) == []


def test_capabilities_are_what_the_agent_said() -> None:
    wire = opening()
    sessions: dict[str, Any] = {"list": {}, "fork": {}, "resume": {}}
    prompts = {"image": True, "embeddedContext": True}
    greet(
        wire,
        {"loadSession": True, "sessionCapabilities": sessions, "promptCapabilities": prompts},
        agentInfo={"name": "x", "version": "1.2"},
        _meta={"steering": {"supported": True}},
    )
    [fact] = wire.receive(reply(1, {"sessionId": "s", "modes": MODES}))
    assert isinstance(fact, Opened)
    agent = fact.capabilities
    assert (agent.agent, agent.version, agent.system_prompt) == ("x", "1.2", "injected")
    assert agent.can_list_sessions
    assert agent.can_load_session
    assert agent.can_fork_session
    assert agent.steering
    assert agent.attachments == ("image", "text", "pdf")
    assert [mode.choice_id for mode in agent.modes] == ["ask", "free"]
    assert (fact.session_id, fact.continuity, fact.mode) == ("s", Continuity.NEW, "ask")


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (reply(0, {"protocolVersion": 2}), OpenFailure.WRONG_VERSION),
        (reply(0, {}), OpenFailure.REFUSED),
        (reply(0, None), OpenFailure.REFUSED),
        (reply(0, [1]), OpenFailure.REFUSED),
        (refusal(0, -32603, "broken"), OpenFailure.REFUSED),
    ],
)
def test_bad_handshake_fails_the_opening(answer: bytes, failure: OpenFailure) -> None:
    wire = opening()
    [failed] = wire.receive(answer)
    assert isinstance(failed, OpenFailed)
    assert failed.failure is failure
    [over] = wire.command(Prompt(1, "x"))
    assert isinstance(over, TurnOver)
    assert over.outcome is Outcome.REJECTED


def test_session_without_an_id_is_refused() -> None:
    wire = opening()
    greet(wire)
    assert words(wire.receive(reply(1, {}))) == [
        "not opened: refused: the answer to session/new names no session | "
    ]


def test_login_is_asked_for_by_naming_the_ways() -> None:
    wire = opening(AcpProfile(login_advice="run `x login`"))
    methods = [
        {"id": "oauth", "name": "Log in"},
        {"type": "env_var", "id": "key", "vars": [{"name": "X_KEY"}]},
    ]
    greet(wire, authMethods=methods)
    [failed] = wire.receive(refusal(1, -32000, "Authentication required"))
    assert isinstance(failed, OpenFailed)
    assert failed.failure is OpenFailure.NEEDS_LOGIN
    assert failed.advice == ("run `x login`; its ways to log in: oauth (Log in), key (set X_KEY)")


def test_named_login_is_tried_once_and_then_the_session_again() -> None:
    wire = opening(AcpProfile(auth_method="key"))
    greet(wire)
    sent(wire)
    assert wire.receive(refusal(1, -32000, "login")) == []
    assert requests(wire) == [("authenticate", {"methodId": "key"})]
    wire.receive(reply(2, {}))
    assert [method for method, _ in requests(wire)] == ["session/new"]
    [failed] = wire.receive(refusal(3, -32000, "login"))
    assert isinstance(failed, OpenFailed)
    assert failed.failure is OpenFailure.NEEDS_LOGIN


def test_refused_login_needs_a_login() -> None:
    wire = opening(AcpProfile(auth_method="key"))
    greet(wire)
    wire.receive(refusal(1, -32000, "login"))
    [failed] = wire.receive(refusal(2, -32603, "bad key"))
    assert isinstance(failed, OpenFailed)
    assert (failed.failure, failed.message) == (OpenFailure.NEEDS_LOGIN, "bad key")


def test_resume_is_preferred_to_load() -> None:
    wire = opening(resume="old")
    sent(wire)
    greet(wire, RESUMES)
    [(method, params)] = requests(wire)
    assert (method, params["sessionId"]) == ("session/resume", "old")
    [fact] = wire.receive(reply(1, {}))
    assert isinstance(fact, Opened)
    assert (fact.session_id, fact.continuity) == ("old", Continuity.RESUMED)


def test_replayed_history_is_not_told() -> None:
    wire = opening(resume="old")
    greet(wire, {"loadSession": True})
    chunk = {"type": "text", "text": "earlier"}
    for kind in ("user_message_chunk", "agent_message_chunk", "agent_thought_chunk"):
        assert wire.receive(update_of("old", kind, content=chunk)) == []
    [fact] = wire.receive(reply(1, None))
    assert isinstance(fact, Opened)
    assert fact.continuity is Continuity.RESUMED
    # Some agents answer first and replay then.
    assert wire.receive(update_of("old", "agent_message_chunk", content=chunk)) == []


def test_loaded_session_without_a_history_is_not_resumed() -> None:
    wire = opening(resume="unheard-of")
    greet(wire, {"loadSession": True})
    assert wire.receive(reply(1, {"sessionId": "unheard-of"})) == []
    [fact] = wire.receive(reply(2, {"sessionId": "new"}))
    assert isinstance(fact, Opened)
    assert (fact.session_id, fact.continuity) == ("new", Continuity.FRESH)
    assert fact.why == "session/load: the agent has nothing of this session"


def test_refused_resume_falls_back_to_load_and_then_to_a_fresh_session() -> None:
    wire = opening(resume="old")
    greet(wire, RESUMES)
    sent(wire)
    wire.receive(refusal(1, -32601, "no resume"))
    wire.receive(refusal(2, -32603, "No previous sessions found"))
    assert [method for method, _ in requests(wire)] == ["session/load", "session/new"]
    [fact] = wire.receive(reply(3, {"sessionId": "new"}))
    assert isinstance(fact, Opened)
    assert (fact.session_id, fact.continuity) == ("new", Continuity.FRESH)
    assert fact.why == "session/resume: no resume; session/load: No previous sessions found"


def test_agent_that_cannot_resume_is_said_to_be_fresh() -> None:
    wire = opening(resume="old")
    greet(wire)
    [fact] = wire.receive(reply(1, {"sessionId": "new"}))
    assert isinstance(fact, Opened)
    assert fact.continuity is Continuity.FRESH
    assert fact.why == "the agent cannot resume sessions"


def test_model_and_mode_are_set_by_what_the_agent_has() -> None:
    wire = opening(model="big", mode="free")
    greet(wire)
    sent(wire)
    session = {"sessionId": "s", "modes": MODES, "configOptions": [MODEL_OPTION]}
    assert wire.receive(reply(1, session)) == []
    option = {"sessionId": "s", "configId": "model", "value": "big"}
    assert requests(wire) == [("session/set_config_option", option)]
    assert wire.receive(reply(2, {"configOptions": []})) == []
    assert requests(wire) == [("session/set_mode", {"sessionId": "s", "modeId": "free"})]
    [fact] = wire.receive(reply(3, {}))
    assert isinstance(fact, Opened)
    assert (fact.model, fact.mode) == ("big", "free")


def test_what_is_chosen_already_is_not_set_again() -> None:
    wire = opening(model="small", mode="ask")
    greet(wire)
    session = {"sessionId": "s", "modes": MODES, "configOptions": [MODEL_OPTION]}
    [fact] = wire.receive(reply(1, session))
    assert isinstance(fact, Opened)


def test_unlisted_model_is_tried_and_a_refusal_names_the_choices() -> None:
    wire = opening(model="huge")
    greet(wire)
    models = {"availableModels": [{"modelId": "small"}], "currentModelId": "small"}
    wire.receive(reply(1, {"sessionId": "s", "models": models}))
    [failed] = wire.receive(refusal(2, -32603, "unknown model"))
    assert isinstance(failed, OpenFailed)
    assert failed.failure is OpenFailure.REFUSED
    assert failed.message == "the model 'huge' was not taken (unknown model); offered: small"


def test_mode_without_modes_is_refused() -> None:
    wire = opening(mode="free")
    greet(wire)
    [failed] = wire.receive(reply(1, {"sessionId": "s"}))
    assert isinstance(failed, OpenFailed)
    assert "no modes at all" in failed.message


def test_mode_of_the_profile_is_set_where_it_is_offered() -> None:
    wire = opening(AcpProfile(mode="free"))
    greet(wire)
    sent(wire)
    assert wire.receive(reply(1, {"sessionId": "s", "modes": MODES})) == []
    assert requests(wire) == [("session/set_mode", {"sessionId": "s", "modeId": "free"})]
    [fact] = wire.receive(reply(2, {}))
    assert isinstance(fact, Opened)
    assert fact.mode == "free"


def test_odd_lists_are_no_reason_to_fail() -> None:
    wire = opening()
    greet(wire, authMethods=None, agentInfo={"name": "x", "version": None})
    [fact] = wire.receive(reply(1, {"sessionId": "s", "modes": [], "configOptions": 5}))
    assert isinstance(fact, Opened)
    assert fact.session_id == "s"


def test_mode_of_the_profile_that_is_not_offered_is_only_remarked_on() -> None:
    wire = opening(AcpProfile(mode="other"))
    greet(wire)
    facts = words(wire.receive(reply(1, {"sessionId": "s", "modes": MODES})))
    assert [fact.split()[0] for fact in facts] == ["warning", "opened"]


@pytest.mark.parametrize(
    ("way", "capabilities", "expected"),
    [
        (
            SystemPromptBy.FIELD,
            {"sessionCapabilities": {"systemPrompt": {}}},
            {"systemPrompt": {"mode": "append", "content": [{"type": "text", "text": "be"}]}},
        ),
        (SystemPromptBy.META, {}, {"_meta": {"systemPrompt": {"append": "be"}}}),
        (SystemPromptBy.LAUNCH, {}, {}),
    ],
)
def test_native_system_prompt_goes_its_own_way(
    way: SystemPromptBy, capabilities: dict[str, Any], expected: dict[str, Any]
) -> None:
    wire = opening(AcpProfile(system_prompt=way), system_prompt="be")
    sent(wire)
    greet(wire, capabilities)
    [(_, params)] = requests(wire)
    assert params == {"cwd": "/sandbox", "mcpServers": [], **expected}
    [fact] = wire.receive(reply(1, {"sessionId": "s"}))
    assert isinstance(fact, Opened)
    assert fact.capabilities.system_prompt == "native"
    wire.command(Prompt(1, "hello"))
    [(_, prompt)] = requests(wire)
    assert prompt["prompt"] == [{"type": "text", "text": "hello"}]


@pytest.mark.parametrize("way", [SystemPromptBy.INJECTED, SystemPromptBy.FIELD])
def test_other_agents_get_it_once_before_the_first_prompt(way: SystemPromptBy) -> None:
    wire = opening(AcpProfile(system_prompt=way), system_prompt="be")
    greet(wire)
    [fact] = wire.receive(reply(1, {"sessionId": "s"}))
    assert isinstance(fact, Opened)
    assert fact.capabilities.system_prompt == "injected"
    sent(wire)
    wire.command(Prompt(1, "hello"))
    [(_, params)] = requests(wire)
    assert [block["text"] for block in params["prompt"]] == [
        "<system_instructions>\nbe\n</system_instructions>",
        "hello",
    ]
    wire.receive(reply(2, {"stopReason": "end_turn"}))
    wire.command(Prompt(2, "again"))
    [(_, params)] = requests(wire)
    assert [block["text"] for block in params["prompt"]] == ["again"]


def test_resumed_session_has_its_system_prompt_already() -> None:
    wire = opening(resume="old", system_prompt="be")
    greet(wire, RESUMES)
    wire.receive(reply(1, {}))
    sent(wire)
    wire.command(Prompt(1, "hello"))
    [(_, params)] = requests(wire)
    assert len(params["prompt"]) == 1


def test_attachments_before_the_text_in_the_forms_the_agent_takes() -> None:
    wire = opening()
    greet(wire, {"promptCapabilities": {"image": True, "embeddedContext": True}})
    wire.receive(reply(1, {"sessionId": "s"}))
    sent(wire)
    pieces = (
        Attachment("image/png", b"\x89"),
        Attachment("text/plain", b"words", "a b.txt"),
        Attachment("application/pdf", b"%PDF", "x.pdf"),
    )
    wire.command(Prompt(1, "look", pieces))
    [(_, params)] = requests(wire)
    image, note, pdf, words_ = params["prompt"]
    assert image == {"type": "image", "mimeType": "image/png", "data": "iQ=="}
    assert note["resource"]["text"] == "words"
    assert note["resource"]["uri"] == "attachment:///a%20b.txt"
    assert pdf["resource"]["blob"] == "JVBERg=="
    assert words_ == {"type": "text", "text": "look"}


def test_attachment_that_the_agent_does_not_take_rejects_the_prompt_unsent() -> None:
    wire = opening()
    greet(wire, {"promptCapabilities": {"image": True}})
    wire.receive(reply(1, {"sessionId": "s"}))
    sent(wire)
    [over] = wire.command(Prompt(1, "look", (Attachment("audio/wav", b"x"),)))
    assert isinstance(over, TurnOver)
    assert over.outcome is Outcome.REJECTED
    assert over.error == "the agent takes no attachment of type 'audio/wav'; it takes: image"
    assert sent(wire) == []
    wire.command(Prompt(2, "then without"))
    assert len(sent(wire)) == 1


def test_garbage_during_the_opening_does_not_end_it() -> None:
    wire = opening()
    assert words(wire.receive(b"warning: node is old\nnull\n[]\n")) == [
        "warning the agent wrote what is not a message: 'warn…",
        "warning the agent wrote what is not a message: 'null…",
        "warning the agent wrote what is not a message: '[]'",
    ]
    greet(wire)
    [fact] = wire.receive(reply(1, {"sessionId": "s-1"}))
    assert isinstance(fact, Opened)
    wire.command(Prompt(1, "x"))
    assert words(wire.receive(text("hi"))) == ["text hi"]


ROWS = [
    {"sessionId": "old", "cwd": "/sandbox", "updatedAt": "2026-11-16T10:00:00.000Z"},
    {"sessionId": "last", "cwd": "/sandbox", "updatedAt": "2026-11-16T11:00:00+00:00"},
    {"sessionId": "other", "cwd": "/elsewhere", "updatedAt": "2026-11-16T12:00:00Z"},
    {"sessionId": "odd", "cwd": "/sandbox", "updatedAt": "yesterday"},
]
CAN_CONTINUE: dict[str, Any] = {"loadSession": True, "sessionCapabilities": {"list": {}}}


def last_wanted(can: dict[str, Any]) -> AcpWire:
    wire = opening(begins=Beginning.LAST)
    sent(wire)
    greet(wire, can)
    return wire


def test_the_last_session_of_the_directory_is_asked_for_and_taken_up() -> None:
    wire = last_wanted(CAN_CONTINUE)
    assert requests(wire) == [("session/list", {"cwd": "/sandbox"})]
    wire.receive(reply(1, {"sessions": ROWS}))
    [(method, params)] = requests(wire)
    assert (method, params["sessionId"]) == ("session/load", "last")
    wire.receive(update_of("last", "user_message_chunk", content={"type": "text", "text": "hi"}))
    [fact] = wire.receive(reply(2, None))
    assert isinstance(fact, Opened)
    assert (fact.session_id, fact.continuity) == ("last", Continuity.RESUMED)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (reply(1, {"sessions": ROWS[2:3]}), "there is no earlier session of /sandbox"),
        (reply(1, None), "there is no earlier session of /sandbox"),
        (refusal(1, -32601, "Method not found"), "session/list: Method not found"),
    ],
)
def test_without_a_last_session_a_new_one_is_fresh_and_says_why(answer: bytes, why: str) -> None:
    wire = last_wanted(CAN_CONTINUE)
    sent(wire)
    wire.receive(answer)
    [(method, _)] = requests(wire)
    assert method == "session/new"
    [fact] = wire.receive(reply(2, {"sessionId": "s"}))
    assert isinstance(fact, Opened)
    assert (fact.continuity, fact.why) == (Continuity.FRESH, why)


def test_an_agent_that_lists_nothing_begins_a_new_session_and_says_why() -> None:
    wire = last_wanted({"loadSession": True})
    assert [method for method, _ in requests(wire)] == ["session/new"]
    [fact] = wire.receive(reply(1, {"sessionId": "s"}))
    assert isinstance(fact, Opened)
    assert fact.continuity is Continuity.FRESH
    assert "which session was the last" in fact.why


def test_a_login_before_the_list_is_followed_by_the_list() -> None:
    wire = AcpWire(AcpProfile(auth_method="key"), MAX_LINE)
    wire.command(Open(cwd="/sandbox", begins=Beginning.LAST))
    wire.receive(reply(0, {"protocolVersion": 1, "agentCapabilities": CAN_CONTINUE}))
    sent(wire)
    wire.receive(refusal(1, -32000, "log in"))
    assert [method for method, _ in requests(wire)] == ["authenticate"]
    wire.receive(reply(2, {}))
    assert [method for method, _ in requests(wire)] == ["session/list"]


def test_a_fork_is_a_new_session_that_remembers() -> None:
    wire = opening(resume="old", begins=Beginning.FORK)
    sent(wire)
    greet(wire, {"loadSession": True, "sessionCapabilities": {"fork": {}, "resume": {}}})
    [(method, params)] = requests(wire)
    assert (method, params) == (
        "session/fork",
        {"sessionId": "old", "cwd": "/sandbox", "mcpServers": []},
    )
    [fact] = wire.receive(reply(1, {"sessionId": "copy"}))
    assert isinstance(fact, Opened)
    assert (fact.session_id, fact.continuity) == ("copy", Continuity.RESUMED)


def test_a_fork_that_is_refused_is_a_fresh_session_that_says_why() -> None:
    wire = opening(resume="old", begins=Beginning.FORK)
    sent(wire)
    greet(wire, {"sessionCapabilities": {"fork": {}}})
    sent(wire)
    wire.receive(refusal(1, -32002, "not found"))
    [(method, _)] = requests(wire)
    assert method == "session/new"
    [fact] = wire.receive(reply(2, {"sessionId": "s"}))
    assert isinstance(fact, Opened)
    assert (fact.continuity, fact.why) == (Continuity.FRESH, "session/fork: not found")
