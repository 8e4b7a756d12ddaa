"""Words: text, thoughts, tokens and money, the model and the system prompt."""

import time
from pathlib import Path

import pytest

from avatar_actors import CostEvent, Outcome, TextEvent, ThinkingEvent
from tests.model_api.script import Script, Text, Thinking, Usage
from tests.real_agents.ability import Ability, Found
from tests.real_agents.conftest import Finds
from tests.real_agents.subject import Agent, open_subject


@pytest.mark.ability(Ability.START)
async def test_it_starts_and_says_what_it_is(agent: Agent, finds: Finds, tmp_path: Path) -> None:
    began = time.perf_counter()
    async with open_subject(agent, tmp_path) as subject:
        started = time.perf_counter() - began
        capabilities = await subject.avatar.capabilities()
        assert capabilities.agent
        assert capabilities.version == agent.installed.version
        async with subject.avatar.turn("hello") as turn:
            asked = time.perf_counter()
            async for event in turn:
                if isinstance(event, TextEvent):
                    break
            first = time.perf_counter() - asked
    finds(seconds={"start": started, "first event": first})


@pytest.mark.ability(Ability.TEXT)
async def test_text_comes_in_pieces_and_is_whole_at_the_end(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    words = "One two three, Příliš žluťoučký kůň 🐎."
    async with open_subject(agent, tmp_path, [[Text(words, chunks=4)]]) as subject:
        answer = await subject.avatar.chat("speak")
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, words)
        capabilities = await subject.avatar.capabilities()
    pieces = subject.recorder.all(TextEvent)
    assert capabilities.streaming == (len(pieces) > 1)
    if capabilities.streaming:
        finds()
    else:
        finds(Found.DIFFERS, "in one piece")


@pytest.mark.ability(Ability.THINKING)
async def test_a_thought_is_not_in_the_text(agent: Agent, finds: Finds, tmp_path: Path) -> None:
    script: Script = [[Thinking("**Weighing** this and that"), Text("Decided.")]]
    async with open_subject(agent, tmp_path, script) as subject:
        answer = await subject.avatar.chat("think")
        assert answer.content == "Decided."
    thoughts = [event for event in subject.recorder.all(ThinkingEvent) if not event.synthetic]
    if "this and that" in "".join(event.thought for event in thoughts):
        finds()
    else:
        finds(Found.NOT_OFFERED, "it shows no thoughts")


@pytest.mark.ability(Ability.USAGE)
async def test_tokens_are_those_of_the_model(agent: Agent, finds: Finds, tmp_path: Path) -> None:
    script: Script = [[Text("counted"), Usage(input=123, output=45, cached=20)]]
    async with open_subject(agent, tmp_path, script) as subject:
        answer = await subject.avatar.chat("count")
    if not subject.recorder.all(CostEvent):
        finds(Found.NOT_OFFERED, "it tells no tokens")
        return
    usage = answer.usage
    assert (usage.input_tokens + usage.cached_tokens, usage.output_tokens) in {(123, 45), (143, 45)}
    finds()
