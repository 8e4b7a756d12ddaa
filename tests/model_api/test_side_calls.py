"""What an agent asks beside its main loop is answered with the least that fits."""

from typing import Any

import msgspec
import pytest

from tests.model_api.client import events_of, json_of
from tests.model_api.questions import chat, responses
from tests.model_api.recorded import Json
from tests.model_api.script import Text
from tests.model_api.server import open_model_api
from tests.model_api.side_calls import example

RISK: Json = {"type": "object", "properties": {"risk": {"enum": ["low", "high"]}}}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "none"),
        ({"type": ["integer", "null"]}, 1),
        ({"type": "NUMBER", "minimum": 0.5}, 0.5),
        ({"type": "array", "items": {}}, []),
        ({"anyOf": [{"type": "boolean"}, {"type": "null"}]}, False),
        (RISK, {"risk": "low"}),
    ],
)
def test_plainest_value_of_a_schema(schema: Json, value: Any) -> None:
    assert example(schema) == value


async def test_guardian_of_codex_hears_json() -> None:
    wanted = {"format": {"type": "json_schema", "name": "verdict", "schema": RISK}}
    question = responses(tools=[], text=wanted)
    async with open_model_api([[Text("one")]]) as api:
        events = await events_of(api, question.path, question.body)
    [item] = events[-1].data["response"]["output"]
    assert msgspec.json.decode(item["content"][0]["text"]) == {"risk": "low"}


async def test_schema_in_a_tools_clothes_is_called_and_no_main_request() -> None:
    function = {"name": "respond_in_schema", "parameters": RISK}
    question = chat(stream=False, tools=[{"type": "function", "function": function}])
    async with open_model_api([[Text("one")]]) as api:
        answer = await json_of(api, question.path, question.body)
    [call] = answer["choices"][0]["message"]["tool_calls"]
    assert msgspec.json.decode(call["function"]["arguments"]) == {"risk": "low"}
    assert api.main_requests == []
