"""OpenAI's Responses, as Codex speaks it."""

import msgspec

from tests.model_api.client import Event, events_of, json_of, open_client
from tests.model_api.questions import SHELL, responses
from tests.model_api.recorded import Image, ToolResult
from tests.model_api.script import OVERLOADED, Fail, Mcp, Reply, Shell, Text, Thinking, Usage
from tests.model_api.server import open_model_api


async def spoken(*steps: Reply) -> list[Event]:
    question = responses()
    async with open_model_api(steps) as api:
        return await events_of(api, question.path, question.body)


def kinds(events: list[Event]) -> list[str]:
    assert all(event.name == event.data["type"] for event in events)
    return [event.name.removeprefix("response.") for event in events]


async def test_text_is_one_message_that_is_announced_told_and_done() -> None:
    events = await spoken([Text("Hello "), Text("there")])
    assert kinds(events) == [
        "created",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_item.done",
        "completed",
    ]
    assert events[-2].data["item"]["content"][0]["text"] == "Hello there"
    assert events[-1].data["response"]["output"] == [events[-2].data["item"]]


async def test_thinking_is_an_item_before_the_message() -> None:
    events = await spoken([Thinking("hm hm", chunks=2), Text("so")])
    assert kinds(events)[1:6] == [
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.delta",
        "output_item.done",
    ]
    assert [item["type"] for item in events[-1].data["response"]["output"]] == [
        "reasoning",
        "message",
    ]
    assert [event.data["output_index"] for event in events[1:-1]] == [0] * 5 + [1] * 4


async def test_parallel_calls_are_items_with_ids_of_their_own() -> None:
    events = await spoken([Text("run"), Shell("echo a"), Shell("echo b", id="call_b")])
    _, first, second = events[-1].data["response"]["output"]
    assert (first["type"], first["name"]) == ("function_call", "shell_command")
    assert msgspec.json.decode(first["arguments"]) == {"command": "echo a"}
    assert second["call_id"] == "call_b" != first["call_id"]


async def test_server_of_tools_is_called_in_its_namespace() -> None:
    events = await spoken([Mcp("files", "list", {"all": True})])
    [call] = events[-1].data["response"]["output"]
    assert (call["namespace"], call["name"]) == ("mcp__files", "list")


async def test_usage_comes_with_the_end() -> None:
    events = await spoken([Text("x"), Usage(input=100, output=20, cached=40, reasoning=5)])
    assert events[-1].data["response"]["usage"] == {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 40},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 5},
        "total_tokens": 120,
    }


async def test_failure_in_the_middle_fails_the_response() -> None:
    events = await spoken([Text("half"), Fail(OVERLOADED)])
    assert kinds(events)[-1] == "failed"
    assert events[-1].data["response"]["error"]["code"] == "server_is_overloaded"


async def test_answer_without_stream_is_one_response() -> None:
    question = responses(stream=False)
    async with open_model_api([[Text("so")]]) as api:
        answer = await json_of(api, question.path, question.body)
    assert answer["output"][0]["content"][0]["text"] == "so"
    assert answer["status"] == "completed"


async def test_web_socket_is_refused_and_plain_requests_go_on() -> None:
    question = responses()
    async with open_model_api() as api:
        async with open_client(api) as client:
            head = await client.ask(question.path, connection="upgrade", upgrade="websocket")
            assert head.status_code == 426
        assert await events_of(api, question.path, question.body)


async def test_request_is_kept_in_neutral_words() -> None:
    developer = [{"type": "input_text", "text": "And kind."}]
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    server = {"type": "function", "name": "list", "parameters": SHELL}
    question = responses(
        instructions="Be brief.",
        tools=[
            {"type": "custom", "name": "apply_patch"},
            {"type": "namespace", "name": "mcp__files", "tools": [server]},
            {"type": "web_search"},
        ],
        input=[
            {"type": "message", "role": "developer", "content": developer},
            {"type": "message", "role": "user", "content": [{"text": "look"}, picture]},
            {"type": "reasoning", "content": None},
            {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "hi"},
        ],
    )
    async with open_model_api() as api:
        await events_of(api, question.path, question.body)
    [request] = api.requests
    assert request.system_prompt == "Be brief.\nAnd kind."
    assert request.tools == ["apply_patch", "mcp__files.list", "web_search"]
    assert (request.prompt, request.round) == ("look", 1)
    assert request.images == [Image("image/png", "AAAA")]
    assert request.tool_results == [ToolResult("c1", "hi")]
