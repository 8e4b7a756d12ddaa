"""Structured output, pure: which schemas are taken, and which JSON of an answer is meant."""

import json
import subprocess
import sys
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from avatar_actors.avatar.structured_output import answer_in, check_schema, instruction
from avatar_actors.model.errors import SettingsError
from avatar_actors.programs import schema_check
from avatar_actors.programs.schema_check import find, why_not

PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["name", "n"],
    "additionalProperties": False,
}
BOB = {"name": "bob", "n": 3}
BOB_TEXT = '{"name": "bob", "n": 3}'


@pytest.mark.parametrize(
    "text",
    [
        BOB_TEXT,
        f"\n  {BOB_TEXT}\n",
        f"```json\n{BOB_TEXT}\n```",
        f"Here you are:\n\n```\n{BOB_TEXT}\n```\nAnything else?",
        f"The answer is {BOB_TEXT}.",
        f'First {{"name": 1}} was wrong, so {BOB_TEXT} it is.',
        f"```python\nprint([1, 2])\n```\n\n```json\n{BOB_TEXT}\n```",
        f"I use {{braces}} and [brackets] {{{{ a lot: {BOB_TEXT}",
    ],
)
def test_the_json_of_an_answer_is_found(text: str) -> None:
    assert find(text, PERSON)[0] == BOB


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "there is no JSON in the answer"),
        ("I would rather not.", "there is no JSON in the answer"),
        ('{"name": "bob", "n": 3', "there is no JSON in the answer"),
        ('{"name": "bob", "n": NaN}', "there is no JSON in the answer"),
        ('{"name": "bob", "n": "x"}', "does not fit the schema: $.n: 'x' is not of type 'integer'"),
        ('{"name": "bob"}', "does not fit the schema: $: 'n' is a required property"),
        ("[1, 2]", "does not fit the schema: $: [1, 2] is not of type 'object'"),
        (f'[{BOB_TEXT[:-1]}, "x": 1}}]', "is not of type 'object'"),
    ],
)
def test_what_is_wrong_with_an_answer_is_said_with_its_place(text: str, fault: str) -> None:
    data, why = find(text, PERSON)
    assert data is None
    assert fault in why


def test_a_fault_in_a_huge_answer_is_told_in_a_few_words() -> None:
    assert len(find(f'"{"x" * 100_000}"', PERSON)[1]) <= 300


@pytest.mark.parametrize("text", ["[" * 100_000, "{" * 100_000, '{"a":' * 50_000, "[{" * 60_000])
def test_hostile_brackets_are_no_answer_and_no_crash(text: str) -> None:
    assert find(text, PERSON)[1] == "there is no JSON in the answer"


def test_null_can_be_what_was_asked_for() -> None:
    assert find("null", {"type": "null"})[1] == ""


def test_the_empty_schema_takes_any_json_and_nothing_else() -> None:
    assert find("[1]", {})[0] == [1]
    assert find("no", {})[1]


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_any_json_is_found_in_a_fence(value: object) -> None:
    assert find(f"So:\n```json\n{json.dumps(value)}\n```", {})[0] == value


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "objekt"}, "no JSON Schema: $.type"),
        ({"properties": 5}, "no JSON Schema: $.properties"),
        ({"$ref": "#/$defs/nothing"}, "refers to '#/$defs/nothing', which is not in it"),
        ({"$ref": "#name"}, "refers to '#name', which is not in it"),
        ({"anyOf": [{"$ref": "#/anyOf/2"}]}, "refers to '#/anyOf/2'"),
        ({"items": {"$ref": "https://example.com/a.json"}}, "refers to 'https://example.com"),
        ({"const": {1, 2}.__class__}, "no JSON Schema"),
    ],
)
def test_a_bad_schema_is_the_hosts_error(schema: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError) as raised:
        check_schema(schema)
    assert words in str(raised.value)


def test_references_within_the_schema_are_followed() -> None:
    schema = {"$defs": {"n": {"type": "integer"}}, "type": "array", "items": {"$ref": "#/$defs/n"}}
    check_schema(schema)
    assert why_not([1, 2], schema) == ""
    assert "$[1]" in why_not([1, "x"], schema)
    named = {"$defs": {"a/b": {"$anchor": "n", "type": "integer"}}, "anyOf": [{"$ref": "#n"}]}
    check_schema({**named, "items": {"$ref": "#/$defs/a~1b"}, "not": {"$ref": "#/anyOf/0"}})
    assert why_not("x", named)


def test_the_instruction_holds_the_schema() -> None:
    assert '"required":["name","n"]' in instruction(PERSON)


def test_jsonschema_is_imported_only_by_who_needs_it() -> None:
    code = (
        "import sys; import avatar_actors; avatar_actors.open_avatar; avatar_actors.BridgeResponse;"
        "import avatar_actors.avatar.structured_output;"
        "assert 'jsonschema' not in sys.modules and 'referencing' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


async def test_many_small_objects_are_checked_where_they_hold_up_nobody() -> None:
    answer = "[" + ",".join(["{}"] * 5000) + "]"
    with trio.CancelScope() as scope:
        scope.cancel()
        # Here it would not even see that it is cancelled.
        await answer_in(answer, {"items": {"type": "object"}})
    assert scope.cancelled_caught


def test_the_check_finds_its_libraries_where_the_host_has_them() -> None:
    # Without `site` it knows of no installed package by itself.
    command = [sys.executable, "-I", "-S", schema_check.__file__]
    asked = {"value": 1, "schema": {"type": "integer"}, "path": sys.path}
    done = subprocess.run(
        command, input=json.dumps(asked).encode(), capture_output=True, check=True
    )
    assert json.loads(done.stdout) == {"data": 1, "fault": ""}
