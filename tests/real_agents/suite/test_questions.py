"""Questions of the model to its user: answered by a function, or declined as nobody is there."""

from pathlib import Path

import pytest
import trio

from avatar_actors import (
    Avatar,
    GivenAnswers,
    Outcome,
    QuestionClosedEvent,
    QuestionEvent,
    open_avatar,
)
from tests.conformance.remains import leaving_nothing
from tests.model_api.recorded import ModelRequest
from tests.model_api.script import AskUser, Reply, Text
from tests.model_api.server import open_model_api
from tests.model_api.tool_names import ASKERS
from tests.real_agents.ability import Ability, Found
from tests.real_agents.conftest import Finds
from tests.real_agents.subject import PATIENCE, Agent, lay_out, open_subject, options_of

QUESTION = "Which colour shall it be?"
ASK: Reply = [AskUser(QUESTION, ("red", "blue"))]
SCRIPT: list[Reply] = [ASK, ASK, [Text("Well then.")]]

# The others have no tool for it, or do not offer it to a client of ACP.
ASK_THE_USER = {"claude", "claude-agent-acp", "codex-acp"}


async def get_ready_to_ask(agent: Agent, avatar: Avatar) -> str:
    """Codex asks only in its collaboration mode "plan"; a note for the matrix."""
    if agent.name != "codex-acp":
        return ""
    session_id = (await avatar.health()).session_id
    plan = {"sessionId": session_id, "configId": "collaboration_mode", "value": "plan"}
    await avatar.call("raw:session/set_config_option", plan)
    return "only in its collaboration mode `plan`"


def ask_if_offered(request: ModelRequest) -> Reply:
    """codex-zed 0.16.0 offers the tool, and tells the model that it cannot be used."""
    offered = {tool.full_name for tool in request.offered}
    return ASK if offered & ASKERS.keys() and not request.tool_results else [Text("Well then.")]


async def assert_it_cannot_ask(agent: Agent, place: Path, finds: Finds) -> None:
    async with open_subject(agent, place, ask_if_offered, priority="normal") as subject:
        turn = await subject.avatar.chat("make it")
        assert (turn.outcome, turn.content) == (Outcome.COMPLETED, "Well then.")
        told = [result.text for result in subject.api.main_requests[-1].tool_results]
    assert all("unavailable" in text for text in told)
    assert not subject.recorder.all(QuestionEvent)
    finds(Found.NOT_OFFERED)


@pytest.mark.ability(Ability.QUESTION)
async def test_a_function_answers_the_model_by_an_option_and_in_own_words(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    if agent.name not in ASK_THE_USER:
        await assert_it_cannot_ask(agent, tmp_path, finds)
        return
    answers: list[GivenAnswers] = ["blue", "a mild green"]

    async def choose(event: QuestionEvent) -> GivenAnswers:
        [question] = event.questions
        assert (question.text, question.header) == (QUESTION, "Choice")
        assert [option.label for option in question.options][:2] == ["red", "blue"]
        assert question.options[0].description == "Take red"
        assert (question.takes_text, question.is_multiple) == (True, False)
        return answers.pop(0)

    async with open_subject(agent, tmp_path, SCRIPT, questions=choose) as subject:
        note = await get_ready_to_ask(agent, subject.avatar)
        turn = await subject.avatar.chat("make it")
        assert (turn.outcome, turn.content) == (Outcome.COMPLETED, "Well then.")
        told = [result.text for result in subject.api.main_requests[-1].tool_results]
    assert "blue" in told[0]
    assert "a mild green" in told[1]
    assert [e.is_answered for e in subject.recorder.all(QuestionClosedEvent)] == [True, True]
    finds(Found.DIFFERS if note else Found.WORKS, note)


@pytest.mark.ability(Ability.QUESTION_UNHEARD)
async def test_with_nobody_there_the_model_hears_it_at_once(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    if agent.name not in ASK_THE_USER:
        finds(Found.NOT_OFFERED)  # asserted above
        return
    lay_out(tmp_path)
    # Without the recorder of `open_subject`, which would count as one who could answer.
    with trio.fail_after(PATIENCE), leaving_nothing():
        async with (
            open_model_api([ASK, [Text("Well then.")]]) as api,
            open_avatar(agent.provider, **options_of(agent, api, tmp_path)) as avatar,
            avatar.events(QuestionClosedEvent) as closings,
        ):
            note = await get_ready_to_ask(agent, avatar)
            turn = await avatar.chat("make it")
            assert (turn.outcome, turn.content) == (Outcome.COMPLETED, "Well then.")
            [told] = [result.text for result in api.main_requests[-1].tool_results]
            [closed] = closings.take_nowait()
    assert isinstance(closed, QuestionClosedEvent)
    assert "pass questions=" in closed.why
    assert agent.name != "claude" or "Nobody is there to answer" in told
    assert "red" not in told
    finds(Found.DIFFERS if note else Found.WORKS, note)
