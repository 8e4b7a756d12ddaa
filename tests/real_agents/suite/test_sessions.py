"""Stored sessions of the real agents: listed, the last one continued, forked; and their models."""

from pathlib import Path

import pytest

from avatar_actors import (
    BridgeState,
    Continuity,
    Outcome,
    SessionInfoEvent,
    Unsupported,
    list_sessions,
    read_session,
)
from tests.model_api.server import ModelApi
from tests.real_agents.ability import Ability, Found
from tests.real_agents.conftest import Finds
from tests.real_agents.subject import Agent, RealSubject, open_subject, options_of
from tests.real_agents.suite.test_lives import (
    chats,
    early_in_a_minute,
    kill,
    put_back_older,
    remembers,
    tell_secret,
)
from tests.real_agents.suite.test_setting_up import asked

NO_MODEL = "no-such-model-anywhere"


async def tell(agent: Agent, place: Path, prompt: str) -> str:
    """A life in which this was said; the session's id."""
    async with open_subject(agent, place) as subject:
        answer = await subject.avatar.chat(prompt)
        assert answer.outcome is Outcome.COMPLETED, answer.error
        return answer.session_id


def stored(agent: Agent, api: ModelApi, place: Path) -> list[str]:
    """The ids that are found without the agent."""
    env = options_of(agent, api, place).get("env", {})
    return [each.session_id for each in list_sessions(agent.provider, place / "work", env).sessions]


def last_said(agent: Agent, api: ModelApi, place: Path) -> list[str]:
    """What the store has of the last session."""
    env = options_of(agent, api, place).get("env", {})
    last, *_ = list_sessions(agent.provider, place / "work", env).sessions
    return [each.text for each in read_session(agent.provider, last).messages]


@pytest.mark.ability(Ability.SESSIONS)
async def test_the_sessions_of_the_directory_are_listed_the_last_first(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    first = await tell(agent, tmp_path, "about periwinkles")
    second = await tell(agent, tmp_path, "about lighthouses")
    async with open_subject(agent, tmp_path) as subject:
        listed = await subject.avatar.sessions()
        own = (await subject.avatar.health()).session_id
        is_told = (await subject.avatar.capabilities()).can_list_sessions
        found = stored(agent, subject.api, tmp_path)
        said = last_said(agent, subject.api, tmp_path) if found else []
    sessions = [each for each in listed if each.session_id != own]
    assert [each.session_id for each in sessions] == [second, first]
    assert {each.working_dir for each in sessions} == {str(subject.work)}
    assert all(each.title and each.updated_at for each in sessions)
    # An agent whose provider knows its store is not needed for it.
    assert found == ([] if agent.provider == "acp" else [second, first])
    assert not found or said == ["about lighthouses", "echo: about lighthouses"]
    if listed != tuple(sessions):
        finds(Found.DIFFERS, "also the present one, before anything was said in it")
    elif is_told:
        finds()
    else:
        assert found
        finds(note="from its store: its protocol has no list")


@pytest.mark.ability(Ability.CONTINUE)
async def test_a_start_continues_the_last_session(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    async with open_subject(agent, tmp_path, continue_last=True) as subject:
        health = await subject.avatar.health()
        assert health.continuity is Continuity.FRESH
        assert "no earlier session" in health.continuity_why
    await early_in_a_minute(agent)
    last = await tell_secret(agent, tmp_path)
    put_back_older(chats(tmp_path / "home"))
    async with open_subject(agent, tmp_path, continue_last=True) as subject:
        health = await subject.avatar.health()
        assert (health.session_id, health.continuity) == (last, Continuity.RESUMED)
        assert (await subject.avatar.capabilities()).can_continue_last
        assert await remembers(subject)
    finds()


async def remembers_only(subject: RealSubject, prompt: str, said: str, unsaid: str) -> None:
    request = await asked(subject, prompt)
    assert any(said in text for text in request.user_texts)
    assert not any(unsaid in text for text in request.user_texts)


@pytest.mark.ability(Ability.FORK)
async def test_a_fork_remembers_and_leaves_the_original_alone(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    async with open_subject(agent, tmp_path) as subject:
        original = (await subject.avatar.chat("about periwinkles")).session_id
        if not (await subject.avatar.capabilities()).can_fork_session:
            with pytest.raises(Unsupported, match="cannot fork"):
                await subject.avatar.fork()
            await remembers_only(subject, "go on", "about periwinkles", "in the fork")
            finds(Found.NOT_OFFERED)
            return
        fork = await subject.avatar.fork()
        assert fork not in {"", original}
        assert (await subject.avatar.health()).continuity is Continuity.RESUMED
        await remembers_only(subject, "this is in the fork", "about periwinkles", "original")
        assert (await subject.avatar.health()).session_id == fork
        await subject.avatar.resume(original)
        await remembers_only(subject, "in the original", "about periwinkles", "in the fork")
        await subject.avatar.resume(fork)
        await remembers_only(subject, "again", "in the fork", "in the original")
    finds()


@pytest.mark.ability(Ability.SWITCH_MODEL)
async def test_the_model_is_switched_and_stays_after_kill_9(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    on_the_wire = agent.model_on_the_wire or agent.model
    async with open_subject(agent, tmp_path) as subject:
        assert len(await subject.avatar.models()) > 1
        assert on_the_wire not in (await asked(subject, "before")).model
        await subject.avatar.set_model(agent.model)
        await subject.recorder.until(SessionInfoEvent, lambda event: event.model)
        assert on_the_wire in (await asked(subject, "afterwards")).model
        pid = (await subject.avatar.health()).pid
        assert pid is not None
        await kill(pid)
        await subject.recorder.until_state(BridgeState.ERROR)
        assert on_the_wire in (await asked(subject, "in the next life")).model
        try:
            await subject.avatar.set_model(NO_MODEL)
        except Unsupported:
            assert on_the_wire in (await asked(subject, "still")).model
            finds()
            return
        # It is asked for as it was written: whoever listens there has to know it.
        assert NO_MODEL in (await asked(subject, "as you like")).model
    finds(note="takes any name")
