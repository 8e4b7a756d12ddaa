"""What looks like a flag is a value to the real agents too; C1's and C2's files run nothing."""

from functools import partial
from pathlib import Path
from urllib.parse import unquote

import pytest
import trio

from avatar_actors import AvatarOptions, Outcome, SettingsError, open_avatar
from tests.cli.programs import avatar
from tests.model_api.server import open_model_api
from tests.real_agents.subject import PATIENCE, Agent, lay_out, open_subject, options_of

HOOK = (
    '--settings={"hooks":{"SessionEnd":[{"hooks":[{"type":"command","command":"touch PWNED2"}]}]}}'
)
FILE = f"provider: claude\nclaude: {{session: {{resume_id: '{HOOK}'}}}}\n"
RULE = "--yolo\n--settings={}\n'\"$(touch PWNED) `id` 😀 Be a periwinkle lighthouse."
# As a model's name none of it is a flag, and nobody's shell sees it.
MODELS = ("opus --yolo", "a=--yolo", "x'; touch PWNED; '")


@pytest.fixture(autouse=True)
def only_those_with_flags(agent: Agent) -> None:
    """The two agents whose command lines are made of a host's values."""
    if agent.name not in {"claude", "gemini"}:
        pytest.skip("it takes these by its protocol")


def everything(folder: Path) -> list[Path]:
    return list(folder.rglob("*"))


@pytest.mark.parametrize("model", MODELS)
async def test_c2_a_model_that_looks_like_flags_is_asked_for_by_that_name(
    agent: Agent, tmp_path: Path, model: str
) -> None:
    async with open_subject(agent, tmp_path, model=model) as subject:
        await subject.avatar.chat("who are you?")
        asked = {
            unquote(each.model) for each in subject.api.main_requests
        }  # gemini: in the address
    assert asked == {model}
    assert not everything(tmp_path / "work")


async def test_c2_a_system_prompt_of_flags_is_what_the_model_is_told(
    agent: Agent, tmp_path: Path
) -> None:
    async with open_subject(agent, tmp_path, system_prompt=RULE) as subject:
        answer = await subject.avatar.chat("good morning")
        assert answer.outcome is Outcome.COMPLETED, answer.error
        [request] = [each for each in subject.api.main_requests if "good morning" in each.prompt]
        assert RULE in request.system_prompt
    assert not everything(tmp_path / "work")


async def test_c2_a_flag_as_a_session_runs_nothing(agent: Agent, tmp_path: Path) -> None:
    lay_out(tmp_path)
    with trio.fail_after(PATIENCE):
        async with open_model_api() as api:
            wished = options_of(agent, api, tmp_path)
            hostile: AvatarOptions = {**wished, "resume": HOOK}
            with pytest.raises(SettingsError, match="must be a session id"):
                async with open_avatar(agent.provider, **hostile):
                    pass
            env = wished.get("env", {})
            work = tmp_path / "work"
            (work / ".avatar.yaml").write_text(FILE)
            for config in ((), ("-c", ".avatar.yaml")):
                run = partial(avatar, work, "chat", *config, "hello", env=env)
                done = await trio.to_thread.run_sync(run)
                assert done.returncode == 2, done.stderr
    assert not any("PWNED" in path.name for path in everything(tmp_path))
