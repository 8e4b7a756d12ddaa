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
from tests.real_agents.stage import Player, RealStage, on_stage, options_of
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


async def tell(player: Player, place: Path, prompt: str) -> str:
    """A life in which this was said; the session's id."""
    async with on_stage(player, place) as stage:
        answer = await stage.avatar.chat(prompt)
        assert answer.outcome is Outcome.COMPLETED, answer.error
        return answer.session_id


def stored(player: Player, api: ModelApi, place: Path) -> list[str]:
    """The ids that are found without the agent."""
    env = options_of(player, api, place).get("env", {})
    return [
        each.session_id for each in list_sessions(player.provider, place / "work", env).sessions
    ]


def last_said(player: Player, api: ModelApi, place: Path) -> list[str]:
    """What the store has of the last session."""
    env = options_of(player, api, place).get("env", {})
    last, *_ = list_sessions(player.provider, place / "work", env).sessions
    return [each.text for each in read_session(player.provider, last).messages]


@pytest.mark.ability(Ability.SESSIONS)
async def test_the_sessions_of_the_directory_are_listed_the_last_first(
    player: Player, finds: Finds, tmp_path: Path
) -> None:
    first = await tell(player, tmp_path, "about periwinkles")
    second = await tell(player, tmp_path, "about lighthouses")
    async with on_stage(player, tmp_path) as stage:
        listed = await stage.avatar.sessions()
        own = (await stage.avatar.health()).session_id
        is_told = (await stage.avatar.capabilities()).can_list_sessions
        found = stored(player, stage.api, tmp_path)
        said = last_said(player, stage.api, tmp_path) if found else []
    sessions = [each for each in listed if each.session_id != own]
    assert [each.session_id for each in sessions] == [second, first]
    assert {each.working_dir for each in sessions} == {str(stage.work)}
    assert all(each.title and each.updated_at for each in sessions)
    # An agent whose provider knows its store is not needed for it.
    assert found == ([] if player.provider == "acp" else [second, first])
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
    player: Player, finds: Finds, tmp_path: Path
) -> None:
    async with on_stage(player, tmp_path, continue_last=True) as stage:
        health = await stage.avatar.health()
        assert health.continuity is Continuity.FRESH
        assert "no earlier session" in health.continuity_why
    await early_in_a_minute(player)
    last = await tell_secret(player, tmp_path)
    put_back_older(chats(tmp_path / "home"))
    async with on_stage(player, tmp_path, continue_last=True) as stage:
        health = await stage.avatar.health()
        assert (health.session_id, health.continuity) == (last, Continuity.RESUMED)
        assert (await stage.avatar.capabilities()).can_continue_last
        assert await remembers(stage)
    finds()


async def remembers_only(stage: RealStage, prompt: str, said: str, unsaid: str) -> None:
    request = await asked(stage, prompt)
    assert any(said in text for text in request.user_texts)
    assert not any(unsaid in text for text in request.user_texts)


@pytest.mark.ability(Ability.FORK)
async def test_a_fork_remembers_and_leaves_the_original_alone(
    player: Player, finds: Finds, tmp_path: Path
) -> None:
    async with on_stage(player, tmp_path) as stage:
        original = (await stage.avatar.chat("about periwinkles")).session_id
        if not (await stage.avatar.capabilities()).can_fork_session:
            with pytest.raises(Unsupported, match="cannot fork"):
                await stage.avatar.fork()
            await remembers_only(stage, "go on", "about periwinkles", "in the fork")
            finds(Found.NOT_OFFERED)
            return
        fork = await stage.avatar.fork()
        assert fork not in {"", original}
        assert (await stage.avatar.health()).continuity is Continuity.RESUMED
        await remembers_only(stage, "this is in the fork", "about periwinkles", "original")
        assert (await stage.avatar.health()).session_id == fork
        await stage.avatar.resume(original)
        await remembers_only(stage, "in the original", "about periwinkles", "in the fork")
        await stage.avatar.resume(fork)
        await remembers_only(stage, "again", "in the fork", "in the original")
    finds()


@pytest.mark.ability(Ability.SWITCH_MODEL)
async def test_the_model_is_switched_and_stays_after_kill_9(
    player: Player, finds: Finds, tmp_path: Path
) -> None:
    on_the_wire = player.model_on_the_wire or player.model
    async with on_stage(player, tmp_path) as stage:
        assert len(await stage.avatar.models()) > 1
        assert on_the_wire not in (await asked(stage, "before")).model
        await stage.avatar.set_model(player.model)
        await stage.witness.until(SessionInfoEvent, lambda event: event.model)
        assert on_the_wire in (await asked(stage, "afterwards")).model
        pid = (await stage.avatar.health()).pid
        assert pid is not None
        await kill(pid)
        await stage.witness.until_state(BridgeState.ERROR)
        assert on_the_wire in (await asked(stage, "in the next life")).model
        try:
            await stage.avatar.set_model(NO_MODEL)
        except Unsupported:
            assert on_the_wire in (await asked(stage, "still")).model
            finds()
            return
        # It is asked for as it was written: whoever listens there has to know it.
        assert NO_MODEL in (await asked(stage, "as you like")).model
    finds(note="takes any name")
