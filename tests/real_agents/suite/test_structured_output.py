"""Structured output of the real agents: a value that fits the schema, or why there is none."""

from pathlib import Path

import msgspec
import pytest

from avatar_actors import Outcome
from tests.model_api.recorded import Json, ModelRequest
from tests.model_api.script import Reply, Text, ToolCall, by_prompt
from tests.real_agents.ability import Ability, Found
from tests.real_agents.conftest import Finds
from tests.real_agents.subject import Agent, RealSubject, open_subject

PERSON: Json = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
SCHEMA = msgspec.json.encode(PERSON).decode()
BOB = {"name": "Bob", "age": 42}
NOBODY = {"name": "Bob", "age": "old"}
# How Claude Code has the model give its answer when it got `--json-schema`.
ANSWER_TOOL = "StructuredOutput"
ATTEMPTS = 5


def as_json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def said(subject: RealSubject, prompt: str) -> str:
    """All that the model got for this prompt."""
    [request] = [each for each in subject.api.main_requests if prompt in each.prompt]
    return request.prompt


async def is_asked_with_a_prompt(subject: RealSubject) -> None:
    right = await subject.avatar.chat("right one", schema=PERSON)
    assert (right.outcome, right.data) == (Outcome.COMPLETED, BOB), right.error
    assert msgspec.json.decode(right.content) == BOB
    assert SCHEMA in said(subject, "right one")
    wrong = await subject.avatar.chat("wrong one", schema=PERSON)
    assert (wrong.outcome, wrong.data, wrong.content) == (Outcome.FAILED, None, as_json(NOBODY))
    assert "$.age" in wrong.error
    words = await subject.avatar.chat("only words", schema=PERSON)
    assert (words.outcome, words.data) == (Outcome.FAILED, None)
    assert (words.content, words.error) == ("I see.", "there is no JSON in the answer")
    free = await subject.avatar.chat("as you like")
    assert (free.outcome, free.data) == (Outcome.COMPLETED, None)
    assert SCHEMA not in said(subject, "as you like")


async def is_asked_of_every_answer(subject: RealSubject) -> None:
    for prompt in ("right one", "the right one again"):
        right = await subject.avatar.chat(prompt)
        assert (right.outcome, right.data) == (Outcome.COMPLETED, BOB), right.error
        assert any(SCHEMA in each.prompt for each in subject.api.main_requests)
    wrong = await subject.avatar.chat("wrong one")
    assert (wrong.outcome, wrong.content) == (Outcome.FAILED, as_json(NOBODY))


def in_the_tool(request: ModelRequest) -> Reply:
    """At first what does not fit; for a hopeless prompt never anything else."""
    is_wrong = request.round == 0 or "hopeless" in request.prompt
    return [ToolCall(ANSWER_TOOL, NOBODY if is_wrong else BOB)]


async def tries_again_until_it_fits(subject: RealSubject) -> None:
    answer = await subject.avatar.chat("describe Bob")
    assert (answer.outcome, answer.data) == (Outcome.COMPLETED, BOB), answer.error
    first, second = subject.api.main_requests
    [offered] = [tool for tool in first.offered if tool.name == ANSWER_TOOL]
    assert offered.parameters["properties"] == PERSON["properties"]
    assert SCHEMA not in first.prompt
    [refused] = second.tool_results
    assert refused.failed
    another = await subject.avatar.chat("describe Ann", schema=PERSON)
    assert another.outcome is Outcome.REJECTED
    assert "output_schema" in another.error
    assert len(subject.api.main_requests) == 2
    hopeless = await subject.avatar.chat("a hopeless one")
    assert (hopeless.outcome, hopeless.data) == (Outcome.FAILED, None)
    assert "/age: must be integer" in hopeless.error
    assert len(subject.api.main_requests) == 2 + ATTEMPTS


@pytest.mark.ability(Ability.STRUCTURED)
async def test_an_answer_fits_the_schema_or_has_failed(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    spoken = by_prompt(
        {
            "right one": [[Text(as_json(BOB))]],
            "wrong one": [[Text(as_json(NOBODY))]],
            "only words": [[Text("I see.")]],
        }
    )
    async with open_subject(agent, tmp_path, spoken) as subject:
        way = (await subject.avatar.capabilities()).structured_output
        await is_asked_with_a_prompt(subject)
    if way == "native":
        async with open_subject(agent, tmp_path, in_the_tool, output_schema=PERSON) as subject:
            await tries_again_until_it_fits(subject)
        finds(note=f"native: `output_schema` by its own flag; it tries up to {ATTEMPTS} times")
    else:
        assert way == "prompted"
        async with open_subject(agent, tmp_path, spoken, output_schema=PERSON) as subject:
            await is_asked_of_every_answer(subject)
        finds(Found.DIFFERS, "prompted: the schema goes with the prompt, the JSON is in the text")
