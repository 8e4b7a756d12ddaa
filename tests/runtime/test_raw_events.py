"""The messages of an agent as it wrote them, for a prompt that asks for them."""

import pytest

from avatar_actors import Outcome, SettingsError
from avatar_actors.session.running_turns import MOST_RAW
from tests.runtime.home import Home, script


@pytest.mark.parametrize("agent", ["acp", "claude"])
async def test_a_prompt_that_asks_for_them_has_the_messages_of_its_own_turn(
    home: Home, agent: str
) -> None:
    secret = "tok-5ab1e9c2d7f0"
    async with home.avatar(agent=agent, env={"MY_API_KEY": secret}) as aria:
        assert (await aria.chat(script({"say": "before"}))).raw_events == ()
        said = await aria.chat(script({"say": f"it is {secret}"}), raw_events=True)
        told = str(said.raw_events)
        assert "it is " in told
        assert "before" not in told
        assert secret not in told
        assert all(isinstance(each, dict) for each in said.raw_events)
        crashed = await aria.chat(script({"say": "last words"}, {"kill": 9}), raw_events=True)
        assert crashed.outcome is Outcome.CRASHED
        assert "last words" in str(crashed.raw_events)


async def test_they_are_bounded_and_what_is_no_message_is_text(home: Home) -> None:
    async with home.avatar() as aria:
        flood = {"flood": 3000, "text": "x" * 1000}
        long = await aria.chat(script({"raw": "no message\n"}, flood), raw_events=True)
        assert long.success
        assert {"text": "no message"} in long.raw_events
        assert MOST_RAW // 2 < len(str(long.raw_events)) < MOST_RAW * 2


async def test_anything_but_a_truth_value_is_refused_at_the_call(home: Home) -> None:
    async with home.avatar() as aria:
        with pytest.raises(SettingsError, match="raw_events must be True or False; got 'yes'"):
            await aria.chat("hello", raw_events="yes")  # type: ignore[arg-type]
