"""Every message that the ACP agents send is one of the protocol's schema, by every variant."""

from collections.abc import Callable
from typing import TypeAlias

import pytest
from acp import schema
from pydantic import BaseModel

from avatar_actors.programs.embedded.json_lines import Record, record_in, text_in
from tests.programs.embedded.driver import (
    Acp,
    Place,
    Steps,
    is_request,
    open_acp,
    open_session,
    text_of,
    updates,
)

VARIANTS = ("plain", "gemini", "codex-zed", "codex-acp")
ALLOWING = {"plain": "allow", "gemini": "proceed_once", "codex-zed": "approved"}
EVERYTHING: Steps = [
    {"think": "**Subject**\nhm"},
    {"say": "hello world", "chunks": 3},
    {"tool": "Read", "input": {"path": "x"}, "result": "abc"},
    {"tool": "Bash", "input": {"command": "echo A; exit 3"}, "run": True},
    {"parallel": [{"tool": "Search", "seconds": 0.01}, {"tool": "Bash", "result": "B"}]},
    {"plan": ["one", {"content": "two", "status": "completed"}]},
    {"usage": {"input": 5, "output": 7, "cached": 1, "thought": 2}, "cost": 0.25},
]


def valid(model: type[BaseModel], value: object) -> None:
    model.model_validate(value)


def check_updates(messages: list[Record]) -> None:
    for message in messages:
        if message.get("method") == "session/update":
            valid(schema.SessionNotification, message["params"])
        elif message.get("method") == "session/request_permission":
            valid(schema.RequestPermissionRequest, message["params"])


@pytest.mark.parametrize("variant", VARIANTS)
async def test_the_opening_is_valid(place: Place, variant: str) -> None:
    async with open_acp(place, variant=variant) as agent:
        valid(schema.InitializeResponse, (await agent.initialize())["result"])
        messages = await agent.call("session/new", agent.session_params())
        valid(schema.NewSessionResponse, messages[-1]["result"])
        check_updates([*messages, await agent.message()])


@pytest.mark.parametrize("variant", VARIANTS)
async def test_a_turn_with_everything_is_valid(place: Place, variant: str) -> None:
    async with open_session(place, variant=variant) as agent:
        messages = await agent.prompt(EVERYTHING)
        check_updates(messages)
        valid(schema.PromptResponse, messages[-1]["result"])
        assert text_of(messages) == "hello world"
        kinds = {text_in(update, "sessionUpdate") for update in updates(messages)}
        assert kinds >= {"agent_thought_chunk", "tool_call", "tool_call_update", "plan"}


@pytest.mark.parametrize("variant", VARIANTS)
async def test_a_permission_is_valid_and_its_answer_is_said(place: Place, variant: str) -> None:
    async with open_session(place, variant=variant) as agent:
        request = await agent.begin([{"ask": "Write", "input": {"path": "y"}}])
        messages = await agent.until(is_request("session/request_permission"))
        check_updates(messages)
        await agent.choose(messages[-1], ALLOWING.get(variant, "allow_once"))
        rest = await agent.until(lambda message: message.get("id") == request)
        check_updates(rest)
        assert text_of(rest) == "[allowed]"


@pytest.mark.parametrize("variant", VARIANTS)
async def test_a_replayed_session_is_valid(place: Place, variant: str) -> None:
    async with open_session(place, variant=variant) as agent:
        await agent.prompt([{"say": "kept"}])
        params = agent.session_params(sessionId=agent.session)
        messages = await agent.call("session/load", params)
        check_updates(messages)
        valid(schema.LoadSessionResponse, messages[-1]["result"])
        assert text_of(messages) == "kept"


@pytest.mark.parametrize("variant", ["plain", "codex-zed", "codex-acp"])
async def test_lists_and_options_are_valid(place: Place, variant: str) -> None:
    async with open_session(place, variant=variant) as agent:
        await agent.prompt([{"say": "x"}])
        listed = (await agent.call("session/list", {}))[-1]
        valid(schema.ListSessionsResponse, listed["result"])
        mode = await some_mode(agent)
        params: Record = {"sessionId": agent.session, "configId": "mode", "value": mode}
        messages = await agent.call("session/set_config_option", params)
        check_updates(messages)
        valid(schema.SetSessionConfigOptionResponse, messages[-1]["result"])


async def some_mode(agent: Acp) -> str:
    modes = record_in(await agent.new(), "modes")
    return text_in(modes, "currentModeId")


FILE_REQUESTS: list[tuple[str, Steps, type[BaseModel], Record]] = [
    (
        "fs/read_text_file",
        [{"read": "a.txt"}],
        schema.ReadTextFileRequest,
        {"content": "from the client"},
    ),
    ("fs/write_text_file", [{"write": "a.txt", "text": "t"}], schema.WriteTextFileRequest, {}),
]


@pytest.mark.parametrize(("method", "steps", "model", "result"), FILE_REQUESTS)
async def test_files_go_through_a_client_that_offers_it(
    place: Place, method: str, steps: Steps, model: type[BaseModel], result: Record
) -> None:
    async with open_acp(place) as agent:
        await agent.initialize(fs={"readTextFile": True, "writeTextFile": True})
        await agent.new()
        prompt = await agent.begin(steps)
        request = (await agent.until(is_request(method)))[-1]
        valid(model, request["params"])
        await agent.send({"jsonrpc": "2.0", "id": request["id"], "result": result})
        rest = await agent.until(lambda message: message.get("id") == prompt)
        assert text_of(rest) == result.get("content", "[written]")
        assert not (place.cwd / "a.txt").exists()


Check: TypeAlias = Callable[[Record], bool]
QUIRKS: list[tuple[str, Check]] = [
    ("plain", lambda result: "usage" in result and "_meta" not in result),
    ("gemini", lambda result: "usage" not in result and "quota" in record_in(result, "_meta")),
    ("codex-zed", lambda result: set(result) == {"stopReason"}),
    ("codex-acp", lambda result: "usage" in result and "quota" in record_in(result, "_meta")),
]


@pytest.mark.parametrize(("variant", "check"), QUIRKS)
async def test_each_variant_tells_usage_its_own_way(
    place: Place, variant: str, check: Check
) -> None:
    async with open_session(place, variant=variant) as agent:
        answer = (await agent.prompt([{"usage": {"input": 1, "output": 2}, "cost": 0.5}]))[-1]
        assert check(record_in(answer, "result"))
