"""Every message that the wire sends, held against the models of the protocol's own package."""

from typing import Any

import pytest
from acp import schema
from pydantic import BaseModel

from avatar_actors.model.values import Attachment, McpServer, Permit
from avatar_actors.wire.acp.profile import AcpProfile, FilesOffered, SystemPromptBy
from avatar_actors.wire.acp.wire import AcpWire
from avatar_actors.wire.commands import (
    AnswerFile,
    AnswerPermission,
    Call,
    Cancel,
    Close,
    Open,
    Prompt,
)
from tests.wire.acp.replay import MAX_LINE, Record, Replay, refusal, reply, request, sent

REQUESTS: dict[str, type[BaseModel]] = {
    "initialize": schema.InitializeRequest,
    "authenticate": schema.AuthenticateRequest,
    "session/new": schema.NewSessionRequest,
    "session/load": schema.LoadSessionRequest,
    "session/resume": schema.ResumeSessionRequest,
    "session/list": schema.ListSessionsRequest,
    "session/fork": schema.ForkSessionRequest,
    "session/close": schema.CloseSessionRequest,
    "session/delete": schema.DeleteSessionRequest,
    "session/set_mode": schema.SetSessionModeRequest,
    "session/set_config_option": schema.SetSessionConfigOptionSelectRequest,
    "session/prompt": schema.PromptRequest,
    "session/cancel": schema.CancelNotification,
}
# Gone from the schema, and still what gemini, codex-acp and qwen understand.
NOT_IN_SCHEMA = {"session/set_model"}
# Of the stable protocol, as the TypeScript SDK 2.4.0 has it; the Python package 0.12.1 lags.
NOT_YET_IN_SCHEMA = {"notice", "compaction_update", "compaction_summary_chunk"}
SERVERS = (
    McpServer(name="a", command="/bin/a", args=("x",), env={"K": "V"}),
    McpServer(name="b", url="http://b", transport="http", headers={"H": "1"}),
    McpServer(name="c", url="http://c", transport="sse"),
)
OPTION = {"id": "model", "category": "model", "currentValue": "a", "options": [{"value": "a"}]}
MODES = {"availableModes": [{"id": "p", "name": "P"}], "currentModeId": "q"}
MODELS = {"availableModels": [{"modelId": "m", "name": "M"}], "currentModelId": "m"}
CAPABILITIES: Record = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": True},
    "sessionCapabilities": {"resume": {}, "list": {}, "close": {}, "fork": {}, "systemPrompt": {}},
}


def hold(messages: list[Record]) -> list[str]:
    """Holds each against its model; answered with the methods."""
    methods: list[str] = []
    for message in messages:
        assert message["jsonrpc"] == "2.0"
        method = message.get("method")
        if method is None:
            continue
        methods.append(method)
        if method not in NOT_IN_SCHEMA:
            model = REQUESTS[method].model_validate(message["params"])
            lost = set(message["params"]) - set(model.model_dump(by_alias=True))
            assert lost <= {"systemPrompt"}
    return methods


def opened(profile: AcpProfile) -> tuple[AcpWire, list[str]]:
    wire = AcpWire(profile, MAX_LINE)
    wire.command(Open(cwd="/x", resume="s", mcp_servers=SERVERS, system_prompt="be", model="b"))
    wire.receive(reply(0, {"protocolVersion": 1, "agentCapabilities": CAPABILITIES}))
    wire.receive(refusal(1, -32000, "login"))
    wire.receive(reply(2, {}))
    wire.receive(refusal(3, -32601, "no"))
    wire.receive(refusal(4, -32002, "gone"))
    session = {"sessionId": "n", "configOptions": [OPTION], "modes": MODES, "models": MODELS}
    wire.receive(reply(5, session))
    wire.receive(refusal(6, -32602, "not so"))
    wire.receive(reply(7, {}))
    wire.receive(reply(8, {}))
    return wire, hold(sent(wire))


@pytest.mark.parametrize("way", SystemPromptBy)
def test_opening_in_all_its_ways_keeps_to_the_schema(way: SystemPromptBy) -> None:
    profile = AcpProfile(
        system_prompt=way, auth_method="k", mode="p", files=FilesOffered.READ_AND_WRITE
    )
    _, methods = opened(profile)
    assert methods == [
        *("initialize", "session/resume", "authenticate", "session/resume", "session/load"),
        *("session/new", "session/set_config_option", "session/set_model", "session/set_mode"),
    ]


def test_turn_keeps_to_the_schema() -> None:
    wire, _ = opened(AcpProfile(auth_method="k", mode="p", files=FilesOffered.READ_AND_WRITE))
    attachments = (
        Attachment("image/png", b"1"),
        Attachment("audio/wav", b"2"),
        Attachment("text/plain", b"3", "a.txt"),
        Attachment("application/pdf", b"4"),
    )
    wire.command(Prompt(1, "look \ud800", attachments))
    wire.command(Cancel(1))
    assert hold(sent(wire)) == ["session/prompt", "session/cancel"]


def test_calls_and_goodbye_keep_to_the_schema() -> None:
    wire, _ = opened(AcpProfile(auth_method="k", mode="p"))
    actions = ["list_sessions", "close_session", "delete", "fork", "set_model", "set_mode"]
    for number, action in enumerate(actions):
        wire.command(Call(number, action, {"model": "a", "mode": "p", "cwd": "/x"}))
    wire.command(Close())
    assert len(hold(sent(wire))) == len(actions) + 1


def test_answers_keep_to_the_schema() -> None:
    wire, _ = opened(AcpProfile(auth_method="k", mode="p", files=FilesOffered.READ_AND_WRITE))
    wire.command(Prompt(1, "x"))
    options = [{"optionId": "y", "name": "Y", "kind": "allow_once"}]
    tool = {"toolCallId": "t"}
    asked = {"sessionId": "n", "toolCall": tool, "options": options}
    wire.receive(request(1, "session/request_permission", asked))
    wire.receive(request(2, "session/request_permission", asked))
    wire.receive(request(3, "fs/read_text_file", {"sessionId": "n", "path": "/x/a"}))
    wire.receive(request(4, "fs/write_text_file", {"path": "/x/a", "content": "c"}))
    sent(wire)
    wire.command(AnswerPermission(request_id="permission-1", permit=Permit.ALLOW_ONCE))
    wire.command(AnswerPermission(request_id="permission-2", permit=Permit.REJECT_ONCE))
    wire.command(AnswerFile(request_id="file-1", text="c"))
    wire.command(AnswerFile(request_id="file-2"))
    models: list[type[BaseModel]] = [
        schema.RequestPermissionResponse,
        schema.RequestPermissionResponse,
        schema.ReadTextFileResponse,
        schema.WriteTextFileResponse,
    ]
    answers = sent(wire)
    assert [answer["id"] for answer in answers] == [1, 2, 3, 4]
    for model, answer in zip(models, answers, strict=True):
        model.model_validate(answer["result"])


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("gemini-acp-0.61.0", "tools"),
        ("codex-acp-2.6.0", "sessions"),
        ("codex-acp-zed-0.16.0", "tools"),
        ("claude-agent-acp-0.49.0", "tools"),
    ],
)
def test_what_is_sent_in_a_recorded_conversation_keeps_to_the_schema(agent: str, name: str) -> None:
    assert hold(Replay(agent, name, AcpProfile()).said)


def test_schema_has_no_update_that_the_wire_does_not_know() -> None:
    """Drift of the protocol is seen here first."""
    from avatar_actors.wire.acp import update_types  # noqa: PLC0415 - only this test looks inside

    known = {kind.__struct_config__.tag for kind in update_types.Update.__args__}
    params: Any = schema.SessionNotification.model_fields["update"].annotation
    kinds = {
        value
        for each in params.__args__
        for value in each.model_fields["session_update"].annotation.__args__
    }
    assert kinds == known - NOT_YET_IN_SCHEMA
