"""Structured output, context and attachments, with real agents of every agent."""

from pathlib import Path
from typing import Any

import pytest

from avatar_actors import (
    Attachment,
    Outcome,
    SettingsError,
    TextEvent,
    TurnStartedEvent,
    WhileBusy,
)
from tests.runtime.home import Home, script, until
from tests.thorough import for_conformance

PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["name", "n"],
}
BOB = {"name": "bob", "n": 3}
AGENTS = [
    "acp",
    *(pytest.param(name, marks=for_conformance) for name in ("claude", "gemini-headless")),
]


@pytest.mark.parametrize("agent", AGENTS)
async def test_a_schema_with_the_prompt_gives_the_object(home: Home, agent: str) -> None:
    async with home.avatar(agent=agent) as aria:
        answer = await aria.chat(script({"data": BOB}), schema=PERSON)
        assert (answer.outcome, answer.data) == (Outcome.COMPLETED, BOB)
        plain = await aria.chat(script({"data": BOB}))
        assert (plain.success, plain.data) == (True, None)


@pytest.mark.parametrize("agent", AGENTS)
async def test_a_schema_of_the_avatar_holds_for_every_answer(home: Home, agent: str) -> None:
    async with home.avatar(agent=agent, output_schema=PERSON) as aria:
        for n in (1, 2):
            answer = await aria.chat(script({"data": {"name": "bob", "n": n}}))
            assert answer.data == {"name": "bob", "n": n}
        bad = await aria.chat(script({"data": {"name": "bob", "n": "x"}}))
        assert (bad.outcome, bad.data) == (Outcome.FAILED, None)
        assert "$.n: 'x' is not of type 'integer'" in bad.error
        assert '"bob"' in bad.content


@pytest.mark.parametrize("agent", AGENTS)
async def test_an_answer_without_the_object_has_failed_and_keeps_its_text(
    home: Home, agent: str
) -> None:
    async with home.avatar(agent=agent, output_schema=PERSON) as aria:
        answer = await aria.chat(script({"say": "I would rather talk."}))
        assert (answer.outcome, answer.data) == (Outcome.FAILED, None)
        assert answer.error == "there is no JSON in the answer"
        assert answer.content == "I would rather talk."


@pytest.mark.parametrize(("agent", "way"), [("claude", "native"), ("acp", "prompted")])
async def test_the_agent_is_told_by_its_own_flag_or_with_the_prompt(
    home: Home, agent: str, way: str
) -> None:
    async with home.avatar(agent=agent, output_schema={}) as aria:
        assert (await aria.capabilities()).structured_output == way
        argv = (await aria.chat(script({"echo": "argv"}))).content
        prompt = (await aria.chat(script({"echo": "prompt"}))).content
        assert ("--json-schema" in argv) is (way == "native")
        assert ("<output_format>" in prompt) is (way == "prompted")


async def test_a_bad_schema_is_refused_before_anything_is_started_or_sent(home: Home) -> None:
    with pytest.raises(SettingsError, match="no JSON Schema"):
        async with home.avatar(output_schema={"type": "nonsense"}):
            pass
    async with home.avatar() as aria:
        with pytest.raises(SettingsError, match="no JSON Schema"):
            await aria.chat("2+2", schema={"type": "nonsense"})
        assert await aria.history() == ()


async def test_a_second_schema_for_an_agent_that_has_one_by_its_flag_is_rejected(
    home: Home,
) -> None:
    async with home.avatar(agent="claude", output_schema=PERSON) as aria:
        answer = await aria.chat(script({"data": BOB}), schema={"type": "integer"})
        assert answer.outcome is Outcome.REJECTED
        assert "output_schema" in answer.error


async def test_a_schema_cannot_be_said_into_a_running_turn(home: Home) -> None:
    async with (
        home.avatar(agent="claude") as aria,
        aria.turn(script({"say": "x"}, {"wait": 60})) as turn,
    ):
        await until(turn, TextEvent)
        answer = await aria.chat("now", schema=PERSON, while_busy=WhileBusy.STEER)
        assert answer.outcome is Outcome.REJECTED
        assert "schema" in answer.error


@pytest.mark.parametrize("agent", AGENTS)
async def test_the_context_goes_to_the_agent_and_not_into_the_history(
    home: Home, agent: str
) -> None:
    prompt = script({"echo": "prompt"})
    async with home.avatar(agent=agent) as aria:
        async with aria.turn(prompt, context={"file": "a.py"}) as turn:
            started = await until(turn, TurnStartedEvent)
            answer = await turn.wait()
        assert answer.content.startswith('<context>\n{"file":"a.py"}\n</context>\n\n')
        assert started.prompt == prompt
        assert (await aria.history())[0].content == prompt
        assert "<context>" not in (await aria.chat(prompt)).content


async def test_what_an_agent_does_not_take_is_refused_with_what_it_takes(
    home: Home, tmp_path: Path
) -> None:
    (tmp_path / "voice.mp3").write_bytes(b"ID3")
    voice = Attachment.from_file(tmp_path / "voice.mp3")
    async with home.avatar(agent="claude") as aria:
        answer = await aria.chat("listen", attachments=[voice])
        assert answer.outcome is Outcome.REJECTED
        for word in ("audio/mpeg", "image/png", "pdf", "text"):
            assert word in answer.error


async def test_tool_calls_are_part_of_the_answer(home: Home) -> None:
    good = {"tool": "Read", "id": "r", "input": {"path": "a"}, "result": "text of a"}
    bad = {"tool": "Bash", "id": "b", "error": "no such command"}
    async with home.avatar() as aria:
        answer = await aria.chat(script(good, bad, {"say": "done"}))
        assert answer
        read, bash = answer.tool_calls
        assert (read.tool_id, read.status.value) == ("r", "completed")
        assert read.parameters == {"path": "a"}
        assert "text of a" in read.result
        assert (bash.tool_id, bash.status.value) == ("b", "failed")
        assert (await aria.chat("2+2")).tool_calls != answer.tool_calls
