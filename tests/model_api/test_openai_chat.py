"""OpenAI's Chat Completions, as opencode and qwen-code speak it."""

import msgspec

from tests.model_api.client import events_of, json_of
from tests.model_api.questions import chat
from tests.model_api.recorded import Image, Json, ToolResult
from tests.model_api.script import Fail, Reply, Shell, Text, Thinking, Usage
from tests.model_api.server import open_model_api


async def spoken(*steps: Reply) -> list[Json]:
    """All chunks but the word that ends the stream."""
    question = chat()
    async with open_model_api(steps) as api:
        events = await events_of(api, question.path, question.body)
    assert events[-1].data == "[DONE]"
    return [event.data for event in events[:-1]]


def deltas(chunks: list[Json]) -> list[Json]:
    return [choice["delta"] for chunk in chunks for choice in chunk["choices"]]


async def test_thoughts_and_text_come_in_deltas_with_a_reason_at_the_end() -> None:
    chunks = await spoken([Thinking("hm"), Text("Hello there", chunks=2)])
    assert deltas(chunks) == [
        {"role": "assistant", "content": ""},
        {"reasoning_content": "hm"},
        {"content": "Hello "},
        {"content": "there"},
        {},
    ]
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"


async def test_parallel_calls_are_numbered() -> None:
    chunks = await spoken([Shell("echo a"), Shell("echo b", id="call_b")])
    calls = [call for delta in deltas(chunks) for call in delta.get("tool_calls", [])]
    assert [call["index"] for call in calls] == [0, 1]
    assert calls[1]["id"] == "call_b"
    assert msgspec.json.decode(calls[0]["function"]["arguments"]) == {"command": "echo a"}
    assert chunks[-2]["choices"][0]["finish_reason"] == "tool_calls"


async def test_usage_is_the_last_chunk() -> None:
    chunks = await spoken([Text("x"), Usage(input=100, output=20, cached=40, reasoning=5)])
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"] == {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 40},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }


async def test_failure_in_the_middle_is_a_chunk_and_the_last() -> None:
    question = chat()
    async with open_model_api([[Text("half"), Fail(500)]]) as api:
        events = await events_of(api, question.path, question.body)
    assert events[-1].data["error"]["type"] == "server_error"


async def test_answer_without_stream_is_one_completion() -> None:
    question = chat(stream=False)
    async with open_model_api([[Thinking("hm"), Text("so"), Shell("echo a")]]) as api:
        answer = await json_of(api, question.path, question.body)
    [choice] = answer["choices"]
    assert choice["message"]["content"] == "so"
    assert choice["message"]["reasoning_content"] == "hm"
    assert choice["message"]["tool_calls"][0]["function"]["name"] == "bash"


async def test_models_are_listed() -> None:
    async with open_model_api() as api:
        listed = await json_of(api, "/v1/models")
    assert listed["data"][0]["object"] == "model"


async def test_request_is_kept_in_neutral_words() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    question = chat(
        messages=[
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "look"}, picture]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "hi"},
            {"role": "assistant", "content": "It says hi."},
            {"role": "user", "content": "again"},
        ]
    )
    async with open_model_api() as api:
        await events_of(api, question.path, question.body)
    [request] = api.requests
    assert (request.system_prompt, request.tools) == ("Be brief.", ["bash"])
    assert (request.prompt, request.round) == ("again", 0)
    assert (request.user_texts, request.assistant_texts) == (["look", "again"], ["It says hi."])
    assert request.images == [Image("image/png", "AAAA")]
    assert request.tool_results == [ToolResult("c1", "hi")]
