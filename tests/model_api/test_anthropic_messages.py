"""Anthropic's Messages, as Claude Code speaks it."""

import msgspec

from tests.model_api.client import Event, events_of, json_of
from tests.model_api.questions import anthropic
from tests.model_api.recorded import Image, ToolResult
from tests.model_api.script import (
    OVERLOADED,
    Fail,
    Reply,
    Script,
    Shell,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from tests.model_api.server import open_model_api


async def spoken(*steps: Reply) -> list[Event]:
    question = anthropic()
    async with open_model_api(steps) as api:
        return await events_of(api, question.path, question.body)


def kinds(events: list[Event]) -> list[str]:
    assert all(event.name == event.data["type"] for event in events)
    return [event.name.removeprefix("content_block_") for event in events]


async def test_text_comes_in_deltas_of_one_block() -> None:
    events = await spoken([Text("Hello there", chunks=2)])
    assert kinds(events) == [
        "message_start", "ping", "start", "delta", "delta", "stop", "message_delta", "message_stop",
    ]  # fmt: skip
    deltas = [event.data["delta"] for event in events[3:5]]
    assert deltas == [
        {"type": "text_delta", "text": "Hello "},
        {"type": "text_delta", "text": "there"},
    ]
    assert events[-2].data["delta"]["stop_reason"] == "end_turn"


async def test_thinking_is_signed_before_its_block_ends() -> None:
    events = await spoken([Thinking("hm"), Text("so")])
    deltas = [event.data["delta"]["type"] for event in events if event.name.endswith("block_delta")]
    assert deltas == ["thinking_delta", "signature_delta", "text_delta"]


async def test_parallel_calls_are_blocks_of_their_own() -> None:
    events = await spoken([Shell("echo a"), Shell("echo b", id="toolu_b")])
    starts = [event.data["content_block"] for event in events if event.name.endswith("block_start")]
    given = [event.data["delta"] for event in events if event.name.endswith("block_delta")]
    assert [(start["type"], start["name"], start["input"]) for start in starts] == [
        ("tool_use", "Bash", {})
    ] * 2
    assert starts[1]["id"] == "toolu_b"
    assert [msgspec.json.decode(delta["partial_json"]) for delta in given] == [
        {"command": "echo a"},
        {"command": "echo b"},
    ]
    assert events[-2].data["delta"]["stop_reason"] == "tool_use"


async def test_cached_tokens_are_counted_apart() -> None:
    events = await spoken([Text("x"), Usage(input=100, output=7, cached=40)])
    usage = events[-2].data["usage"]
    assert (usage["input_tokens"], usage["cache_read_input_tokens"]) == (60, 40)
    assert usage["output_tokens"] == 7
    assert events[0].data["message"]["usage"]["output_tokens"] == 1


async def test_failure_in_the_middle_is_an_event_and_the_last() -> None:
    events = await spoken([Text("half"), Fail(OVERLOADED)])
    assert events[-1] == Event(
        "error",
        {"type": "error", "error": {"type": "overloaded_error", "message": "scripted failure"}},
    )


async def test_answer_without_stream_is_one_message() -> None:
    question = anthropic(stream=False)
    script: Script = [
        [Thinking("hm"), Text("so"), ToolCall("Bash", {"command": "x"}, id="toolu_1")]
    ]
    async with open_model_api(script) as api:
        message = await json_of(api, question.path, question.body)
    assert [block["type"] for block in message["content"]] == ["thinking", "text", "tool_use"]
    assert message["stop_reason"] == "tool_use"
    assert message["model"] == "claude"


async def test_tokens_are_counted_and_no_call_of_the_model() -> None:
    question = anthropic()
    async with open_model_api() as api:
        counted = await json_of(api, "/v1/messages/count_tokens?beta=true", question.body)
    assert counted["input_tokens"] > 0
    assert api.requests == []


async def test_request_is_kept_in_neutral_words() -> None:
    picture = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    result = {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "no"}
    question = anthropic(
        system=[{"type": "text", "text": "Be brief."}],
        messages=[
            {"role": "user", "content": [{"type": "text", "text": "<system-reminder>"}]},
            {"role": "user", "content": "look"},
            {"role": "user", "content": [{"type": "image", "source": picture}]},
            {"role": "system", "content": "And kind."},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Bash"}]},
            {"role": "user", "content": [result]},
        ],
    )
    async with open_model_api() as api:
        await events_of(api, question.path, question.body)
    [request] = api.requests
    assert request.system_prompt == "Be brief.\nAnd kind."
    assert (request.model, request.tools, request.prompt) == ("claude", ["Bash"], "look")
    assert request.round == 1
    assert request.images == [Image("image/png", "AAAA")]
    assert request.tool_results == [ToolResult("t1", "no", failed=True)]
