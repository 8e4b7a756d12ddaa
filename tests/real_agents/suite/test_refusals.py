"""What goes wrong on the other side: the model's API refuses, or nobody has signed in."""

import shutil
from pathlib import Path

import pytest
import trio

from avatar_actors import (
    AgentNeedsLogin,
    AvatarOptions,
    AvatarStartError,
    BridgeResponse,
    Outcome,
    open_avatar,
)
from tests.conformance.remains import leaving_nothing
from tests.model_api.recorded import ModelRequest
from tests.model_api.script import OVERLOADED, Fail, Reply, Text
from tests.model_api.server import ModelApi, open_model_api
from tests.real_agents.ability import Ability, Found
from tests.real_agents.conftest import Finds
from tests.real_agents.subject import (
    PATIENCE,
    Agent,
    RealSubject,
    lay_out,
    open_subject,
    options_of,
)

AT_ONCE = (400, 401)
TRIED_AGAIN = (429, 500, OVERLOADED)
# These try again for minutes, and have no setting against it.
UNTIRING = {"gemini", "opencode", "qwen"}
WORDS = "the tide is out"


def failing(request: ModelRequest) -> Reply:
    """A prompt `fail 500` fails so, as often as it is asked."""
    word, _, status = request.prompt.partition(" ")
    return [Fail(int(status), message=WORDS)] if word == "fail" else [Text("fine")]


async def interrupted_when_tried_again(subject: RealSubject, prompt: str) -> BridgeResponse:
    """The answer to a prompt that the agent goes on asking the model for."""

    def is_again(_: ModelRequest) -> bool:
        return len([each for each in subject.api.main_requests if each.prompt == prompt]) > 1

    async with subject.avatar.turn(prompt) as turn:
        await subject.api.until(is_again)
        await turn.interrupt()
        return await turn.wait()


@pytest.mark.ability(Ability.API_ERROR)
async def test_an_error_of_the_model_ends_the_turn_and_nothing_else(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    errors: dict[int, str] = {}
    is_untiring = agent.name in UNTIRING
    async with open_subject(agent, tmp_path, failing, model=agent.model) as subject:
        for status in (*AT_ONCE, *TRIED_AGAIN):
            prompt = f"fail {status}"
            if is_untiring and status in TRIED_AGAIN:
                cut_off = await interrupted_when_tried_again(subject, prompt)
                assert cut_off.outcome is Outcome.CANCELLED, cut_off
            else:
                failed = await subject.avatar.chat(prompt)
                assert failed.outcome is Outcome.FAILED, failed
                assert failed.error
                errors[status] = failed.error
            assert (await subject.avatar.chat("go on")).content == "fine"
        assert (await subject.avatar.health()).restarts == 0
    rephrased = [str(status) for status, error in errors.items() if WORDS not in error]
    if is_untiring:
        assert not rephrased
        finds(Found.DIFFERS, "429, 500, 529: it tries again and again")
    elif rephrased:
        finds(Found.DIFFERS, f"in its own words: {', '.join(rephrased)}")
    else:
        finds()


# Nobody listens there: what would go to the network does not leave the machine.
NOWHERE = "http://127.0.0.1:9"
HARMLESS = {"HOME", "TMPDIR", "XDG_RUNTIME_DIR", "PATH", "CODEX_HOME", "CLAUDE_CONFIG_DIR"}


def signed_out(agent: Agent, api: ModelApi, place: Path) -> AvatarOptions:
    """The options without a key, an address of a model, or any file of settings."""
    options = options_of(agent, api, place)
    shutil.rmtree(place / "home")
    (place / "home" / ".codex").mkdir(parents=True)
    env = {name: value for name, value in options.get("env", {}).items() if name in HARMLESS}
    env |= dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), NOWHERE)
    args = tuple(word for word in options.get("args", ()) if word != "-c" and "=" not in word)
    return {**options, "env": env, "args": args}


async def first_answer(agent: Agent, place: Path) -> BridgeResponse | AvatarStartError:
    """What comes of a prompt, or of the start."""
    lay_out(place)
    with trio.fail_after(PATIENCE), leaving_nothing():
        async with open_model_api() as api:
            try:
                async with open_avatar(agent.provider, **signed_out(agent, api, place)) as avatar:
                    return await avatar.chat("hello", timeout=60)
            except AvatarStartError as error:
                return error
            finally:
                assert not api.requests


@pytest.mark.ability(Ability.NO_LOGIN)
async def test_without_a_sign_in_it_says_so(agent: Agent, finds: Finds, tmp_path: Path) -> None:
    answer = await first_answer(agent, tmp_path)
    if isinstance(answer, AgentNeedsLogin):
        assert answer.advice
        finds()
    elif isinstance(answer, AvatarStartError):
        # opencode 1.18.33 has no word for it.
        assert answer.message
        finds(Found.DIFFERS, "its start is refused, but not for that")
    else:
        assert (answer.outcome, answer.content) == (Outcome.FAILED, "")
        assert answer.needs_login, answer
        finds(Found.DIFFERS, "told with the first prompt")
