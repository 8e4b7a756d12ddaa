"""The model and the mode of a living agent are switched, and its next lives begin with them."""

import msgspec
import pytest

from avatar_actors import (
    Avatar,
    DiagnosticEvent,
    Level,
    Provider,
    SessionInfoEvent,
    SettingsError,
    Unsupported,
)
from avatar_actors.providers.embedded import embedded_provider
from tests.runtime.home import Home, script, until

MODELS = [("acp", "none-at-all"), ("claude", "two")]
MODES = [("acp", "auto"), ("claude", "acceptEdits")]


async def state_of(aria: Avatar) -> dict[str, str]:
    """The model and the mode as the agent has them."""
    answer = [await aria.chat(script({"echo": what})) for what in ("model", "mode")]
    return {"model": answer[0].content, "mode": answer[1].content}


@pytest.mark.parametrize(("agent", "model"), MODELS)
async def test_a_switched_model_is_told_and_survives_a_crash(
    home: Home, agent: str, model: str
) -> None:
    async with (
        home.avatar(agent=agent) as aria,
        aria.events(SessionInfoEvent) as news,
    ):
        assert (await state_of(aria))["model"] != model
        await aria.set_model(model)
        await until(news, SessionInfoEvent, lambda event: event.model == model)
        assert (await state_of(aria))["model"] == model
        await home.kill_when_ready(aria)
        assert (await state_of(aria))["model"] == model


@pytest.mark.parametrize(("agent", "mode"), MODES)
async def test_a_switched_mode_is_told_and_survives_a_crash(
    home: Home, agent: str, mode: str
) -> None:
    async with (
        home.avatar(agent=agent) as aria,
        aria.events(SessionInfoEvent) as news,
    ):
        assert (await state_of(aria))["mode"] != mode
        await aria.set_mode(mode)
        await until(news, SessionInfoEvent, lambda event: event.mode == mode)
        await home.kill_when_ready(aria)
        assert (await state_of(aria))["mode"] == mode


async def test_a_model_and_a_mode_are_kept_together(home: Home) -> None:
    async with home.avatar(model="none", mode="ask") as aria:
        await aria.set_model("none-at-all")
        await aria.set_mode("auto")
        await home.kill_when_ready(aria)
        state = await state_of(aria)
        assert (state["model"], state["mode"]) == ("none-at-all", "auto")


async def test_what_is_not_offered_is_refused_with_what_is(home: Home) -> None:
    async with home.avatar() as aria:
        offered = [each.choice_id for each in await aria.models()]
        assert offered == ["none", "none-at-all"]
        with pytest.raises(Unsupported, match="did you mean 'none-at-all'"):
            await aria.set_model("none-at-al")
        with pytest.raises(Unsupported, match="offered: ask, auto"):
            await aria.set_mode("bold")
        with pytest.raises(SettingsError, match="name the model"):
            await aria.set_model("")
        await home.kill_when_ready(aria)
        state = await state_of(aria)
        assert (state["model"], state["mode"]) == ("none", "ask")


async def test_headless_gemini_switches_nothing_and_says_so(home: Home) -> None:
    async with home.avatar(agent="gemini-headless") as aria:
        assert await aria.models() == ()
        with pytest.raises(Unsupported, match="cannot do that in this mode"):
            await aria.set_model("gemini-2.5-pro")


def modern(least: str) -> Provider:
    return msgspec.structs.replace(embedded_provider(), minimum={"avatar-embedded": least})


async def test_an_agent_that_is_too_old_is_warned_of_at_each_start(home: Home) -> None:
    async with home.runtime() as runtime:
        aria = await runtime.start(modern("9.9"), **home.options())
        async with aria.events(DiagnosticEvent) as remarks:
            await home.kill(aria)
            warning = await until(remarks, DiagnosticEvent, lambda event: "older" in event.message)
    assert warning.level is Level.WARNING
    assert "avatar-embedded" in warning.message
    assert "9.9, the oldest that is supported" in warning.message


async def test_an_agent_that_is_new_enough_is_not_warned_of(home: Home) -> None:
    async with home.runtime() as runtime:
        aria = await runtime.start(modern("0.1"), **home.options())
        async with aria.events(DiagnosticEvent) as remarks:
            await home.kill_when_ready(aria)
            await aria.chat("2+2")
            await aria.stop()
            assert not [event async for event in remarks if "older" in str(event)]
