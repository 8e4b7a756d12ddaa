"""Any bytes, any JSON, any order: no exception, and at most one outcome for each prompt."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from avatar_actors.model.values import Attachment, Permit
from avatar_actors.wire.acp.profile import AcpProfile, FilesOffered, SystemPromptBy
from avatar_actors.wire.acp.wire import AcpWire
from avatar_actors.wire.commands import (
    AnswerFile,
    AnswerPermission,
    AnswerUser,
    Call,
    Cancel,
    Close,
    Command,
    Open,
    Prompt,
    Steer,
)
from avatar_actors.wire.facts import Fact, TurnOver
from tests.wire.acp.replay import MAX_LINE, SESSION, Record, in_turn, line_of, recording

PROFILE = AcpProfile(
    files=FilesOffered.READ_AND_WRITE,
    system_prompt=SystemPromptBy.META,
    auth_method="key",
    mode="plan",
    mode_notice="[MODE_UPDATE] ",
    tool_name_end="__",
    failed_status=(("codex", "threadStatus", "type"), "systemError"),
    retry_notice=("codex", "error", "message"),
)
RECORDED = [
    ("gemini-acp-0.61.0", "tools"),
    ("codex-acp-2.6.0", "basic"),
    ("codex-acp-zed-0.16.0", "tools"),
    ("claude-agent-acp-0.49.0", "basic"),
]
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)


def from_agents() -> list[Record]:
    """Messages of real agents, their session ids made ours."""
    lines = [line for agent, name in RECORDED for line in recording(agent, name)]
    found: list[Record] = [line["msg"] for line in lines if line["dir"] == "<"]
    for message in found:
        for part in ("params", "result"):
            inside: Record = message.get(part) or {}
            if "sessionId" in inside:
                inside["sessionId"] = SESSION
    return found


def with_key(message: Record, key: str, value: Any) -> Record:
    return {**message, key: value}


def update_with(kind: str, fields: Record) -> Record:
    params = {"sessionId": SESSION, "update": {**fields, "sessionUpdate": kind}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def field_with(about: Record, kind: Any) -> Record:
    return {**about, "type": kind}


def form_with(properties: Record, required: Any) -> Record:
    schema = {"type": "object", "properties": properties, "required": required}
    params = {"sessionId": SESSION, "mode": "form", "message": "?", "requestedSchema": schema}
    return {"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": params}


# A loaded machine is slow, and that is no finding.
SLOW = [HealthCheck.too_slow]
MESSAGES = from_agents()
KINDS = (
    *("agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update"),
    *("plan", "plan_update", "plan_removed", "usage_update", "session_info_update"),
    *("config_option_update", "available_commands_update", "current_mode_update"),
)
FIELDS = (
    *("content", "toolCallId", "status", "title", "kind", "rawInput", "rawOutput"),
    *("entries", "plan", "used", "size", "cost", "configOptions", "_meta", "name"),
    *("availableCommands", "currentModeId", "messageId", "locations"),
)
# Real messages with a value replaced by any JSON, so that types go wrong deep inside.
broken: st.SearchStrategy[Any] = st.builds(
    with_key,
    st.sampled_from(MESSAGES),
    st.sampled_from(["id", "method", "params", "result", "error"]),
    json_values,
)
broken_updates: st.SearchStrategy[Any] = st.builds(
    update_with,
    st.sampled_from(KINDS),
    st.dictionaries(st.sampled_from(FIELDS), json_values, max_size=5),
)
FIELD_KEYS = ("type", "title", "description", "oneOf", "enum", "items", "_meta", "const")
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "array", "object"])
form_fields: st.SearchStrategy[Any] = st.builds(
    field_with,
    st.dictionaries(st.sampled_from(FIELD_KEYS), json_values, max_size=4),
    TYPES | json_values,
)
forms: st.SearchStrategy[Any] = st.builds(
    form_with,
    st.dictionaries(st.sampled_from(["a", "a_custom", "b"]), form_fields | json_values),
    json_values,
)
messages: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(MESSAGES), broken, broken_updates, forms, json_values
)
ANSWERS = st.tuples(st.text(max_size=5)) | st.just(("Yes",))
commands: st.SearchStrategy[Command] = st.one_of(
    st.builds(Open, cwd=st.just("/x"), resume=st.sampled_from(["", "old"]), mode=st.just("plan")),
    st.builds(Prompt, st.integers(1, 4), st.text(max_size=5)),
    st.builds(Prompt, st.integers(1, 4), st.just("x"), st.just((Attachment("a/b", b""),))),
    st.builds(Cancel, st.integers(1, 4)),
    st.builds(Steer, st.integers(1, 4), st.text(max_size=5)),
    st.builds(
        AnswerPermission,
        request_id=st.sampled_from(["permission-1", "permission-2", "x"]),
        permit=st.sampled_from(Permit),
    ),
    st.builds(
        AnswerUser,
        request_id=st.sampled_from(["question-1", "question-2", "x"]),
        answers=st.none() | st.dictionaries(st.sampled_from(["a", "b"]), ANSWERS),
    ),
    st.builds(AnswerFile, request_id=st.sampled_from(["file-1", "x"]), text=st.text(max_size=5)),
    st.builds(
        Call,
        st.integers(1, 4),
        st.sampled_from(["list_sessions", "set_model", "set_mode", "fork", "raw:x", "y"]),
    ),
)


def count(facts: list[Fact]) -> int:
    return sum(isinstance(fact, TurnOver) for fact in facts)


@given(st.lists(st.one_of(messages, commands), max_size=30))
@settings(max_examples=200, deadline=None, suppress_health_check=SLOW)
def test_any_order_of_messages_and_commands_gives_at_most_one_outcome_per_prompt(
    steps: list[Any],
) -> None:
    wire = AcpWire(PROFILE, MAX_LINE)
    wire.command(Open(cwd="/x"))
    prompts = outcomes = 0
    for step in steps:
        if isinstance(step, Command):
            prompts += isinstance(step, Prompt)
            outcomes += count(wire.command(step))
        else:
            outcomes += count(wire.receive(line_of(step)))
        assert outcomes <= prompts
        for line in wire.data_to_send().splitlines():
            json.loads(line)
    wire.command(Close())
    assert wire.end_of_stream() == []


@given(st.binary(max_size=400))
@settings(max_examples=300, deadline=None, suppress_health_check=SLOW)
def test_any_bytes_are_survived(data: bytes) -> None:
    wire = in_turn(PROFILE)
    wire.receive(data)
    wire.end_of_stream()


@given(json_values)
@settings(deadline=None, suppress_health_check=SLOW)
def test_any_json_is_survived(value: object) -> None:
    wire = in_turn(PROFILE)
    wire.receive(line_of(value))


@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
def test_any_slicing_gives_the_same_facts(data: st.DataObject) -> None:
    chosen = data.draw(st.lists(messages, max_size=12))
    stream = b"".join(map(line_of, chosen)) + data.draw(st.binary(max_size=20))
    whole = in_turn(PROFILE)
    expected = [*whole.receive(stream), *whole.end_of_stream()]
    sliced = in_turn(PROFILE)
    found: list[Fact] = []
    while stream:
        size = data.draw(st.integers(1, max(len(stream), 1)))
        found += sliced.receive(stream[:size])
        stream = stream[size:]
    found += sliced.end_of_stream()
    assert found == expected
    assert sliced.data_to_send() == whole.data_to_send()


def test_recorded_bytes_one_by_one_give_the_same_facts() -> None:
    stream = b"".join(map(line_of, MESSAGES))
    whole, sliced = in_turn(PROFILE), in_turn(PROFILE)
    expected = whole.receive(stream)
    found = [fact for at in range(len(stream)) for fact in sliced.receive(stream[at : at + 1])]
    assert found == expected
