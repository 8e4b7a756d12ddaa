"""Gemini's generateContent, as Gemini CLI speaks it."""

import msgspec

from tests.model_api.client import events_of, json_of
from tests.model_api.questions import gemini
from tests.model_api.recorded import Image, Json, ToolResult
from tests.model_api.script import Fail, Reply, Shell, Text, Thinking, Usage
from tests.model_api.server import open_model_api

CLASSIFIER: Json = {
    "type": "OBJECT",
    "properties": {
        "complexity_reasoning": {"type": "STRING"},
        "complexity_score": {"type": "INTEGER"},
        "next_speaker": {"type": "STRING", "enum": ["user", "model"]},
    },
}


async def spoken(*steps: Reply) -> list[Json]:
    question = gemini()
    async with open_model_api(steps) as api:
        events = await events_of(api, question.path, question.body)
    assert {event.name for event in events} == {""}
    return [event.data for event in events]


def parts(chunks: list[Json]) -> list[Json]:
    return [part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]


async def test_text_and_thoughts_come_in_parts_and_the_last_says_stop() -> None:
    chunks = await spoken([Thinking("hm"), Text("Hello there", chunks=2)])
    assert parts(chunks) == [
        {"text": "hm", "thought": True},
        {"text": "Hello "},
        {"text": "there"},
        {"text": ""},
    ]
    reasons = [chunk["candidates"][0].get("finishReason") for chunk in chunks]
    assert reasons == [None, None, None, "STOP"]


async def test_parallel_calls_follow_each_other_in_one_answer() -> None:
    chunks = await spoken([Shell("echo a"), Shell("echo b", id="b")])
    name = "run_shell_command"
    assert parts(chunks)[:2] == [
        {"functionCall": {"name": name, "args": {"command": "echo a"}}},
        {"functionCall": {"name": name, "args": {"command": "echo b"}, "id": "b"}},
    ]


async def test_thoughts_are_counted_apart() -> None:
    chunks = await spoken([Text("x"), Usage(input=100, output=20, cached=40, reasoning=5)])
    assert chunks[-1]["usageMetadata"] == {
        "promptTokenCount": 100,
        "candidatesTokenCount": 15,
        "thoughtsTokenCount": 5,
        "cachedContentTokenCount": 40,
        "totalTokenCount": 120,
    }


async def test_failure_in_the_middle_is_a_chunk_and_the_last() -> None:
    chunks = await spoken([Text("half"), Fail(429)])
    assert chunks[-1]["error"]["status"] == "RESOURCE_EXHAUSTED"


async def test_classifier_gets_what_fits_its_schema_and_leaves_the_script() -> None:
    question = gemini()
    wanted = {"responseMimeType": "application/json", "responseSchema": CLASSIFIER}
    asked: Json = {"contents": question.body["contents"], "generationConfig": wanted}
    async with open_model_api([[Text("the first")]]) as api:
        answer = await json_of(api, "/v1beta/models/flash-lite:generateContent", asked)
        events = await events_of(api, question.path, question.body)
    assert msgspec.json.decode(parts([answer])[0]["text"]) == {
        "complexity_reasoning": "none",
        "complexity_score": 1,
        "next_speaker": "user",
    }
    assert parts([events[0].data]) == [{"text": "the first"}]
    assert [request.is_main for request in api.requests] == [False, True]


async def test_tokens_are_counted_and_no_call_of_the_model() -> None:
    async with open_model_api() as api:
        counted = await json_of(api, "/v1beta/models/gemini:countTokens", gemini().body)
    assert counted["totalTokens"] > 0
    assert api.requests == []


async def test_request_is_kept_in_neutral_words() -> None:
    failed = {"id": "c1", "name": "run_shell_command", "response": {"error": "no"}}
    fine = {"name": "run_shell_command", "response": {"output": "yes"}}
    call = {"name": "run_shell_command", "args": {"command": "ls"}}
    picture = {"mimeType": "image/png", "data": "AAAA"}
    question = gemini(
        systemInstruction={"role": "user", "parts": [{"text": "Be brief."}]},
        contents=[
            {"role": "user", "parts": [{"text": "<session_context>"}]},
            {"role": "user", "parts": [{"text": "look"}, {"inlineData": picture}]},
            {"role": "model", "parts": [{"text": "hm", "thought": True}, {"functionCall": call}]},
            {"role": "user", "parts": [{"functionResponse": failed}, {"functionResponse": fine}]},
        ],
    )
    async with open_model_api() as api:
        await events_of(api, question.path, question.body)
    [request] = api.requests
    assert (request.system_prompt, request.model) == ("Be brief.", "gemini")
    assert (request.prompt, request.round) == ("look", 1)
    assert request.images == [Image("image/png", "AAAA")]
    assert request.tool_results == [ToolResult("c1", "no", failed=True), ToolResult("", "yes")]
